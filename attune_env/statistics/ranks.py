"""Do metrics rank models similarly? Spearman's correlation of the models' means for each pair of metrics.

Intervals come from the resamples of the kernel: in each, all means are computed, ranked and correlated again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Final

import numpy as np

from attune_rewards.bootstrap import Array, Bootstrap, Interval, percentiles

FEWEST: Final = 3
"""Fewest models for a correlation, since two always have equal or opposite ranks."""
STEP: Final = 1e-9
"""Means are ranked in whole steps of this size, so that rounding does not break ties."""


def rank_correlations(kernel: Bootstrap, values: Array) -> Mapping[tuple[int, int], Interval]:
    """Spearman's ρ in [-1, 1] between the metrics' rankings of the models, with bootstrap intervals.

    Args:
        kernel: the resamples.
        values: (rows, models, metrics); NaN = undefined.

    Returns ρ for each pair of metrics by their places, in either order; its n counts the models.

    ρ = Pearson's correlation of mid-ranks. A metric with itself has 1, without width. A pair of metrics is
    correlated over the models that have a mean on both. Undefined: fewer than three such models, or a metric
    on which they all tie. Resamples in which a mean or ρ is undefined are left out of the interval.

    Resampling adds noise to the means, so if models are close, the middle of the resampled ρ is nearer to 0
    than ρ itself, and the interval is not centred on ρ.
    """
    models, metrics = values.shape[1:]
    counts = (~np.isnan(values)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        point = np.nansum(values, axis=0) / counts
    resampled = kernel.means(values.reshape(len(values), -1)).reshape(models, metrics, -1)
    by_models: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    for a, b in combinations_with_replacement(range(metrics), 2):
        by_models[tuple(np.flatnonzero(counts[:, a] * counts[:, b]))].append((a, b))
    found = {(a, b): Interval() for a in range(metrics) for b in range(metrics)}
    for shared, pairs in by_models.items():
        if len(shared) < FEWEST:
            continue
        chosen = sorted({metric for pair in pairs for metric in pair})
        first, second = ([chosen.index(metric) for metric in side] for side in zip(*pairs, strict=True))
        rho = _correlated(point[:, :, None], shared, chosen)[0, first, second]
        draws = _correlated(resampled, shared, chosen)[:, first, second]
        for (a, b), mean, low, high in zip(pairs, rho, *percentiles(draws.T), strict=True):
            if not np.isnan(mean):
                one = Interval(float(mean), float(low), float(high), len(shared), kernel.units)
                found[a, b] = found[b, a] = one
    return found


def _correlated(means: Array, shared: Sequence[int], chosen: Sequence[int]) -> Array:
    """(draws, chosen, chosen) of (models, metrics, draws): ρ over the `shared` models, NaN if undefined."""
    columns = means[np.array(shared, dtype=np.intp)[:, None], np.array(chosen)]
    from scipy.stats import rankdata  # takes seconds on a busy machine, and only reports rank

    ranks = rankdata(np.rint(columns / STEP), axis=0)
    centred = ranks - ranks.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred /= np.sqrt((centred**2).sum(axis=0))
    unit = np.ascontiguousarray(centred.transpose(2, 1, 0))
    rho: Array = np.clip(unit @ unit.transpose(0, 2, 1), -1, 1)
    gaps = np.isnan(columns).any(axis=0).T
    rho[gaps[:, :, None] | gaps[:, None, :]] = np.nan
    return rho
