"""Turning scores into something to look at, in a terminal."""
