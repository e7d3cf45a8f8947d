"""Scores as tables in a terminal."""
