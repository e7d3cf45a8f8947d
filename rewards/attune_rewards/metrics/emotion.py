"""Emotion tags: how well the predicted set of PANAS items matches what the HP felt.

Truth and prediction are lists of tags, whose order does not matter as long as each emotion occurs only once.
Canonical scores take the lists as they are; strict scores and rewards count each feeling once (`each_once`).
Names are compared without regard to case; a predicted name outside the 20 items counts as a wrong tag.
Source: AttuneBench v1.0, turn-by-turn metrics. All values are in [0, 1] except the intensity MAE (0–6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from attune_data.format.affect import SCALE
from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.matching import matched_similarity, matched_total, similarities
from attune_rewards.metrics.metric import TurnMetric
from attune_rewards.predictions import Assess, Tag, TurnPrediction
from attune_rewards.truth import TurnTruth

PLACE: Final = 1
"""Among the topics, in score files and tables."""

SPAN = SCALE[1] - SCALE[0]
"""Largest possible intensity error."""


class Overlap(NamedTuple):
    """Set overlap of tags."""

    precision: float
    recall: float
    f1: float


def overlap(truth: Sequence[Tag], predicted: Sequence[Tag]) -> Overlap:
    """Precision, recall and F1 over the tag sets.

    If both are empty, all three are 1. If only one is empty, or they have nothing in common, all are 0.

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
    """Only the F1 of `overlap`, 2·shared / (true + predicted), which rewards need most often."""
    want = {tag.emotion.casefold() for tag in truth}
    got = {tag.emotion.casefold() for tag in predicted}
    return 2 * len(want & got) / (len(want) + len(got)) if want or got else 1.0


def intensity_errors(truth: Sequence[Tag], predicted: Sequence[Tag]) -> list[int]:
    """Absolute intensity errors (0–6) of the emotions named on both sides with known intensities.

    If an emotion is named twice on one side, its first known intensity counts.
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
    """Mean of `intensity_errors`; None if there are none."""
    errors = intensity_errors(truth, predicted)
    return sum(errors) / len(errors) if errors else None


def f1_intensity(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """F1 times the mean of 1 - error/6 over `intensity_errors`.

    1 if both are empty; 0 if no emotion has known intensities on both sides.
    """
    if not truth and not predicted:
        return 1.0
    errors = intensity_errors(truth, predicted)
    if not errors:
        return 0.0
    return overlap(truth, predicted).f1 * math.fsum(1 - error / SPAN for error in errors) / len(errors)


def va_score(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """Valence-arousal score: mean similarity of the best one-to-one matching, times coverage.

    Matching is over the tag lists (Hungarian algorithm), similarity as in `attune_data.format.affect`,
    coverage = shorter length / longer length. 1 if both are empty, 0 if only one is.

    >>> va_score([Tag("Distressed")], [Tag("Upset")])
    0.9233
    """
    if not truth or not predicted:
        return 1.0 if not truth and not predicted else 0.0
    total = matched_similarity([tag.emotion for tag in truth], [tag.emotion for tag in predicted])
    # mean over the matched pairs x coverage = total / pairs x pairs / longer = total / longer
    return total / max(len(truth), len(predicted))


def va_intensity_score(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    """Like `va_score`, but a pair is worth 0.7 similarity + 0.3 (1 - intensity error/6).

    The matching maximises this worth. If either intensity is unknown, the intensity term is 0.
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


Score = Callable[[Sequence[Tag], Sequence[Tag]], float]


def _canonical(
    score: Callable[[Sequence[Tag], Sequence[Tag]], float | None], turn: TurnTruth, said: TurnPrediction
) -> float | None:
    """A score in the canonical variant: missing tags, annotated or predicted, count as an empty list."""
    return score(turn.tags or (), (said.assess.tags if said.assess else None) or ())


def _metric(name: str, formula: str, score: Score, **more: Any) -> TurnMetric:
    edges = "1 if both are empty, 0 if one is"
    return TurnMetric(name, formula, partial(_canonical, score), needs=("assess",), edges=edges, **more)


