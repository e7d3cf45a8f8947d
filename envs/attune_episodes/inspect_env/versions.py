"""Which versions of Inspect this was tested with, and what is said where another one is installed."""

from __future__ import annotations

from typing import Final

from attune_data.extras import warn_if_untested

OLDEST: Final = "0.3.258"
BELOW: Final = "0.3.259"
"""The extra's bounds: from `OLDEST` on, and below this."""


def check_version() -> None:
    """Warns (UntestedVersionWarning) where Inspect's version is none that this was tested with."""
    warn_if_untested("inspect-ai", OLDEST, BELOW)
