"""Fits and measures the reader `fitted`."""
