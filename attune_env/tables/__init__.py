"""Tables: built once, shown in a terminal, as Markdown or HTML; the names and groups of what they show."""