METRICS: Final = (
    _metric(
        "emotion_hit_rate", "same as recall", lambda felt, said: overlap(felt, said).recall,
        label="Emotion Hit Rate", role="diagnostic", harness=False,
    ),
    TurnMetric(
        "emotion_intensity_mae",
        "mean absolute error over the emotions named on both sides with an intensity",
        partial(_canonical, intensity_mae), needs=("assess",), better="lower", high=6.0,
        undefined="no such emotion",
        label="Emotion Intensity MAE (0-6)", role="diagnostic", harness=False,
    ),
    _metric(
        "emotion_precision", "hits / size(P), as sets", lambda felt, said: overlap(felt, said).precision,
        averaged=False,
    ),
    _metric(
        "emotion_recall", "hits / size(T), as sets", lambda felt, said: overlap(felt, said).recall,
        averaged=False,
    ),
    _metric(
        "emotion_f1", "2 × precision × recall / (precision + recall); 0 without a hit",
        lambda felt, said: overlap(felt, said).f1,
        label="Emotion match (Emotion F1)", role="input",
    ),
    _metric(
        "emotion_f1_intensity", "F1 × mean(1 − error/6); 0 if no intensities can be compared", f1_intensity
    ),
    _metric(
        "emotion_va_score", "total similarity of the best matching / max(size(T), size(P)), as lists",
        va_score,
        label="Emotion similarity (Emotion VA)", role="input",
    ),
    _metric(
        "emotion_va_intensity_score",
        "the same, with each pair worth 0.7 × similarity + 0.3 × (1 − error/6)", va_intensity_score,
    ),
)  # fmt: skip


def each_once(tags: Sequence[Tag]) -> Sequence[Tag]:
    """Each feeling once: at its first place, with its first known intensity.

    Matched as lists, a feeling that is named again can pay twice, which would make repetition a strategy.

    >>> each_once([Tag("Upset"), Tag("upset", 4), Tag("Upset", 7)])
    (Tag(emotion='Upset', intensity=4),)
    """
    names = [tag.emotion.casefold() for tag in tags]
    if len(set(names)) == len(names):
        return tags
    known = _intensities(tags)
    first = dict(zip(reversed(names), reversed(tags), strict=True))
    return tuple(Tag(first[name].emotion, known.get(name)) for name in dict.fromkeys(names))


def _strict(score: Score, turn: TurnTruth, said: Assess) -> float:
    return 0.0 if said.tags is None else score(each_once(turn.tags or ()), each_once(said.tags))


def _near_intensity(truth: Sequence[Tag], predicted: Sequence[Tag]) -> float:
    error = intensity_mae(truth, predicted)
    return 0.0 if error is None else 1.0 - error / SPAN


def _rated(turn: TurnTruth) -> bool:
    """Whether the tags are annotated, each with its intensity."""
    return turn.tags is not None and all(tag.intensity is not None for tag in turn.tags)


def _leaf(
    name: str, score: Score, canonical: str | None, what: str, formula: str, *, rated: bool = False
) -> Leaf[TurnTruth, Assess]:
    where, zero = "tags are annotated; an empty list is an annotation", "no valid list of tags"
    if rated:
        where = "tags are annotated, each with its intensity"
    return Leaf(
        name=name,
        stage="assess",
        node="emotion" if canonical else None,
        value=partial(_strict, score),
        annotated=_rated if rated else lambda turn: turn.tags is not None,
        answered=lambda turn, said: float(said.tags is not None),
        reads=("tags",),
        canonical=canonical,
        text=PartText(what, formula, where, zero),
    )


LEAVES: Final = (
    _leaf(
        "emotion_f1", f1, "avg_emotion_f1", "which of the 20 feelings the person had",
        "F1 of the tag sets; 1 if both are empty",
    ),
    _leaf(
        "emotion_va", va_score, "avg_emotion_va_score",
        "how close the feelings named are to those felt, on the valence–arousal plane",
        "mean similarity of the best one-to-one matching × coverage, each feeling once; "
        "1 if both are empty, 0 if one is",
    ),
    _leaf(
        "emotion_hit_rate", lambda felt, said: overlap(felt, said).recall, None,
        "what share of the feelings was named",
        "hits / annotated feelings; 1 if both are empty; naming all 20 earns 1 where any is annotated",
    ),
    _leaf(
        "emotion_f1_intensity", f1_intensity, None, "which feelings, and how strong",
        "F1 × mean(1 − error/6)", rated=True,
    ),
    _leaf(
        "emotion_va_intensity_score", va_intensity_score, None,
        "how close the feelings named are to those felt, and how strong",
        "like emotion_va, with each pair worth 0.7 × similarity + 0.3 × (1 − error/6)", rated=True,
    ),
    Leaf(
        name="emotion_intensity_mae",
        stage="assess",
        node=None,
        value=lambda turn, said: _near_intensity(turn.tags or (), said.tags or ()),
        annotated=lambda turn: bool(_intensities(turn.tags or ())),
        answered=lambda turn, said: float(bool(_intensities(said.tags or ()))),
        reads=("tags",),
        text=PartText(
            "how strong the named feelings were", "1 − emotion_intensity_mae/6",
            "at least one intensity is annotated", "no correct feeling with an intensity",
        ),
    ),
)  # fmt: skip
