"""The conversation-wide questions: goals (Q1), clarity (Q2), fit (Q3) and what felt off.

Options and texts are compared without regard to case and surrounding white space. Source: AttuneBench v1.0,
Q1 Goals, Q2 Clarity, Q3 Fit, Q3 Follow-up. All scores are in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from attune_data.format.constants import Q3_OPTIONS
from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.metric import PORT, ReflectMetric
from attune_rewards.metrics.text import jaccard, tokens
from attune_rewards.predictions import Reflect
from attune_rewards.truth import ConversationTruth

PLACE: Final = 5
"""Among the topics, in score files and tables."""

FUZZY_FLOOR = 0.3
"""Token Jaccard similarity below which two texts count as different answers."""

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
    """1 if equal or both absent, otherwise 0."""
    if truth is None or predicted is None:
        return float(truth is predicted)
    return float(truth == predicted or _fold(truth) == _fold(predicted))


def fit_distance(truth: str | None, predicted: str | None) -> int:
    """Number of steps between two Q3 options, 0–3; 3 if one is unknown, 0 if both are."""
    want = _Q3_RANK.get(_fold(truth)) if truth is not None else None
    got = _Q3_RANK.get(_fold(predicted)) if predicted is not None else None
    if want is None or got is None:
        return 0 if want is got else len(Q3_OPTIONS) - 1
    return abs(want - got)


def fuzzy_f1(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 over free texts: an item earns 1 for an exact match, otherwise its best token Jaccard if >= 0.3.

    Precision is the mean over predicted items, recall over true ones. 1 if both are empty, 0 if one is.
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


def _jaccard(truth: ConversationTruth, said: Reflect) -> float:
    return set_jaccard(truth.q1 or (), said.q1 or ())


def _f1(truth: ConversationTruth, said: Reflect) -> float:
    return set_f1(truth.q1 or (), said.q1 or ())


_EMPTY: Final = "1 if both are empty, 0 if one is"
_ABSENT: Final = "1 if both are absent, 0 if one is"

METRICS: Final = (
    ReflectMetric(
        "q1_looking_for_score", "the overlap chosen with `--q1-overlap`; q1_looking_for_jaccard by default",
        _jaccard, by_setting={"f1": _f1}, edges=_EMPTY, label="Goals (Q1)", role="input",
    ),
    ReflectMetric(
        "q1_looking_for_jaccard", "intersection / union of the option sets", _jaccard, edges=_EMPTY
    ),
    ReflectMetric(
        "q1_looking_for_f1", "2 × shared options / sum of the set sizes", _f1, edges=_EMPTY, source=PORT
    ),
    ReflectMetric(
        "q2_emotion_clarity_match", "1 for an exact match, ignoring case, else 0",
        lambda truth, said: exact_match(truth.q2, said.q2), edges=_ABSENT,
        label="Clarity of feelings (Q2)", role="input",
    ),
    ReflectMetric(
        "q3_model_fit_match", "1 for an exact match, ignoring case, else 0",
        lambda truth, said: exact_match(truth.q3, said.q3), edges=_ABSENT,
        label="Fit of the assistant (Q3)", role="input",
    ),
    ReflectMetric(
        "q3_model_fit_ordinal_distance", "steps between the two options",
        lambda truth, said: fit_distance(truth.q3, said.q3),
        better="lower", high=len(Q3_OPTIONS) - 1, edges="3 if one is unknown, 0 if both are",
        label="Distance in fit of the assistant (Q3, 0-3)", role="diagnostic", harness=False,
    ),
    ReflectMetric(
        "q3_follow_up_score", "F1 of fuzzy precision and recall",
        lambda truth, said: fuzzy_f1(truth.q3_follow_up or (), said.q3_follow_up or ()),
        edges=_EMPTY, label="What felt off (Q3 follow-up)", role="input",
    ),
)  # fmt: skip


def _leaf(
    field: str, score: Callable[[Any, Any], float], canonical: str, text: PartText, name: str = ""
) -> Leaf[ConversationTruth, Reflect]:
    """Make a leaf that compares a field of the truth with the field of that name in the answer."""

    def value(truth: ConversationTruth, said: Reflect) -> float:
        given = getattr(said, field)
        return 0.0 if given is None else score(getattr(truth, field), given)

    return Leaf(
        name=name or field,
        stage="reflect",
        node=None if name else "questions",
        value=value,
        annotated=lambda truth: getattr(truth, field) is not None,
        answered=lambda truth, said: float(getattr(said, field) is not None),
        reads=(field,),
        canonical=None if name else canonical,
        text=text,
    )


_SAME: Final = "1 for the same option, else 0"
LEAVES: Final = (
    _leaf("q1", set_jaccard, "q1_looking_for_score", PartText(
        "what the person was looking for", "intersection / union of the options; 1 if both are empty",
        "annotated", "no valid list of options",
    )),
    _leaf("q2", exact_match, "q2_emotion_clarity_match", PartText(
        "how clear the feelings were", _SAME, "annotated", "no valid option",
    )),
    _leaf("q3", exact_match, "q3_model_fit_match", PartText(
        "how well the assistant fitted", _SAME, "annotated", "no valid option",
    )),
    _leaf("q3_follow_up", fuzzy_f1, "q3_follow_up_score", PartText(
        "what felt off",
        "fuzzy F1: 1 for an exact match, else the best token overlap if at least 0.3; 1 if both are empty",
        "annotated; an empty list is an annotation", "no valid list",
    )),
    _leaf("q1", set_f1, "", PartText(
        "what the person was looking for, by F1", "2 × shared options / sum of the set sizes", "annotated",
        "no valid list",
    ), "q1_looking_for_f1"),
    _leaf("q3", lambda true, said: 1 - fit_distance(true, said) / 3, "", PartText(
        "how well the assistant fitted, with credit for near options", "1 − (steps between the options)/3",
        "annotated", "no valid option",
    ), "q3_model_fit_ordinal_distance"),
)  # fmt: skip
