"""The paper's bootstrap: 95 % percentile intervals over resampled conversations (or participants).

One multinomial weight matrix serves every model and metric, so a resample is one matrix product and
differences between columns are paired for free. Source: AttuneBench v1.0, 10,000 resamples.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

RESAMPLES: Final = 10_000
LEVEL: Final = 0.95
CHUNK: Final = 1_000
"""Resamples at a time, for callers that multiply `drawn` themselves."""
AT_A_TIME: Final = 4_000_000
"""Counts that are drawn at a time."""
PRODUCT: Final = 262_144
"""Multiplications in one product of matrices; OpenBLAS uses one thread up to here."""
COLUMNS: Final = 32
"""Columns in one product of matrices."""
BLOCK: Final = 256
"""Columns whose resampled means are held at a time."""
KEPT: Final = 20_000_000
"""Draws up to this many counts are kept: a report makes many tables of the same conversations."""
ROUNDING: Final = 1e-9
"""A difference nearer to 0 counts as none."""
MEANINGFUL: Final = 5
"""With fewer units than this a percentile interval says little; tables mark it."""

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its percentile interval."""

    mean: float | None
    """None where no value is defined."""
    low: float | None
    high: float | None
    n: int
    """Defined values."""
    units: int
    """Resampled units (conversations or participants) that hold a defined value."""

    @property
    def meaningful(self) -> bool:
        """Whether there are enough units for the interval to say something."""
        return self.units >= MEANINGFUL

    @property
    def leaves_out_zero(self) -> bool:
        """Whether 0 lies outside, and there are enough units to say so: what a difference is claimed by."""
        if self.low is None or self.high is None or not self.meaningful:
            return False
        return self.low > ROUNDING or self.high < -ROUNDING


