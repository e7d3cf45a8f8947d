"""The conversation-wide questions: goals (Q1), clarity (Q2), fit (Q3) and what felt off.

Options and texts are compared without case and outer blanks. Source: AttuneBench v1.0, Q1 Goals, Q2
Clarity, Q3 Fit, Q3 Follow-up. All scores in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from attune_data.constants import Q3_OPTIONS
from attune_rewards.text import jaccard, tokens

FUZZY_FLOOR = 0.3
"""Token Jaccard under which two texts count as different answers."""

_Q3_RANK = {option.casefold(): rank for rank, option in enumerate(Q3_OPTIONS)}


def set_jaccard(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """Intersection / union of two option sets (the README's Q1 overlap); both empty 1."""
    if truth == predicted:
        return 1.0
    want, got = set(map(_fold, truth)), set(map(_fold, predicted))
    shared = len(want & got)
    return shared / (len(want) + len(got) - shared) if want or got else 1.0


def set_f1(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 of two option sets (the public port's Q1 overlap); both empty 1."""
    want, got = set(map(_fold, truth)), set(map(_fold, predicted))
    return 2 * len(want & got) / (len(want) + len(got)) if want or got else 1.0


def exact_match(truth: str | None, predicted: str | None) -> float:
    """1 if the same; both absent 1, one absent 0."""
    if truth is None or predicted is None:
        return float(truth is predicted)
    return float(truth == predicted or _fold(truth) == _fold(predicted))


def fit_distance(truth: str | None, predicted: str | None) -> int:
    """Steps between two Q3 options, 0–3; one side unknown 3, both 0."""
    want = _Q3_RANK.get(_fold(truth)) if truth is not None else None
    got = _Q3_RANK.get(_fold(predicted)) if predicted is not None else None
    if want is None or got is None:
        return 0 if want is got else len(Q3_OPTIONS) - 1
    return abs(want - got)


def fuzzy_f1(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 over free texts: an item earns 1 for an exact match, else its best token Jaccard if >= 0.3.

    Precision is the mean over predicted items, recall over true ones. Both empty 1, one empty 0.
    """
    if not truth or not predicted:
        return 0.0 if truth or predicted else 1.0
    if truth == predicted:
        return 1.0
    want, got = list(dict.fromkeys(map(_fold, truth))), list(dict.fromkeys(map(_fold, predicted)))
    precision = math.fsum([1.0 if item in want else _nearest(item, want) for item in got]) / len(got)
    recall = math.fsum([1.0 if item in got else _nearest(item, got) for item in want]) / len(want)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    return text.strip().casefold()


@lru_cache(maxsize=4096)
def _near(first: str, second: str) -> float:
    near = jaccard(tokens(first), tokens(second))
    return near if near >= FUZZY_FLOOR else 0.0


def _nearest(item: str, others: Sequence[str]) -> float:
    return max([_near(item, other) for other in others])
