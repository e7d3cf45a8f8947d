"""Win rates: how often one model follows the participant's preferences better than another.

A beats B on a conversation where the Kendall τ of A's ranking to the HP's is higher (AttuneBench v1.0,
pairwise win-rate matrix). A win rate is the share of conversations won, ties counted ½.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np

from attune_env.statistics.bootstrap import LEVEL, Array, Bootstrap, Interval

METRIC: Final = "avg_pairwise_kendall_tau"
"""The score that decides: a conversation's mean τ over its turns."""
TIED: Final = 1e-9
"""Values this close are equal: only rounding differs."""


def outcomes(first: Array, second: Array) -> Array:
    """1 where first is higher, 0 where second is, ½ where they tie, NaN where either is undefined."""
    difference = first - second
    won = (np.sign(np.where(np.abs(difference) <= TIED, 0.0, difference)) + 1) / 2
    return np.where(np.isnan(difference), np.nan, won)


def win_rates(kernel: Bootstrap, values: Array, level: float = LEVEL) -> list[list[Interval | None]]:
    """Win rate of each column (row of the answer) over each other, with its bootstrap interval.

    Args:
        kernel: the resamples.
        values: (rows, models), such as `METRIC`; NaN = undefined.
        level: of the intervals.

    Returns one list a model; None against itself. Rate and interval of B over A mirror those of A over B
    (1 - x). n = conversations where both are defined; without any the rate is undefined.
    """
    models = values.shape[1]
    pairs = list(combinations(range(models), 2))
    table: list[list[Interval | None]] = [[None] * models for _ in range(models)]
    if not pairs:
        return table
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = kernel.intervals(outcomes(values[:, first], values[:, second]), level)
    for (a, b), rate in zip(pairs, found, strict=True):
        table[a][b], table[b][a] = rate, mirrored(rate)
    return table


def mirrored(rate: Interval) -> Interval:
    """The same share seen from the other side: 1 - x."""
    if rate.mean is None or rate.low is None or rate.high is None:
        return rate
    return Interval(1 - rate.mean, 1 - rate.high, 1 - rate.low, rate.n, rate.units)
