"""The model's own draft: how near it is to the three responses, and what a judge said of it.

None of these enters the Composite. Source: AttuneBench v1.0, Response Similarity (diagnostic), Draft
Judge and Draft Binary Alignment (reported beside).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from attune_data.affect import SCALE
from attune_data.constants import JUDGE_DIMENSIONS, ResponseName
from attune_rewards.binary import TruthPairs
from attune_rewards.text import jaccard, tokens


@dataclass(frozen=True, slots=True)
class Similarity:
    """Token Jaccard of a draft with each response; None where that response is absent."""

    original: float | None
    alternate: float | None
    human: float | None

    @property
    def best(self) -> float | None:
        """The highest of them; None without any."""
        known = [value for value in (self.original, self.alternate, self.human) if value is not None]
        return max(known, default=None)


def similarity(draft: str, responses: Mapping[ResponseName, str | None]) -> Similarity:
    """Token Jaccard of the draft with every response that is there."""
    words = tokens(draft)

    def near(name: ResponseName) -> float | None:
        text = responses.get(name)
        return None if text is None else jaccard(words, tokens(text))

    return Similarity(near("original"), near("alternate"), near("human"))


def judge_score(scores: Mapping[str, float]) -> float | None:
    """(Mean of the judge's dimensions - 1) / 6, clamped to [0, 1]; None without any dimension."""
    known = [scores[name] for name in JUDGE_DIMENSIONS if name in scores]
    if not known:
        return None
    low, high = SCALE
    return min(1.0, max(0.0, (math.fsum(known) / len(known) - low) / (high - low)))


def binary_alignment(truth: TruthPairs, answers: Mapping[str, str] | None) -> float | None:
    """Share of preferred behaviours that the judge found in the draft as wanted; in [0, 1].

    A missing answer disagrees. None without an assessment or without a yes/no truth.
    """
    if answers is None or not truth:
        return None
    return sum(answers.get(question) == want for question, want in truth) / len(truth)
