"""Files of conversations: read record by record, kept as a set, and written."""
