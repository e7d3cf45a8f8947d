"""The one place that states the version: of the distribution and of everything it writes."""

__version__ = "0.1.0"

SCORING_VERSION = "v0"
"""Bumped with every change that can move a score; the changelog says so."""
