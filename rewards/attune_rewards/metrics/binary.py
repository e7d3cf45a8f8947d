"""Yes/no judgements: what the OM did (OM) and what the HP would have wanted (HP).

Only yes/no truths count. In the canonical variant an answer that is missing or `na` counts as "no";
the strict variant counts it as wrong. Source: AttuneBench v1.0, Binary OM / HP Accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeVar

from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.metric import Case, ConversationMetric, Metric, TurnMetric
from attune_rewards.predictions import Assess, Stage, TurnPrediction, YesNo
from attune_rewards.truth import TurnTruth

PLACE: Final = 2
"""Among the topics, in score files and tables."""

K = TypeVar("K", str, int)
TruthPairs = Sequence[tuple[str, YesNo]]
"""(question id, true answer) for every judgement with a yes/no truth, in the file's order."""


def accuracy(truth: TruthPairs, answers: Mapping[str, str]) -> float:
    """Share of questions answered correctly, in [0, 1]; a missing answer counts as "no".

    0.0 if no judgement has a yes/no truth (as in the benchmark). Callers decide the value of turns without
    any judgement.
    """
    if not truth:
        return 0.0
    right = [(answers.get(question) == "yes") == (want == "yes") for question, want in truth]
    return sum(right) / len(right)


def right_share(wanted: Sequence[tuple[K, str]], answers: Mapping[K, str]) -> float:
    """Share of (key, true answer) pairs that `answers` gets right; `wanted` must not be empty."""
    hits, given = 0, answers.get  # a plain loop, because it is the fastest and every reward runs it
    for key, want in wanted:
        if given(key) == want:
            hits += 1
    return hits / len(wanted)


def confusion(tp: int, tn: int, fp: int, fn: int) -> dict[str, float]:
    """Counts of yes/no outcomes ("yes" is positive) and their ratios, named as in official score files.

    A ratio without a denominator is 0, and so is the Matthews correlation if a margin is empty.
    """
    precision, recall = _ratio(tp, tp + fp), _ratio(tp, tp + fn)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return {
        "tp": tp, "tn": tn, "fp": fp, "fn": fn,
        "accuracy": _ratio(tp + tn, tp + tn + fp + fn),
        "precision": precision,
        "recall": recall,
        "f1": _ratio(2 * precision * recall, precision + recall),
        "mcc": (tp * tn - fp * fn) / math.sqrt(margins) if margins > 0 else 0.0,
    }  # fmt: skip


def pooled(turns: Iterable[tuple[TruthPairs, Mapping[str, str]]]) -> dict[str, float]:
    """`confusion` over all questions of several turns; a missing answer counts as "no"."""
    counts = {"tp": 0, "tn": 0, "fp": 0, "fn": 0}
    for truth, answers in turns:
        for question, want in truth:
            said = "yes" if answers.get(question) == "yes" else "no"
            counts[("t" if said == want else "f") + ("p" if said == "yes" else "n")] += 1
    return confusion(**counts)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def given_share(wanted: Sequence[tuple[K, str]], answers: Mapping[K, str]) -> float:
    """Share of (key, true answer) pairs that have any answer; `wanted` is not empty."""
    return sum(key in answers for key, _ in wanted) / len(wanted)


Side = Literal["observed", "preferred"]
_SIDES: Final[tuple[tuple[str, Side, str, str], ...]] = (
    ("om", "observed", "What the reply did (Binary OM", "`observedBehavior`, else `llmValue`"),
    (
        "human",
        "preferred",
        "What was wanted (Binary HP",
        "`preferredBehavior` (even if `na`), else `observedBehavior`",
    ),
)
_ASKED: Final[tuple[tuple[str, Stage], ...]] = (("", "assess"), ("_hp", "assess_hp"))
"""Suffix of metric names -> the stage that asks."""


def _pairs(
    side: Side, stage: Stage, turn: TurnTruth, said: TurnPrediction
) -> tuple[TruthPairs, Mapping[str, YesNo]]:
    """A turn's true answers about what was done (or wanted), and the answers given in one stage."""
    answers = getattr(said, stage)
    return getattr(turn, side), getattr(answers, side) if answers else {}


def _accuracy(side: Side, stage: Stage, turn: TurnTruth, said: TurnPrediction) -> float:
    """A turn without any judgement scores 1 when first asked and 0 when asked again, as in the benchmark."""
    if not turn.has_judgements:
        return 1.0 if stage == "assess" else 0.0
    return accuracy(*_pairs(side, stage, turn, said))


def _pooled(side: Side, stage: Stage, case: Case) -> dict[str, float]:
    return pooled(_pairs(side, stage, turn, said) for turn, said in case.answered)


METRICS: Final[tuple[Metric, ...]] = (
    *(
        TurnMetric(
            f"binary_{name}_accuracy{ending}",
            f"right answers / questions whose truth is yes or no; truth: {truth}"
            + ("; asked again in HP-facing wording" if ending else ""),
            partial(_accuracy, side, stage),
            needs=(stage,),
            edges="a missing answer or `na` counts as no; 0 if no truth is yes or no; "
            f"{0 if ending else 1} if there are no judgements",
            label=f"{title}, asked as the person)" if ending else f"{title})",
            role="diagnostic" if ending else "input",
        )
        for ending, stage in _ASKED
        for name, side, title, truth in _SIDES
    ),
    ConversationMetric(
        "perspective_gap_om_hp",
        "avg_binary_om_accuracy − avg_binary_human_accuracy; above 0 if what was done is predicted better "
        "than what was wanted",
        lambda case: case["avg_binary_om_accuracy"] - case["avg_binary_human_accuracy"],
        group="turn", needs=("assess",), better=None, low=-1.0,
        label="Perspective gap (did − wanted)", role="beside",
    ),
    ConversationMetric(
        "hp_perspective_gap",
        "avg_binary_human_accuracy − avg_binary_human_accuracy_hp; above 0 if HP-facing wording lowers "
        "accuracy",
        lambda case: case["avg_binary_human_accuracy"] - case["avg_binary_human_accuracy_hp"],
        group="turn", needs=("assess", "assess_hp"), better=None, low=-1.0,
    ),
    *(
        ConversationMetric(
            f"pooled_binary_{name}_metrics{ending}",
            "tp, tn, fp, fn (yes is positive), accuracy, precision, recall, f1, mcc, over all answered turns",
            partial(_pooled, side, stage),
            group="turn",
            needs=(stage,),
            low=-1.0,
            high=math.inf,
            edges="a ratio with denominator 0 is 0; a missing answer or `na` counts as no",
        )
        for ending, stage in _ASKED
        for name, side, _, _ in _SIDES
    ),
)  # fmt: skip


def _leaf(name: str, side: Side, canonical: str, what: str) -> Leaf[TurnTruth, Assess]:
    return Leaf(
        name=name,
        stage="assess",
        node="binary",
        value=lambda turn, said: right_share(getattr(turn, side), getattr(said, side)),
        annotated=lambda turn: bool(getattr(turn, side)),
        answered=lambda turn, said: given_share(getattr(turn, side), getattr(said, side)),
        reads=(side,),
        canonical=canonical,
        text=PartText(
            what,
            "right answers / questions with a yes or no",
            "at least one question has a yes or no",
            "each question without an answer",
        ),
    )


LEAVES: Final = (
    _leaf(
        "binary_om", "observed", "avg_binary_om_accuracy",
        "what the recorded reply did, according to the person's yes or no to each question",
    ),
    _leaf(
        "binary_hp", "preferred", "avg_binary_human_accuracy",
        "what the person would have wanted the reply to do",
    ),
)  # fmt: skip
