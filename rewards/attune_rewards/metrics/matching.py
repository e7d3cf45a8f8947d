"""Best one-to-one matching of emotions by valence-arousal similarity, with or without intensity.

One tag on a side, or two on both, are matched in closed form, larger cases by SciPy's Hungarian algorithm
(imported lazily); a bounded cache answers repeated calls, which are the great majority.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from attune_data.format.affect import EMOTIONS, SIMILARITY, canonical_emotion


def matched_similarity(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """Total similarity of the best matching between two non-empty lists of emotion names.

    Names outside the 20 items have similarity 0.
    """
    # cache keys consist of only 21 short strings, regardless of what a model writes
    rows, columns = _known(truth), _known(predicted)
    return (_kept_similarity if len(rows) + len(columns) <= LONGEST_KEPT else _total)(rows, columns)


LONGEST_KEPT: Final = 24
"""Pairs of lists with more names in total than this are not cached."""


def _total(rows: tuple[str, ...], columns: tuple[str, ...]) -> float:
    table = _table(rows, columns)
    nearest = [max(row) for row in table]
    if len({row.index(most) for row, most in zip(table, nearest, strict=True)}) == len(table):
        return math.fsum(
            nearest
        )  # each true emotion has a different nearest one, so this matching is the best
    return matched_total(table)


_kept_similarity: Final = lru_cache(maxsize=65_536)(_total)


def similarities(truth: Sequence[str], predicted: Sequence[str]) -> list[list[float]]:
    """Similarity of every true (row) with every predicted (column) emotion."""
    return _table(_known(truth), _known(predicted))


def _known(names: Sequence[str]) -> tuple[str, ...]:
    """The names in the spelling of the 20 items; "" for any other name."""
    return tuple([name if name in _NEAR else canonical_emotion(name) or "" for name in names])


def _table(rows: Sequence[str], columns: Sequence[str]) -> list[list[float]]:
    return [[near[column] for column in columns] for near in [_NEAR[row] for row in rows]]


_NEAR: Final = {
    row: {column: SIMILARITY.get((row, column), 0.0) for column in (*EMOTIONS, "")} for row in (*EMOTIONS, "")
}
"""Emotion -> emotion -> similarity; "" is any other name."""


def matched_total(table: Sequence[Sequence[float]]) -> float:
    """Highest total of a one-to-one matching of rows and columns (min(rows, columns) pairs)."""
    return math.fsum(table[row][column] for row, column in best_pairs(table))


def best_pairs(table: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """(row, column) pairs of the best assignment, in the order of the rows."""
    rows, columns = len(table), len(table[0])
    if rows == 1:
        return [(0, max(range(columns), key=table[0].__getitem__))]
    if columns == 1:
        return [(max(range(rows), key=lambda row: table[row][0]), 0)]
    if rows == 2 and columns == 2:
        straight, crossed = table[0][0] + table[1][1], table[0][1] + table[1][0]
        return [(0, 0), (1, 1)] if straight >= crossed else [(0, 1), (1, 0)]
    from scipy.optimize import linear_sum_assignment

    chosen_rows, chosen_columns = linear_sum_assignment(table, maximize=True)
    return list(zip(chosen_rows.tolist(), chosen_columns.tolist(), strict=True))
