"""Win rates: how often one model follows the participant's preferences better than another.

A beats B on a conversation if the Kendall τ of A's ranking to the participant's is higher (AttuneBench
v1.0, pairwise win-rate matrix). A win rate is the share of conversations won, ties counted ½.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np

from attune_rewards.bootstrap import ROUNDING, Array, Bootstrap, Interval

METRIC: Final = "avg_pairwise_kendall_tau"
"""The score that is compared: a conversation's mean τ over its turns."""


def win_rates(kernel: Bootstrap, values: Array) -> list[list[Interval | None]]:
    """Win rate of each column (a row of the result) over each other one, with its bootstrap interval.

    `values` has shape (rows, models), such as `METRIC`; NaN = undefined. Returns one list per model; None
    against itself. Rate and interval of B over A mirror those of A over B (1 - x). n = conversations if
    both are defined; without any the rate is undefined.
    """
    models = values.shape[1]
    table: list[list[Interval | None]] = [[None] * models for _ in range(models)]
    pairs = list(combinations(range(models), 2))
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    differences = values[:, first] - values[:, second]
    won = (np.sign(np.where(np.abs(differences) <= ROUNDING, 0.0, differences)) + 1) / 2
    for (a, b), rate in zip(pairs, kernel.intervals(won), strict=True):
        table[a][b] = table[b][a] = rate
        if rate.mean is not None and rate.low is not None and rate.high is not None:
            table[b][a] = Interval(1 - rate.mean, 1 - rate.high, 1 - rate.low, rate.n, rate.units)
    return table
