"""The paper's bootstrap: 95% percentile intervals over resampled conversations (or participants).

One multinomial weight matrix serves all models and metrics, so a resample is a matrix product, and
differences between columns are automatically paired. Source: AttuneBench v1.0, 10,000 resamples.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

RESAMPLES: Final = 10_000
LEVEL: Final = 0.95
AT_A_TIME: Final = 4_000_000
PRODUCT: Final = 262_144
"""Most multiplications in one matrix product; up to this number, OpenBLAS uses one thread."""
COLUMNS: Final = 32
BLOCK: Final = 256
"""Number of columns whose resampled means are in memory at a time."""
ROUNDING: Final = 1e-9
"""A smaller absolute difference counts as 0."""
MEANINGFUL: Final = 5
"""With fewer units than this, a percentile interval says little, and tables mark it."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its percentile interval; by default undefined."""

    mean: float | None = None
    """None if no value is defined."""
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Defined values."""
    units: int = 0
    """Number of resampled units (conversations or participants) with a defined value."""

    @property
    def meaningful(self) -> bool:
        """Whether there are enough units for the interval to be meaningful."""
        return self.units >= MEANINGFUL

    @property
    def few(self) -> bool:
        """Whether there is a mean, but too few units for its interval to be meaningful."""
        return self.mean is not None and not self.meaningful

    @property
    def leaves_out_zero(self) -> bool:
        """Whether the interval excludes 0 and has enough units: the condition for claiming a difference."""
        if self.low is None or self.high is None or not self.meaningful:
            return False
        return self.low > ROUNDING or self.high < -ROUNDING


class Bootstrap:
    """Resampling weights for a fixed list of rows, applied to any number of columns.

    Args:
        rows: the number of rows (conversations).
        clusters: one label per row (participants); rows with the same label are drawn together. With None,
        each
            row is its own unit.
        resamples: the number of resamples.
        seed: the seed of the generator; the same rows, clusters and seed give the same intervals.

    Values of columns have the shape (rows, columns), with NaN if undefined.
    """

    def __init__(
        self,
        rows: int,
        clusters: Sequence[Hashable] | None = None,
        *,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> None:
        if rows < 1:
            raise ValueError("a bootstrap needs at least one row")
        labels: Sequence[Hashable] = range(rows) if clusters is None else clusters
        if len(labels) != rows:
            raise ValueError(f"{len(labels)} cluster labels for {rows} rows; one per row is needed")
        numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        self.cluster_of_row = np.array([numbers[label] for label in labels])
        self.units = len(numbers)
        self.drawn = _drawn(self.units, resamples, seed)
        """(resamples, units): how often each unit is drawn; do not modify."""

    @property
    def weights(self) -> Array:
        """(resamples, rows): how often each row is drawn."""
        return self.drawn.astype(np.float64)[:, self.cluster_of_row]

    def unit_sums(self, table: npt.ArrayLike) -> Array:
        """(units, columns): the sums of each unit's rows; `table` has shape (rows, columns) and no NaN."""
        rows = np.asarray(table, dtype=np.float64)
        if self.units == len(rows):  # units are numbered in the order of their first rows
            return rows
        sums = np.zeros((self.units, rows.shape[1]))
        np.add.at(sums, self.cluster_of_row, rows)
        return sums

    def means(self, values: npt.ArrayLike) -> Array:
        """(columns, resamples): the mean of the defined values of each column in each resample.

        NaN if a resample has no defined value of a column.
        """
        table = np.asarray(values, dtype=np.float64)
        defined = ~np.isnan(table)
        means = weighted(self.drawn, self.unit_sums(np.where(defined, table, 0.0)))
        # most columns are undefined in the same rows, so these are counted only once
        masks, mask_of = np.unique(defined, axis=1, return_inverse=True)
        counts = weighted(self.drawn, self.unit_sums(masks))
        with np.errstate(invalid="ignore"):
            for column, mask in enumerate(mask_of.flat):
                means[column] /= counts[mask]
        return means

    def intervals(self, values: npt.ArrayLike) -> list[Interval]:
        """The mean of each column with its interval."""
        table = np.asarray(values, dtype=np.float64)
        blocks = (table[:, start : start + BLOCK] for start in range(0, table.shape[1], BLOCK))
        return [one for block in blocks for one in self.with_bounds(block, percentiles(self.means(block)))]

    def ratios(self, numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> list[Interval]:
        """One interval per column of Σ numerator / Σ denominator, the sums over rows.

        A mean over items is such a ratio: its denominator differs between rows, so both sums are resampled
        together. The sum of the denominator is the interval's n. Resamples with a denominator of 0 are left
        out; a column with a denominator of 0 is undefined.
        """
        above, below = self.unit_sums(numerators), self.unit_sums(denominators)
        found: list[Interval] = []
        for start in range(0, above.shape[1], BLOCK):
            upper, lower = above[:, start : start + BLOCK], below[:, start : start + BLOCK]
            counted = weighted(self.drawn, lower)
            ratios = np.full_like(counted, np.nan)
            np.divide(weighted(self.drawn, upper), counted, out=ratios, where=counted > 0)
            n = lower.sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                means = upper.sum(axis=0) / n
            found += _intervals(means, percentiles(ratios), n, (lower > 0).sum(axis=0))
        return found

    def with_bounds(self, values: Array, bounds: Array) -> list[Interval]:
        """Intervals around the means of `values` with `bounds` (2, columns)."""
        defined = ~np.isnan(values)
        means = [
            column[known].mean() if known.any() else np.nan
            for column, known in zip(values.T, defined.T, strict=True)
        ]
        return _intervals(means, bounds, defined.sum(axis=0), (self.unit_sums(defined) > 0).sum(axis=0))


def _intervals(means: npt.ArrayLike, bounds: Array, n: npt.ArrayLike, units: npt.ArrayLike) -> list[Interval]:
    columns = zip(np.asarray(means), *bounds, np.asarray(n), np.asarray(units), strict=True)
    return [
        Interval(float(mean), float(low), float(high), round(number), int(held)) if number else Interval()
        for mean, low, high, number, held in columns
    ]


def weighted(weights: npt.NDArray[Any], sums: Array) -> Array:
    """(columns, draws): sums.T @ weights.T for small whole weights (draws, units) and sums (units, columns).

    The product is split into small ones, since the BLAS divides larger ones among threads; their number would
    affect the last digit, and they wait for each other on busy cores.
    """
    totals = np.empty((sums.shape[1], len(weights)))
    groups = [slice(start, start + COLUMNS) for start in range(0, len(totals), COLUMNS)]
    size = max(len(sums), 1) * min(max(len(totals), 1), COLUMNS)
    step = max(PRODUCT // size, 1)
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        drawn = weights[part].astype(np.float64).T  # in parts, to save memory
        for group in groups:
            totals[group, part] = sums[:, group].T @ drawn
    return totals


def percentiles(samples: Array) -> Array:
    """(2, columns): the quantiles that bound the middle 95% of each row of `samples` (columns, resamples).

    They are interpolated linearly; NaN are left out, and a row of only NaN gives NaN.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        bounds: Array = np.nanquantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    return bounds


def known(value: float) -> float | None:
    """The number; None if it is NaN."""
    return None if np.isnan(value) else float(value)


@lru_cache(maxsize=1)  # cached, since a report makes many tables of the same conversations
def _drawn(units: int, resamples: int, seed: int) -> npt.NDArray[Any]:
    generator, even = np.random.default_rng(seed), np.full(units, 1 / units)
    drawn = np.empty((resamples, units), dtype=np.uint16 if units < 65_536 else np.uint32)
    step = max(AT_A_TIME // units, 1)
    for start in range(0, resamples, step):
        part = drawn[start : start + step]
        part[:] = generator.multinomial(units, even, size=len(part))
    drawn.flags.writeable = False
    return drawn
