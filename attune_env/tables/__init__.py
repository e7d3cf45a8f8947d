"""Tables: their cells, how a terminal, a page, Markdown and CSV show them, and the names in them."""
