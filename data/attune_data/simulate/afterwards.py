"""Answers before and after: PANAS, goals, clarity, fit, branch scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from attune_data.affect import EMOTIONS, NEGATIVE, POLARITY, POSITIVE
from attune_data.constants import Q1_OPTIONS, Q2_OPTIONS, Q3_NEGATIVE, Q3_OPTIONS
from attune_data.simulate.draws import Draws, rating
from attune_data.simulate.person import Person

LOADINGS: Final[Mapping[str, float]] = {
    "Proud": 0.57, "Alert": 0.63, "Inspired": 0.67, "Determined": 0.70, "Attentive": 0.52, "Active": 0.61,
    "Excited": 0.68, "Strong": 0.60, "Enthusiastic": 0.75, "Interested": 0.73, "Irritable": 0.55,
    "Ashamed": 0.60, "Nervous": 0.60, "Jittery": 0.60, "Distressed": 0.67, "Afraid": 0.70, "Upset": 0.67,
    "Guilty": 0.59, "Scared": 0.74, "Hostile": 0.52,
}  # fmt: skip
"""PANAS item -> loading on its factor, .52-.75 as in Watson, Clark & Tellegen (1988)."""
SCALE_POSITIVE: Final = (3.9, 1.45)
SCALE_NEGATIVE: Final = (2.1, 1.35)
Q1_OF: Final[Mapping[str, str]] = {
    "vent": Q1_OPTIONS[0], "sort": Q1_OPTIONS[1], "decide": Q1_OPTIONS[2], "info": Q1_OPTIONS[4],
    "calm": Q1_OPTIONS[5],
}  # fmt: skip
Q3_CUTS: Final = (0.42, 0.12, -0.25)
"""Mean fit from which the answer is the first, second, third option."""
FELT_OFF: Final = (
    "It gave advice before it understood",
    "It missed what I was feeling",
    "It felt generic",
    "It was too upbeat for the moment",
    "It was too long",
    "It sounded formal or clinical",
    "It assumed things I had not said",
    "It repeated itself",
    "It asked too many questions",
    "It made my feelings seem smaller",
)
"""The options of the follow-up in this project's codebook."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The state that everything afterwards is drawn from: known to the ceiling, without the noise."""

    person: Person
    positive: float
    negative: float
    traces: Mapping[str, float]
    residuals: Mapping[str, float]
    pre: Mapping[str, int]
    fits: Sequence[float]
    goals: tuple[str, ...]
    shares: Mapping[str, float]
    """Shares over turns: named, shown, indirect, hidden, mixed, switched, right, toned, mirrored, managed,
    early_advice, generic, upbeat, clinical, assumed, repeated, questions, long."""

    @property
    def mean_fit(self) -> float:
        """How well the replies fitted, the last one counting more; in [-1, 1]."""
        return 0.7 * math.fsum(self.fits) / len(self.fits) + 0.3 * self.fits[-1]


def panas_items(
    person: Person,
    positive: float,
    negative: float,
    residuals: Mapping[str, float],
    draws: Draws,
    traces: Mapping[str, float] | None = None,
    before: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Item -> 1-7: loading·factor + what is particular to the item + what tags left behind; or as before."""
    items = {}
    for item in EMOTIONS:
        pleasant = POLARITY[item] == "positive"
        loading = LOADINGS[item]
        mean, spread = SCALE_POSITIVE if pleasant else SCALE_NEGATIVE
        own = residuals[item] if before is None else 0.8 * residuals[item] + 0.6 * draws.normal()
        z = loading * (positive if pleasant else negative) + math.sqrt(1.0 - loading * loading) * own
        z += 0.7 * (traces or {}).get(item, 0.0)
        answer = rating(mean + spread * z)
        items[item] = before[item] if before is not None and draws.yes(person.inertia) else answer
    return items


def panas_record(items: Mapping[str, int]) -> dict[str, Any]:
    """The record of 20 answers and their totals."""
    return {
        "totalPositiveAffect": sum(items[name] for name in POSITIVE),
        "totalNegativeAffect": sum(items[name] for name in NEGATIVE),
        "responses": {name.lower(): items[name] for name in EMOTIONS},
    }


def answers(end: Ending, draws: Draws) -> dict[str, Any]:
    """Everything said afterwards: `postPanas` and `conversationWideQuestions`, as the record has them."""
    post = panas_items(end.person, end.positive, end.negative, end.residuals, draws, end.traces, end.pre)
    fit = _fit(end, draws)
    return {
        "postPanas": panas_record(post),
        "conversationWideQuestions": {
            "fourBranchScores": _branches(end, draws),
            "q1_lookingFor": [Q1_OF[goal] for goal in end.goals],
            "q2_emotionClarity": _clarity(end, draws),
            "q3_modelFit": fit,
            "q3_followUp_whatFeltOff": _felt_off(end, draws) if fit in Q3_NEGATIVE else [],
        },
    }


def _fit(end: Ending, draws: Draws) -> str:
    x = end.mean_fit + 0.2 * draws.normal()
    return Q3_OPTIONS[sum(x <= cut for cut in Q3_CUTS)]


def _clarity(end: Ending, draws: Draws) -> str:
    """Scores of the four options: feelings named, shown, mixed, moving; the best one wins."""
    share = end.shares
    scores = (
        1.6 * share["named"] + 0.6 * share["shown"] - 0.3 * share["mixed"] + 0.2,
        0.8 * share["indirect"] + 0.1,
        1.6 * share["mixed"] + 0.18,
        0.6 * share["switched"] + 0.4 * share["hidden"] + 0.05,
    )
    noisy = [score + 0.22 * draws.normal() for score in scores]
    return Q2_OPTIONS[noisy.index(max(noisy))]


def _felt_off(end: Ending, draws: Draws) -> list[str]:
    """Each option on its cause, and now and then without one."""
    share = end.shares
    fires = (
        share["early_advice"] > 0.3,
        share["right"] < 0.3,
        share["generic"] > 0.25,
        share["upbeat"] > 0.15,
        share["long"] > 0.5,
        share["clinical"] > 0.3,
        share["assumed"] > 0.45,
        share["repeated"] > 0.15,
        share["questions"] > 0.7,
        end.mean_fit < -0.35,
    )
    chosen = [text for text, fire in zip(FELT_OFF, fires, strict=True) if draws.yes(0.75 if fire else 0.06)]
    return chosen or [FELT_OFF[draws.below(len(FELT_OFF))]]


BRANCH_BASE: Final[Mapping[str, float]] = {
    "perceiving": 3.9, "facilitating": 3.0, "understanding": 2.7, "managing": 3.3,
}  # fmt: skip
"""Scores of a middling reply: noticing is judged the easiest, understanding the hardest, as published."""


def _branches(end: Ending, draws: Draws) -> dict[str, int]:
    evidence = {
        "perceiving": end.shares["right"],
        "facilitating": end.shares["toned"],
        "understanding": end.shares["mirrored"],
        "managing": end.shares["managed"],
    }
    lenient, fit = 0.25 * end.person.leniency, end.mean_fit
    return {
        branch: rating(BRANCH_BASE[branch] + 2.0 * fit + 1.8 * share + lenient + 0.7 * draws.normal())
        for branch, share in evidence.items()
    }
