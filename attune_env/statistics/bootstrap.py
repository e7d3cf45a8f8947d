"""The paper's bootstrap: 95 % percentile intervals over resampled conversations (or participants).

One multinomial weight matrix serves every model and metric, so a resample is one matrix product and
differences between columns are paired for free. Source: AttuneBench v1.0, 10,000 resamples.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

RESAMPLES: Final = 10_000
LEVEL: Final = 0.95
CHUNK: Final = 1_000
"""Resamples worked on at a time."""
MEANINGFUL: Final = 5
"""With fewer units than this a percentile interval says little; tables mark it."""

Array = npt.NDArray[np.float64]


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
        units = len(numbers)
        generator, even = np.random.default_rng(seed), np.full(units, 1 / units)
        self.drawn = np.empty((resamples, units), dtype=np.uint16 if units < 65_536 else np.uint32)
        """(resamples, units): how often each unit is drawn."""
        for start in range(0, resamples, CHUNK):
            part = self.drawn[start : start + CHUNK]
            part[:] = generator.multinomial(units, even, size=len(part))

    @property
    def weights(self) -> Array:
        """(resamples, rows): how often each row is drawn."""
        return self._weights(slice(None))

    def _weights(self, part: slice) -> Array:
        return self.drawn[part].astype(np.float64)[:, self.cluster_of_row]

    def means(self, values: npt.ArrayLike) -> Array:
        """(resamples, columns): the mean of the defined values of each column in each resample.

        `values` has shape (rows, columns); NaN = undefined. A resample that holds no defined value of a
        column gives NaN there.
        """
        table = np.asarray(values, dtype=np.float64)
        defined = ~np.isnan(table)
        filled, counted = np.where(defined, table, 0.0), defined.astype(np.float64)
        means = np.empty((len(self.drawn), table.shape[1]))
        for start in range(0, len(means), CHUNK):  # in chunks: the weights of all rows at once are large
            part = slice(start, start + CHUNK)
            weights = self._weights(part)
            with np.errstate(invalid="ignore"):
                means[part] = (weights @ filled) / (weights @ counted)
        return means

    def intervals(self, values: npt.ArrayLike, level: float = LEVEL) -> list[Interval]:
        """One interval a column of `values`, shape (rows, columns), NaN = undefined."""
        table = np.asarray(values, dtype=np.float64)
        means = self.means(table)
        tails = [(1 - level) / 2, (1 + level) / 2]
        has_gap = np.isnan(means).any(axis=0)
        bounds = np.full((2, table.shape[1]), np.nan)
        if not has_gap.all():
            bounds[:, ~has_gap] = np.quantile(means[:, ~has_gap], tails, axis=0)
        for column in np.flatnonzero(has_gap):
            known = means[~np.isnan(means[:, column]), column]
            if known.size:
                bounds[:, column] = np.quantile(known, tails)
        return [self._interval(table[:, i], bounds[:, i]) for i in range(table.shape[1])]

    def _interval(self, column: Array, bounds: npt.NDArray[Any]) -> Interval:
        defined = ~np.isnan(column)
        n = int(defined.sum())
        if not n:
            return Interval(None, None, None, 0, 0)
        units = len(set(self.cluster_of_row[defined].tolist()))
        return Interval(float(column[defined].mean()), float(bounds[0]), float(bounds[1]), n, units)
