"""The result record of a conversation: the format in which predictions are stored."""
