"""Turning scores into something to look at: terminal tables for now."""
