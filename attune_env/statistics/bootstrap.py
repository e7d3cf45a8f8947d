"""The paper's bootstrap: 95 % percentile intervals over resampled conversations (or participants).

One multinomial weight matrix serves every model and metric, so a resample is one matrix product and
differences between columns are paired for free. Source: AttuneBench v1.0, 10,000 resamples.
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
"""Multiplications in one product of matrices; OpenBLAS uses one thread up to here."""
COLUMNS: Final = 32
BLOCK: Final = 256
"""Columns whose resampled means are held at a time."""
ROUNDING: Final = 1e-9
"""A difference nearer to 0 counts as none."""
MEANINGFUL: Final = 5
"""With fewer units than this a percentile interval says little; tables mark it."""

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
    """Resampled units (conversations or participants) that hold a defined value."""

    @property
    def meaningful(self) -> bool:
        """Whether there are enough units for the interval to say something."""
        return self.units >= MEANINGFUL

    @property
    def leaves_out_zero(self) -> bool:
        """Whether 0 is outside, with enough units to say so: the condition for claiming a difference."""
        if self.low is None or self.high is None or not self.meaningful:
            return False
        return self.low > ROUNDING or self.high < -ROUNDING


class Bootstrap:
    """Resampling weights for a fixed list of rows, applied to any number of columns.

    Args:
        rows: how many rows (conversations) there are.
        clusters: one label per row; rows of one label are drawn together (participants). None: each row
            is its own unit.
        resamples: how many resamples.
        seed: seeds the generator; same rows, clusters and seed give the same intervals.

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
        """(resamples, units): how often each unit is drawn; not to be changed."""

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

        NaN if a resample holds no defined value of a column.
        """
        table = np.asarray(values, dtype=np.float64)
        defined = ~np.isnan(table)
        means = weighted(self.drawn, self.unit_sums(np.where(defined, table, 0.0)))
        # most columns are undefined in the same rows: these are counted once
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

        A mean over items is such a ratio: its denominator differs from row to row, so both sums are drawn
        together. The sum of the denominator is the interval's n. A resample whose denominator is 0 is left
        out; a column whose denominator is 0 is undefined.
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
    """(columns, draws): sums.T @ weights.T, of small whole weights (draws, units) and (units, columns).

    The products are small: the BLAS splits larger ones between threads, whose number would then show in the
    last digit, and which wait for each other if the cores are busy.
    """
    totals = np.empty((sums.shape[1], len(weights)))
    groups = [slice(start, start + COLUMNS) for start in range(0, len(totals), COLUMNS)]
    size = max(len(sums), 1) * min(max(len(totals), 1), COLUMNS)
    step = max(PRODUCT // size, 1)
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        drawn = weights[part].astype(np.float64).T  # as floats, all weights at once may be large
        for group in groups:
            totals[group, part] = sums[:, group].T @ drawn
    return totals


def percentiles(samples: Array) -> Array:
    """(2, columns): the quantiles that hold the middle 95 % of each row of `samples` (columns, resamples).

    Linear between neighbours; NaN are left out, and a row of only NaN gives NaN.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        bounds: Array = np.nanquantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    return bounds


def known(value: float) -> float | None:
    """The number; None if it is NaN."""
    return None if np.isnan(value) else float(value)


@lru_cache(maxsize=1)  # a report makes many tables of the same conversations
def _drawn(units: int, resamples: int, seed: int) -> npt.NDArray[Any]:
    generator, even = np.random.default_rng(seed), np.full(units, 1 / units)
    drawn = np.empty((resamples, units), dtype=np.uint16 if units < 65_536 else np.uint32)
    step = max(AT_A_TIME // units, 1)
    for start in range(0, resamples, step):
        part = drawn[start : start + step]
        part[:] = generator.multinomial(units, even, size=len(part))
    drawn.flags.writeable = False
    return drawn
