"""The versions of the distribution (as in pyproject.toml) and of the scoring."""

from importlib.metadata import PackageNotFoundError, version
from typing import Final

DISTRIBUTIONS: Final = ("attune-env", "openenv-attune-env")
"""Names under which the packages are installed: by themselves, and with OpenEnv's server."""


def _installed() -> str:
    for name in DISTRIBUTIONS[:-1]:
        try:
            return version(name)
        except PackageNotFoundError:
            pass
    return version(DISTRIBUTIONS[-1])


__version__ = _installed()

SCORING_VERSION = "v1"
"""Raised with every change that can alter a score; the changelog says when."""
