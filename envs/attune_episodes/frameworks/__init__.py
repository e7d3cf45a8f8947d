"""Adapters, one per framework: each translates, and computes nothing of its own."""
