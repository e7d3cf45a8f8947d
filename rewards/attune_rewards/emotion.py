"""Emotion tags: how well the predicted set of PANAS items meets the one that the HP felt.

Truth and prediction are lists of tags, whose order does not matter while each emotion stands once. Names
are compared without case; a predicted name outside the 20 items is a wrong tag and stays. Source:
AttuneBench v1.0, turn-by-turn metrics. All values are in [0, 1] except the intensity MAE (0–6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from attune_data.affect import SCALE
from attune_rewards.matching import matched_similarity, matched_total, similarities
from attune_rewards.predictions import Tag

SPAN = SCALE[1] - SCALE[0]
"""Largest possible intensity error."""


class Overlap(NamedTuple):
    """Set overlap of tags."""

    precision: float
    recall: float
    f1: float


def overlap(truth: Sequence[Tag], predicted: Sequence[Tag]) -> Overlap:
    """Precision, recall and F1 over the tag sets.

    Both empty: 1 each. Exactly one empty, or nothing in common: 0 each.

    >>> overlap([Tag("Upset"), Tag("Nervous")], [Tag("upset")])
    Overlap(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    want = {tag.emotion.casefold() for tag in truth}
    got = {tag.emotion.casefold() for tag in predicted}
    if not want and not got:
        return Overlap(1.0, 1.0, 1.0)
    hits = len(want & got)
    if not hits:
        return Overlap(0.0, 0.0, 0.0)
    precision, recall = hits / len(got), hits / len(want)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def f1(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """The F1 of `overlap` alone, 2·shared / (true + predicted): what every reward asks for."""
    want = {tag.emotion.casefold() for tag in truth}
    got = {tag.emotion.casefold() for tag in predicted}
    return 2 * len(want & got) / (len(want) + len(got)) if want or got else 1.0


def intensity_errors(truth: Sequence[Tag], predicted: Sequence[Tag]) -> list[int]:
    """Absolute intensity errors (0–6) of the emotions named on both sides with known intensities.

    An emotion named twice on one side counts with its first known intensity.
    """
    want, got = _intensities(truth), _intensities(predicted)
    return [abs(want[name] - got[name]) for name in want if name in got]


def _intensities(tags: Sequence[Tag]) -> dict[str, int]:
    known: dict[str, int] = {}
    for tag in tags:
        if tag.intensity is not None:
            known.setdefault(tag.emotion.casefold(), tag.intensity)
    return known


def intensity_mae(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float | None:
    """Mean of `intensity_errors`; None where there are none."""
    errors = intensity_errors(truth, predicted)
    return sum(errors) / len(errors) if errors else None


def f1_intensity(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """F1 times the mean of 1 - error/6 over `intensity_errors`.

    Both empty: 1. No emotion with known intensities on both sides: 0.
    """
    if not truth and not predicted:
        return 1.0
    errors = intensity_errors(truth, predicted)
    if not errors:
        return 0.0
    return overlap(truth, predicted).f1 * math.fsum(1 - error / SPAN for error in errors) / len(errors)


def va_score(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """Valence-arousal score: mean similarity of the best one-to-one matching, times coverage.

    Matching is over the tag lists (Hungarian algorithm), similarity as in `attune_data.affect`,
    coverage = shorter length / longer length. Both empty: 1; one empty: 0.

    >>> va_score([Tag("Distressed")], [Tag("Upset")])
    0.9233
    """
    if not truth or not predicted:
        return 1.0 if not truth and not predicted else 0.0
    total = matched_similarity([tag.emotion for tag in truth], [tag.emotion for tag in predicted])
    # mean over the matched pairs x coverage = total / pairs x pairs / longer = total / longer
    return total / max(len(truth), len(predicted))


def va_intensity_score(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """As `va_score`, a pair being worth 0.7 similarity + 0.3 (1 - intensity error/6).

    The matching maximises that worth. An unknown intensity on either side counts 0 for its term.
    """
    if not truth or not predicted:
        return 1.0 if not truth and not predicted else 0.0
    table = similarities([tag.emotion for tag in truth], [tag.emotion for tag in predicted])
    worth = [
        [
            0.7 * similarity + 0.3 * _closeness(want, got)
            for got, similarity in zip(predicted, row, strict=True)
        ]
        for want, row in zip(truth, table, strict=True)
    ]
    return matched_total(worth) / max(len(truth), len(predicted))


def _closeness(want: Tag, got: Tag) -> float:
    if want.intensity is None or got.intensity is None:
        return 0.0
    return 1 - abs(want.intensity - got.intensity) / SPAN
