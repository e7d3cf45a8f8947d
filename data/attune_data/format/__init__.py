"""The benchmark's format: the schema of a conversation, its fields, the codebook, the checks of a record."""
