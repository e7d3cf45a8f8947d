"""Played people: persons whose state is decided before any text, and language models for their voices."""
