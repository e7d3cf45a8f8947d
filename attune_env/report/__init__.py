"""The report: analyses of scores and single answers, their figures, and the pages that show them."""
