"""Analyses of single answers: feelings, yes/no questions, comparisons, affect items, branch scores."""
