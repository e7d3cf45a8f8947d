"""Which models are separated: paired differences with intervals, and Holm-corrected tests beside them.

Two counts are given because the paper's exact rule is unknown. Its figure shows 95 % bootstrap intervals and
says how many of the 55 pairs are separated; taken to mean "the paired 95 % interval of the difference
excludes 0", without any correction. Beside it: sign-flip tests of the same differences, corrected over the
pairs of a metric (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from attune_env.statistics.bootstrap import BLOCK, RESAMPLES, Array, Bootstrap, Interval, known, percentiles
from attune_env.statistics.sign_flip import SignPatterns

ALPHA: Final = 0.05
"""Family-wise error rate of the corrected tests: 1 - the level of the intervals."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two columns (models) on the rows that both have."""

    first: int
    second: int
    difference: Interval
    """Mean of first - second, in the metric's unit; n = shared rows."""
    p: float | None
    """p of the sign-flip test, two-sided, uncorrected; None if no row is shared."""
    p_holm: float | None
    """Corrected over the pairs of this metric."""

    @property
    def separated(self) -> bool:
        """Whether the interval excludes 0; never if it is not meaningful."""
        return self.difference.leaves_out_zero

    @property
    def separated_holm(self) -> bool:
        """Whether the corrected test rejects at 5 %."""
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
    """Every pair of columns of one metric; `values` has shape (rows, models). See `compare_metrics`."""
    return compare_metrics(kernel, values[:, :, None], draws=draws, seed=seed)[0]


def compare_metrics(
    kernel: Bootstrap, values: Array, *, draws: int = RESAMPLES, seed: int = 0
) -> list[tuple[Comparison, ...]]:
    """Every pair of models on every metric, on the rows that both have.

    Args:
        kernel: its resamples are shared by all, so differences are paired; its units are what is flipped.
        values: (rows, models, metrics); NaN = undefined.
        draws: sign patterns, see `sign_flip`.
        seed: seed of the sign patterns.

    Returns the pairs (first < second) of each metric. A pair without a shared defined row has an undefined
    difference and no p.
    """
    models, metrics = values.shape[1:]
    if models < 2:
        return [() for _ in range(metrics)]
    patterns = SignPatterns(kernel, draws=draws, seed=seed)
    step = max(BLOCK // models, 1)
    blocks = (values[:, :, start : start + step] for start in range(0, metrics, step))
    return [found for block in blocks for found in _compared(kernel, patterns, block.transpose(0, 2, 1))]


def _compared(kernel: Bootstrap, patterns: SignPatterns, values: Array) -> Iterator[tuple[Comparison, ...]]:
    """The pairs of each metric; `values` has shape (rows, metrics, models).

    One matrix product for all: where two models are defined in the same rows, the resampled means and signed
    sums of their differences are the differences of theirs. Values are centred, so that little is lost in
    taking them.
    """
    rows, metrics, models = values.shape
    first, second = np.array(list(combinations(range(models), 2)), dtype=np.intp).T
    missing = np.isnan(values)
    middle = np.nansum(values, axis=(0, 2)) / np.maximum((~missing).sum(axis=(0, 2)), 1)
    columns = (values - middle[:, None]).reshape(rows, -1)
    model_means, model_sums = (
        found.reshape(metrics, models, -1) for found in (kernel.means(columns), patterns.sums(columns))
    )
    for metric in range(metrics):
        differences = values[:, metric, first] - values[:, metric, second]
        means = model_means[metric, first] - model_means[metric, second]
        signed = model_sums[metric, first] - model_sums[metric, second]
        apart = (missing[:, metric, first] != missing[:, metric, second]).any(axis=0)
        if apart.any():  # some row is only one model's: what the models have says nothing of shared rows
            means[apart] = kernel.means(differences[:, apart])
            signed[apart] = patterns.sums(differences[:, apart])
        intervals = kernel.with_bounds(differences, percentiles(means))
        p = patterns.p(signed, differences)
        yield tuple(
            Comparison(int(one), int(other), interval, known(raw), known(corrected))
            for one, other, interval, raw, corrected in zip(first, second, intervals, p, holm(p), strict=True)
        )
