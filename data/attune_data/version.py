"""The versions: of the distribution, as pyproject.toml has it, and of the scoring."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    """The version of the distribution that these packages came with."""
    try:
        return version("attune-env")
    except PackageNotFoundError:
        return version("attune-core")  # the lower floors by themselves: packaging/core


__version__ = _installed()

SCORING_VERSION = "v0"
"""Bumped with every change that can move a score; the changelog says so."""
