"""The versions of the distribution (as in pyproject.toml) and of the scoring."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("attune-env")
except PackageNotFoundError:
    __version__ = version("attune-core")  # the lower floors by themselves: packaging/core

SCORING_VERSION = "v0"
"""Bumped with every change that can move a score; the changelog says so."""
