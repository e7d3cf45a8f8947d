"""The best one-to-one matching of true tags with given emotions, many turns at a time.

As `attune_rewards.matching` has it, turn by turn: the highest total similarity of a matching.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS
from attune_rewards.matching import matched_similarity

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def one_tag(near: Floats) -> Floats:
    """The best match of one true tag: the nearest given emotion.

    Args:
        near: similarities with the items, -1 at those not given, shape (n, 1, 20); each row has one given.
    """
    nearest: Floats = near[:, 0].max(axis=1)
    return nearest


def two_tags(near: Floats) -> Floats:
    """The best matching of two true tags, near as in `one_tag`, shape (n, 2, 20).

    Each takes its nearest; where that is the same one, the better of the two ways to give way.
    """
    rows, tags = np.arange(len(near))[:, None], np.arange(2)
    taken = near.argmax(axis=2)
    best = near[rows, tags, taken]
    others = near.copy()
    others[rows, tags, taken] = -1.0
    second = np.maximum(others.max(axis=2), 0.0)  # nobody left to give way to: the tag stays unmatched
    gives_way = np.maximum(best[:, 0] + second[:, 1], second[:, 0] + best[:, 1])
    total: Floats = np.where(taken[:, 0] == taken[:, 1], gives_way, best.sum(axis=1))
    return total


def many_tags(near: Floats, given: Bools) -> Floats:
    """The best matching of several true tags, by dynamic programming over sets of matched tags."""
    tags = near.shape[1]
    best = np.zeros((len(near), 1 << tags))
    for item in np.flatnonzero(given.any(axis=0)):
        taken = best.copy()
        for tag in range(tags):
            free = np.flatnonzero(~np.arange(1 << tags) >> tag & 1)
            joined = best[:, free] + near[:, tag, item, None]
            taken[:, free | 1 << tag] = np.maximum(taken[:, free | 1 << tag], joined)
        best = np.where(given[:, item, None], taken, best)
    highest: Floats = best.max(axis=1)
    return highest


def one_by_one(names: Sequence[str], given: Bools) -> float:
    """The engine's matching, of one turn."""
    items = [EMOTIONS[i] for i in np.flatnonzero(given)]
    return matched_similarity(names, items) if items else 0.0
