"""Numbers as floats; mean and variance of the defined ones, the same to the last bit on every interpreter.

Sums of floats are exact (`math.fsum`) here and wherever else they reach a result: Python 3.12 sums
differently from 3.11.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None without any."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def variance(values: Sequence[float]) -> float:
    """Sample variance (n - 1 degrees of freedom) of two values or more."""
    center = math.fsum(values) / len(values)
    return math.fsum((value - center) ** 2 for value in values) / (len(values) - 1)


def finite(value: object) -> float | None:
    """The number as a float; None for NaN, for other types, and beyond the range of floats."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None  # comparing an int never overflows
