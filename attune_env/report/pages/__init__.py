"""Pages to open in a browser: the report, and one page per conversation."""
