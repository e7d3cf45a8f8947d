"""Subgroup contrasts: does a model's score differ between some people and the others?

The difference is between the two means over conversations, as shown in tables. The units that are resampled,
and whose labels are permuted, are those of the kernel: participants if one has several conversations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from attune_rewards.bootstrap import (
    BLOCK,
    RESAMPLES,
    Array,
    Bootstrap,
    Interval,
    known,
    percentiles,
    weighted,
)

TIED: Final = 1e-9
"""Differences this close to the observed one, relative to the largest value, count as equal to it."""
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One column (model or metric) compared inside and outside a subgroup."""

    inside: Interval
    outside: Interval
    difference: Interval
    """Mean inside - mean outside; its n and units are those of both sides together."""
    p: float | None
    """Two-sided, uncorrected p by permutation of the units' labels; None if a side is empty."""


def contrasts(
    kernel: Bootstrap,
    values: Array,
    inside: npt.ArrayLike,
    outside: npt.ArrayLike | None = None,
    *,
    draws: int = RESAMPLES,
    seed: int = 0,
) -> list[Contrast]:
    """One contrast per column.

    Args:
        kernel: the resamples; labels belong to its units.
        values: (rows, columns); NaN = undefined.
        inside: (rows,) booleans: the conversations of the subgroup.
        outside: (rows,) booleans: the conversations to compare with; by default all others. Rows on neither
        side
            are left out (such as people who did not say whether they have a diagnosis).
        draws: the number B of permutations.
        seed: the seed of the permutations, whose stream differs from the bootstrap's even with the same seed.

    Each resample recomputes both means; resamples with an empty side are left out. The p of a column is
    (1 + b)/(1 + B), where b is the number of permutations of the units' labels that give an absolute
    difference at least as large; the conversations of a unit move together. If a unit has rows on both sides
    (topics of one person's conversations), labels are permuted among rows.

    Difference and p are undefined if a side has no value.
    """
    labels = np.asarray(inside, dtype=bool)
    others = ~labels if outside is None else np.asarray(outside, dtype=bool)
    if (labels & others).any():
        raise ValueError("a row cannot be both inside and outside the subgroup")
    sides = [np.where(side[:, None], values, np.nan) for side in (labels, others, labels | others)]
    mixed = bool((kernel.unit_sums(np.column_stack([labels, others])) > 0).all(axis=1).any())
    units = np.arange(len(values)) if mixed else kernel.cluster_of_row
    p = _permuted(sides[2], labels, units, draws, seed)
    found: list[Contrast] = []
    for start in range(0, values.shape[1], BLOCK):
        ours, theirs, both = (side[:, start : start + BLOCK] for side in sides)
        means = np.split(kernel.means(np.hstack([ours, theirs])), 2)
        bounds = [percentiles(one) for one in (*means, means[0] - means[1])]
        columns = (
            kernel.with_bounds(side, ends) for side, ends in zip((ours, theirs, both), bounds, strict=True)
        )
        for one, other, joint, p_value in zip(*columns, p[start : start + BLOCK], strict=True):
            if one.mean is None or other.mean is None:
                difference, chance = Interval(n=joint.n, units=joint.units), None
            else:
                difference, chance = replace(joint, mean=one.mean - other.mean), known(p_value)
            found.append(Contrast(one, other, difference, chance))
    return found


def _permuted(
    values: Array, labels: Bools, unit_of_row: npt.NDArray[np.intp], draws: int, seed: int
) -> Array:
    """(columns,) p of each column, from the same permutations."""
    number = int(unit_of_row.max()) + 1
    sums, counts = (np.zeros((number, values.shape[1])) for _ in range(2))
    np.add.at(sums, unit_of_row, np.nan_to_num(values))
    np.add.at(counts, unit_of_row, (~np.isnan(values)).astype(np.float64))
    labelled = np.zeros(number, dtype=bool)
    labelled[unit_of_row[labels]] = True
    held = (counts > 0).any(axis=1)
    sums, counts, own = sums[held], counts[held], labelled[held].astype(np.int8)
    generator = np.random.default_rng([seed, 0xC0])
    drawn = generator.permuted(np.broadcast_to(own, (draws, len(own))), axis=1)
    patterns = np.concatenate([own[None], drawn])  # the first is the observed one
    above, n = weighted(patterns, sums), weighted(patterns, counts)
    rest, m = sums.sum(axis=0)[:, None] - above, counts.sum(axis=0)[:, None] - n
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.abs(above / n - rest / m)
    least = size[:, :1] - TIED * np.abs(sums).max(axis=0, initial=0.0)[:, None]
    # a permutation with an empty side has no difference and is counted as at least as large, to be safe
    p: Array = (1 + (~(size[:, 1:] < least)).sum(axis=1)) / (1 + draws)
    p[(n[:, 0] == 0) | (m[:, 0] == 0)] = np.nan
    return p
