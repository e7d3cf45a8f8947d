"""The versions of the distribution (as in pyproject.toml) and of the scoring."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("attune-env")
except PackageNotFoundError:
    __version__ = version("attune-core")  # only the lower layers are installed: packaging/core

SCORING_VERSION = "v1"
"""Raised with every change that can alter a score; the changelog says when."""
