"""Which models are separated: paired differences with intervals, and Holm-corrected tests.

Two counts are given because the paper's exact rule is unknown. Its figure shows 95% bootstrap intervals and
says how many of the 55 pairs are separated. We take this to mean that "the paired 95% interval of the
difference excludes 0", without any correction. The second count is from sign-flip tests of the same
differences, corrected over the pairs of a metric (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from attune_env.statistics.sign_flip import sign_flip
from attune_rewards.bootstrap import RESAMPLES, Array, Bootstrap, Interval, known

ALPHA: Final = 0.05
"""Family-wise error rate of the corrected tests: 1 - the level of the intervals."""
TESTABLE: Final = 6
"""Units from which a sign-flip test can reject: if all n differ in one direction, p is 2 / 2ⁿ."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two columns (models) on the rows that both have."""

    first: int
    second: int
    difference: Interval
    """Mean of first - second, in the metric's unit; n is the number of shared rows."""
    p: float | None
    """Two-sided, uncorrected p of the sign-flip test; None if no row is shared."""
    p_holm: float | None
    """The p corrected over the pairs of this metric."""

    @property
    def separated(self) -> bool:
        """Whether the interval excludes 0; never if it is not meaningful."""
        return self.difference.leaves_out_zero

    @property
    def separated_holm(self) -> bool:
        """Whether the corrected test rejects at 5%."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, slots=True)
class Separation:
    """How many pairs of one metric are separated."""

    pairs: int
    """Pairs that share a defined row."""
    by_interval: int
    by_holm: int


def separation(comparisons: Sequence[Comparison]) -> Separation:
    """How many of the pairs that can be compared are separated, by both rules."""
    pairs = sum(one.difference.n > 0 for one in comparisons)
    by_interval = sum(one.separated for one in comparisons)
    return Separation(pairs, by_interval, sum(one.separated_holm for one in comparisons))


def holm(p: Array) -> Array:
    """Holm's step-down correction; NaN stays NaN and is not counted.

    With the m values sorted, p(1) ≤ … ≤ p(m): corrected p(k) = max over j ≤ k of min(1, (m - j + 1) p(j)).
    """
    corrected = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(factors * p[order], 1.0))
    return corrected


def compare(
    kernel: Bootstrap, values: Array, *, draws: int = RESAMPLES, seed: int = 0
) -> tuple[Comparison, ...]:
    """Every pair of models (first < second) on one metric, on the rows that both have.

    Args:
        kernel: its resamples are shared by all models, so differences are paired; its units are flipped.
        values: (rows, models); NaN = undefined.
        draws: the number of sign patterns, see `sign_flip`.
        seed: the seed of the sign patterns.

    A pair without a shared defined row has an undefined difference and no p.
    """
    pairs = np.array(list(combinations(range(values.shape[1]), 2)), dtype=np.intp).reshape(-1, 2)
    differences = values[:, pairs[:, 0]] - values[:, pairs[:, 1]]
    p = sign_flip(kernel, differences, draws=draws, seed=seed)
    return tuple(
        Comparison(int(one), int(other), interval, known(raw), known(corrected))
        for (one, other), interval, raw, corrected in zip(
            pairs, kernel.intervals(differences), p, holm(p), strict=True
        )
    )
