"""Mean and variance of the defined values, bit for bit the same on every interpreter.

Sums of floats that reach a result use `math.fsum`, here and elsewhere, because `sum` differs between Python
3.11 and 3.12.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None if there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def variance(values: Sequence[float]) -> float:
    """Sample variance (n - 1 degrees of freedom) of two or more values."""
    center = math.fsum(values) / len(values)
    return math.fsum((value - center) ** 2 for value in values) / (len(values) - 1)


def finite(value: object) -> float | None:
    """The number as a float; None for NaN, for other types, and beyond the range of floats."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None  # comparing an int never overflows
