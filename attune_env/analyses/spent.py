"""What a result took: its dollars, calls, tokens and time, as its file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from attune_data.finite import finite
from attune_env.results.marks import mapping, marks_of

SPENT: Final = ("cost", "calls", "tokens_in", "tokens_out", "seconds")
"""What is looked for, in the order in which `spent` gives it."""


def spent(record: Mapping[str, Any]) -> list[float]:
    """The facts `SPENT` of a result record; NaN where one is not known (no dollars: no prices were known)."""
    usage = mapping(marks_of(record).get("usage"))
    cost = _number(record.get("api_cost")) or _number(usage.get("api_cost"))
    seconds = _number(record.get("duration_seconds")) if usage else 0.0
    counts = (_number(usage.get(name)) for name in ("calls", "tokens_in", "tokens_out"))
    return [one or np.nan for one in (cost, *counts, seconds)]


def _number(value: object) -> float:
    return max(finite(value) or 0.0, 0.0)
