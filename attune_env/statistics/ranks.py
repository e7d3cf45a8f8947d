"""Do metrics rank models alike? Spearman's correlation of the models' means, for each pair of metrics.

Intervals come from the resamples of the kernel: in each, all means are computed anew, ranked and correlated.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Final

import numpy as np

from attune_env.statistics.bootstrap import LEVEL, Array, Bootstrap, Interval, percentiles

FEWEST: Final = 3
"""Models that a correlation takes: two always rank alike or opposite."""
STEP: Final = 1e-9
"""Means are ranked in whole steps of this size, so that rounding does not break ties."""
AT_A_TIME: Final = 500
"""Resamples that are ranked at a time: more do not fit a processor's cache."""


@dataclass(frozen=True, slots=True)
class RankCorrelations:
    """A symmetric matrix over metrics."""

    matrix: tuple[tuple[Interval, ...], ...]
    """Spearman's ρ in [-1, 1]; its n counts the models, its units what was resampled."""

    def __getitem__(self, pair: tuple[int, int]) -> Interval:
        """ρ of two metrics by their places."""
        return self.matrix[pair[0]][pair[1]]


def midranks(values: Array) -> Array:
    """Ranks 1 … k along the first axis, ties sharing the mean of their ranks.

    rank(i) = 1 + Σ over others of (1 below, ½ equal). NaN are not ranked rightly: leave such columns out.
    """
    rounded = np.rint(values / STEP)
    doubled = np.full(values.shape, 2, dtype=np.int16)  # twice the rank
    for i, j in combinations(range(len(values)), 2):
        above = (rounded[j] < rounded[i]).astype(np.int8) + (rounded[j] <= rounded[i])
        doubled[i] += above
        doubled[j] += 2 - above
    return doubled / 2


def correlations(ranks: Array) -> Array:
    """(draws, metrics, metrics): Pearson's correlation over models of ranks of (models, metrics, draws).

    NaN where the ranks of a metric do not vary.
    """
    centred = ranks - ranks.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred /= np.sqrt((centred**2).sum(axis=0))
    unit = np.ascontiguousarray(centred.transpose(2, 1, 0))
    return np.asarray(np.clip(unit @ unit.transpose(0, 2, 1), -1, 1))


def rank_correlations(kernel: Bootstrap, values: Array, level: float = LEVEL) -> RankCorrelations:
    """Spearman's ρ between the metrics' rankings of the models, with bootstrap intervals.

    Args:
        kernel: the resamples.
        values: (rows, models, metrics); NaN = undefined.
        level: of the intervals.

    ρ = Pearson's correlation of mid-ranks. The diagonal is a metric with itself: 1, without width. A pair of
    metrics is correlated over the models that have a mean on both. Undefined: fewer than three such models,
    or a metric on which they all tie. Resamples where a mean or ρ is undefined take no part in the interval.

    Resampling adds noise to the means, so the middle of the resampled ρ lies nearer to 0 than ρ itself where
    models are close; the interval is then not centred on ρ.
    """
    models, metrics = values.shape[1:]
    point = np.full((models, metrics), np.nan)
    known = ~np.isnan(values)
    some = np.asarray(known.any(axis=0))
    point[some] = np.nansum(values, axis=0)[some] / known.sum(axis=0)[some]
    resampled = kernel.mean_draws(values.reshape(len(values), -1)).reshape(models, metrics, -1)
    matrix = [[Interval(None, None, None, 0, 0)] * metrics for _ in range(metrics)]
    by_models: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    for a, b in combinations_with_replacement(range(metrics), 2):
        by_models.setdefault(tuple((some[:, a] & some[:, b]).tolist()), []).append((a, b))
    for shared, pairs in by_models.items():
        number = sum(shared)
        if number < FEWEST:
            continue
        chosen = sorted({metric for pair in pairs for metric in pair})
        places = {metric: i for i, metric in enumerate(chosen)}
        first = [places[a] for a, _ in pairs]
        second = [places[b] for _, b in pairs]
        rho = _correlated(point[:, :, None], shared, chosen)[:, first, second][0]
        draws = _correlated(resampled, shared, chosen)[:, first, second]
        bounds = percentiles(np.ascontiguousarray(draws.T), level)
        for (a, b), mean, low, high in zip(pairs, rho, *bounds, strict=True):
            if not np.isnan(mean):
                found = Interval(float(mean), float(low), float(high), number, kernel.units)
                matrix[a][b] = matrix[b][a] = found
    return RankCorrelations(tuple(tuple(row) for row in matrix))


def _correlated(means: Array, shared: tuple[bool, ...], chosen: list[int]) -> Array:
    """(draws, chosen, chosen) from (models, metrics, draws), over the models that are `shared`."""
    columns = means[np.flatnonzero(shared)[:, None], np.array(chosen)]
    found = np.empty((columns.shape[2], len(chosen), len(chosen)))
    for start in range(0, len(found), AT_A_TIME):
        some = columns[:, :, start : start + AT_A_TIME]
        rho = correlations(midranks(some))
        gaps = np.asarray(np.isnan(some).any(axis=0)).T
        rho[gaps[:, :, None] | gaps[:, None, :]] = np.nan
        found[start : start + AT_A_TIME] = rho
    return found
