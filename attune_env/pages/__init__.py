"""Pages to open in a browser: the report, and one page a conversation."""
