"""Mean and variance of the defined values, the same to the last bit on every interpreter.

Sums of floats are exact (`math.fsum`) here and wherever else they reach a result: Python 3.12 adds up
otherwise than 3.11.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None without any."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def variance(values: Sequence[float]) -> float:
    """Sample variance (n - 1 degrees of freedom) of two values or more."""
    center = math.fsum(values) / len(values)
    return math.fsum((value - center) ** 2 for value in values) / (len(values) - 1)
