"""`attune study`: people talk with a model and annotate their own conversation, in the benchmark's format."""
