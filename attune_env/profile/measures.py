"""The statistics of guesses, each a function of row weights, so that a resample is one more set of weights.

Weights have shape (draws, rows) and are at least 0; a measure gives (draws,), NaN where it is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from attune_env.statistics.bootstrap import Array

Bools = npt.NDArray[np.bool_]
Measure = Callable[[Array], Array]
_EVEN: Final = 1e-12
"""Variances of ranks up to this share of the largest possible are rounding: all values are equal."""


def mean(values: npt.ArrayLike) -> Measure:
    """The weighted mean of one value a row."""
    return share(np.ones(len(np.atleast_1d(values))), values)


def share(among: npt.ArrayLike, values: npt.ArrayLike) -> Measure:
    """The weighted mean of the values of the rows in `among` (truth values); NaN without such rows."""
    inside = np.asarray(among, dtype=np.float64)
    sums = inside * np.asarray(values, dtype=np.float64)

    def measure(weights: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = (weights @ sums) / (weights @ inside)
        return found

    return measure


def balanced_accuracy(truth: Sequence[object], hits: npt.ArrayLike) -> Measure:
    """The mean, over the classes that the drawn rows hold, of the share of each that was hit.

    Undefined with fewer than two classes: there is nothing to balance.
    """
    classes = list(dict.fromkeys(truth))
    among = [np.array([one == wanted for one in truth], dtype=bool) for wanted in classes]
    recalls = [share(rows, hits) for rows in among]

    def measure(weights: Array) -> Array:
        each = np.stack([recall(weights) for recall in recalls])
        known = (~np.isnan(each)).sum(axis=0)
        found: Array = np.where(known > 1, np.nansum(each, axis=0) / np.maximum(known, 1), np.nan)
        return found

    return measure


def spearman(truth: npt.ArrayLike, guesses: npt.ArrayLike) -> Measure:
    """The rank correlation, tied values at their mean rank.

    0 where the guesses are all equal, which rank nobody; undefined where the truths are.
    """
    truth_ranks, guess_ranks = _ranks(truth), _ranks(guesses)

    def measure(weights: Array) -> Array:
        total = weights.sum(axis=1)
        middle = (total[:, None] + 1) / 2
        x, y = truth_ranks(weights) - middle, guess_ranks(weights) - middle
        xx, yy, xy = ((weights * product).sum(axis=1) for product in (x * x, y * y, x * y))
        least = _EVEN * total**3
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(yy > least, xy / np.sqrt(xx * yy), 0.0)
        return np.where((xx > least) & (total > 0), found, np.nan)

    return measure


def _ranks(values: npt.ArrayLike) -> Measure:
    """Weights to (draws, rows): each row's mean rank among the drawn rows, from 1."""
    _, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    groups = np.zeros((len(place), int(place.max()) + 1))
    groups[np.arange(len(place)), place] = 1.0

    def ranks(weights: Array) -> Array:
        held = weights @ groups
        found: Array = (np.cumsum(held, axis=1) - held + (held + 1) / 2)[:, place]
        return found

    return ranks
