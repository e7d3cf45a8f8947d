"""Numbers from files, as floats where a float can hold them."""

from __future__ import annotations

import sys


def finite(value: object) -> float | None:
    """The number as a float; None for what is no number, NaN, and what is beyond the range of floats."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None  # comparing an int never overflows
