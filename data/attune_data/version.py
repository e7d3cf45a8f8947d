"""The versions: of the distribution, as pyproject.toml has it, and of the scoring."""

from importlib.metadata import version

__version__ = version("attune-env")

SCORING_VERSION = "v0"
"""Bumped with every change that can move a score; the changelog says so."""
