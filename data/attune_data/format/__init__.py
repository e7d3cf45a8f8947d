"""The format of a conversation: schema, fields, codebook, and the checks."""
