"""Yes/no judgements: what the OM did (OM) and what the HP would have wanted (HP).

Only yes/no truths count. In the canonical reading an answer that is missing or `na` counts as "no";
the strict reading counts it as wrong. Source: AttuneBench v1.0, Binary OM / HP Accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from attune_rewards.predictions import YesNo

K = TypeVar("K", str, int)
TruthPairs = Sequence[tuple[str, YesNo]]
"""(question id, true answer) of every judgement with a yes/no truth, in the file's order."""


def accuracy(truth: TruthPairs, answers: Mapping[str, str]) -> float:
    """Share of questions answered right, a missing answer counting as "no"; in [0, 1].

    Judgements without any yes/no truth: 0.0 (as the benchmark has it). Callers give turns without any
    judgement their own value.
    """
    if not truth:
        return 0.0
    return sum((answers.get(question) == "yes") == (want == "yes") for question, want in truth) / len(truth)


def strict_accuracy(truth: TruthPairs, answers: Mapping[str, str]) -> float:
    """Share of questions answered right, a missing answer counting as wrong; `truth` not empty."""
    return right_share(truth, answers)


def right_share(wanted: Sequence[tuple[K, str]], answers: Mapping[K, str]) -> float:
    """Share of (key, wanted answer) pairs that `answers` holds; `wanted` not empty."""
    hits, given = 0, answers.get  # a plain loop: nothing shorter is as fast, and every reward runs it
    for key, want in wanted:
        if given(key) == want:
            hits += 1
    return hits / len(wanted)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of yes/no outcomes, "yes" being positive, and what follows from them."""

    tp: int
    tn: int
    fp: int
    fn: int

    @property
    def accuracy(self) -> float:
        """Share right; 0 without any question."""
        return _ratio(self.tp + self.tn, self.tp + self.tn + self.fp + self.fn)

    @property
    def precision(self) -> float:
        """Share of predicted yes that is true; 0 without any."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of true yes that is found; 0 without any."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where both are 0."""
        return _ratio(2 * self.precision * self.recall, self.precision + self.recall)

    @property
    def mcc(self) -> float:
        """Matthews correlation coefficient, -1 to 1; 0 where a margin is empty."""
        margins = (self.tp + self.fp) * (self.tp + self.fn) * (self.tn + self.fp) * (self.tn + self.fn)
        return (self.tp * self.tn - self.fp * self.fn) / math.sqrt(margins) if margins > 0 else 0.0

    def as_dict(self) -> dict[str, float]:
        """Counts and ratios under the names of the official score files."""
        return {
            "tp": self.tp, "tn": self.tn, "fp": self.fp, "fn": self.fn,
            "accuracy": self.accuracy, "precision": self.precision, "recall": self.recall,
            "f1": self.f1, "mcc": self.mcc,
        }  # fmt: skip


def pooled(turns: Iterable[tuple[TruthPairs, Mapping[str, str]]]) -> Confusion:
    """Counts over all questions of several turns, a missing answer counting as "no"."""
    counts = {(True, True): 0, (False, False): 0, (False, True): 0, (True, False): 0}
    for truth, answers in turns:
        for question, want in truth:
            counts[want == "yes", answers.get(question) == "yes"] += 1
    return Confusion(
        tp=counts[True, True], tn=counts[False, False], fp=counts[False, True], fn=counts[True, False]
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
