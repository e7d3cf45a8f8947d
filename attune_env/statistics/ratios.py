"""Intervals of ratios of sums: right answers over answers, errors over pairs, drawn by conversation.

A mean over items is a ratio whose denominator differs from conversation to conversation, so both sums are
drawn together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from attune_env.statistics.bootstrap import BLOCK, LEVEL, Bootstrap, Interval, percentiles


def ratio_intervals(
    kernel: Bootstrap, numerators: npt.ArrayLike, denominators: npt.ArrayLike, level: float = LEVEL
) -> list[Interval]:
    """One interval a column of Σ numerator / Σ denominator, the sums over conversations.

    Args:
        kernel: whose rows the arrays have.
        numerators: (rows, columns); what a conversation adds to the upper sum.
        denominators: the same shape, at least 0; its total is the interval's n.
        level: how much of the resamples an interval holds.

    A resample whose lower sum is 0 takes no part; a column whose lower sum is 0 is undefined.
    """
    above, below = kernel.unit_sums(numerators), kernel.unit_sums(denominators)
    found: list[Interval] = []
    for start in range(0, above.shape[1], BLOCK):
        upper, lower = above[:, start : start + BLOCK], below[:, start : start + BLOCK]
        counted = kernel.totals(lower)
        ratios = np.full_like(counted, np.nan)
        np.divide(kernel.totals(upper), counted, out=ratios, where=counted > 0)
        totals, n, units = upper.sum(axis=0), lower.sum(axis=0), (lower > 0).sum(axis=0)
        found += [
            Interval(float(totals[i] / n[i]), float(low), float(high), round(n[i]), int(units[i]))
            if n[i]
            else Interval(None, None, None, 0, 0)
            for i, (low, high) in enumerate(percentiles(ratios, level).T)
        ]
    return found