class Bootstrap:
    """Resampling weights for a fixed list of rows, applied to any number of columns.

    Args:
        rows: how many rows (conversations) there are.
        clusters: one label a row; rows of one label are drawn together (participants). None: each row
            is a unit of its own.
        resamples: how many resamples.
        seed: seeds the generator; same rows, clusters and seed give the same intervals.
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
        if clusters is not None and len(clusters) != rows:
            raise ValueError(f"{len(clusters)} cluster labels for {rows} rows; one a row is needed")
        labels: Sequence[Hashable] = range(rows) if clusters is None else clusters
        numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        self.cluster_of_row = np.array([numbers[label] for label in labels])
        self.units = len(numbers)
        """How many units there are to draw."""
        draw = _drawn if self.units * resamples > KEPT else _drawn_once
        self.drawn = draw(self.units, resamples, seed)
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

    def totals(self, sums: Array) -> Array:
        """(columns, resamples): the sum over each resample's units; `sums` has shape (units, columns)."""
        return weighted(self.drawn, sums)

    def means(self, values: npt.ArrayLike) -> Array:
        """(resamples, columns): the mean of the defined values of each column in each resample.

        `values` has shape (rows, columns); NaN = undefined. A resample that holds no defined value of a
        column gives NaN there.
        """
        return self.mean_draws(values).T

    def mean_draws(self, values: npt.ArrayLike) -> Array:
        """(columns, resamples): `means` the other way round, as `percentiles` takes them."""
        table = np.asarray(values, dtype=np.float64)
        defined = ~np.isnan(table)
        means = self.totals(self.unit_sums(np.where(defined, table, 0.0)))
        masks: dict[bytes, int] = {}  # most columns are undefined in the same rows: these are counted once
        mask_of = [masks.setdefault(mask.tobytes(), len(masks)) for mask in defined.T]
        first = [mask_of.index(number) for number in range(len(masks))]
        counts = self.totals(self.unit_sums(defined[:, first].astype(np.float64)))
        with np.errstate(invalid="ignore"):
            for column, mask in enumerate(mask_of):
                means[column] /= counts[mask]
        return means

    def intervals(self, values: npt.ArrayLike, level: float = LEVEL) -> list[Interval]:
        """One interval a column of `values`, shape (rows, columns), NaN = undefined."""
        table = np.asarray(values, dtype=np.float64)
        found: list[Interval] = []
        for start in range(0, table.shape[1], BLOCK):
            block = table[:, start : start + BLOCK]
            bounds = percentiles(self.mean_draws(block), level)
            found += self.with_bounds(block, bounds)
        return found

    def ratios(self, numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> list[Interval]:
        """One interval per column of Σ numerator / Σ denominator, the sums over rows.

        A mean over items is such a ratio: its denominator differs from row to row, so both sums are drawn
        together. The total of the lower sum is the interval's n. A resample whose lower sum is 0 takes no
        part; a column whose lower sum is 0 is undefined.
        """
        above, below = self.unit_sums(numerators), self.unit_sums(denominators)
        found: list[Interval] = []
        for start in range(0, above.shape[1], BLOCK):
            upper, lower = above[:, start : start + BLOCK], below[:, start : start + BLOCK]
            counted = self.totals(lower)
            ratios = np.full_like(counted, np.nan)
            np.divide(self.totals(upper), counted, out=ratios, where=counted > 0)
            totals, n, units = upper.sum(axis=0), lower.sum(axis=0), (lower > 0).sum(axis=0)
            found += [
                Interval(float(totals[i] / n[i]), float(low), float(high), round(n[i]), int(units[i]))
                if n[i]
                else Interval(None, None, None, 0, 0)
                for i, (low, high) in enumerate(percentiles(ratios).T)
            ]
        return found

    def with_bounds(self, values: Array, bounds: Array) -> list[Interval]:
        """Intervals around the means of `values` (rows, columns) with `bounds` (2, columns)."""
        defined = ~np.isnan(values)
        n = defined.sum(axis=0)
        units = (self.unit_sums(defined) > 0).sum(axis=0)
        return [
            Interval(float(column[known].mean()), float(low), float(high), int(number), int(held))
            if number
            else Interval(None, None, None, 0, 0)
            for column, known, low, high, number, held in zip(
                values.T, defined.T, *bounds, n, units, strict=True
            )
        ]


def weighted(weights: npt.NDArray[Any], sums: Array) -> Array:
    """(columns, draws): sums.T @ weights.T, of small whole weights (draws, units) and (units, columns).

    In small products: of larger ones the BLAS makes parts for several threads, whose number would then show
    in the last digit, and which wait for each other where the cores have other work.
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


def percentiles(samples: Array, level: float = LEVEL) -> Array:
    """(2, columns): the quantiles that hold the middle `level` of each column; linear between neighbours.

    `samples` has shape (columns, resamples) and is **sorted in place**; NaN are left out, and a column of
    nothing else gives NaN. The same numbers as `numpy.quantile`, which is slower on several quantiles.
    """
    samples.sort(axis=1)  # NaN come last
    known = samples.shape[1] - np.isnan(samples).sum(axis=1)
    columns = np.arange(len(samples))
    bounds = np.full((2, len(samples)), math.nan)
    for place, share in enumerate(((1 - level) / 2, (1 + level) / 2)):
        at = np.maximum(known - 1, 0) * share
        below = np.floor(at).astype(np.intp)
        left = samples[columns, below]
        right = samples[columns, np.minimum(below + 1, np.maximum(known - 1, 0))]
        part, step = at - below, right - left
        # from the nearer neighbour, so that the ends are met exactly
        bounds[place] = np.where(part < 0.5, left + step * part, right - step * (1 - part))
    return bounds


def _drawn(units: int, resamples: int, seed: int) -> npt.NDArray[Any]:
    generator, even = np.random.default_rng(seed), np.full(units, 1 / units)
    drawn = np.empty((resamples, units), dtype=np.uint16 if units < 65_536 else np.uint32)
    for rows in _parts(resamples, units):
        part = drawn[rows]
        part[:] = generator.multinomial(units, even, size=len(part))
    drawn.flags.writeable = False
    return drawn


def _parts(resamples: int, units: int) -> Iterator[slice]:
    step = max(AT_A_TIME // max(units, 1), 1)
    return (slice(start, start + step) for start in range(0, resamples, step))


_drawn_once = lru_cache(maxsize=4)(_drawn)
