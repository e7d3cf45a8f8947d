"""Answers before and after: PANAS, goals, clarity, fit, branch scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from attune_data.affect import EMOTIONS, POLARITY, panas_record
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
"""Mean fit above which the answer is the first, second or third option."""
FELT_OFF: Final[tuple[tuple[str, str, float], ...]] = (
    ("It gave advice before it understood", "early_advice", 0.3),
    ("It missed what I was feeling", "wrong", 0.7),
    ("It felt generic", "generic", 0.25),
    ("It was too upbeat for the moment", "upbeat", 0.15),
    ("It was too long", "long", 0.5),
    ("It sounded formal or clinical", "clinical", 0.3),
    ("It assumed things I had not said", "assumed", 0.45),
    ("It repeated itself", "repeated", 0.15),
    ("It asked too many questions", "questions", 0.7),
    ("It made my feelings seem smaller", "", 0.35),
)
"""(option, cause, bound): an option of the follow-up in this project's codebook applies if the share of turns
with that cause exceeds the bound; the last one applies if the mean fit is below the negative of its bound."""
BRANCHES: Final[Mapping[str, tuple[float, str]]] = {
    "perceiving": (3.9, "right"), "facilitating": (3.0, "toned"), "understanding": (2.7, "mirrored"),
    "managing": (3.3, "managed"),
}  # fmt: skip
"""Branch -> score of an average reply (perceiving is rated the easiest, understanding the hardest, as
published), and the name of the share of turns that raises it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The state from which the final answers are drawn; the ceiling knows it, but not the noise."""

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
        """Weighted mean of how well the replies fitted, in [-1, 1]; the last one has the most weight."""
        return 0.7 * math.fsum(self.fits) / len(self.fits) + 0.3 * self.fits[-1]


def panas_items(
    person: Person,
    positive: float,
    negative: float,
    residuals: Mapping[str, float],
    draws: Draws,
    end: Ending | None = None,
) -> dict[str, int]:
    """Draw the PANAS answers: item -> 1-7, from loading·factor plus an item-specific residual.

    At the end of a conversation, earlier tags raise their items, and some answers repeat those given before.
    """
    items = {}
    for item in EMOTIONS:
        pleasant = POLARITY[item] == "positive"
        loading = LOADINGS[item]
        mean, spread = SCALE_POSITIVE if pleasant else SCALE_NEGATIVE
        own = residuals[item] if end is None else 0.8 * residuals[item] + 0.6 * draws.normal()
        z = loading * (positive if pleasant else negative) + math.sqrt(1.0 - loading * loading) * own
        z += 0.7 * end.traces.get(item, 0.0) if end else 0.0
        answer = rating(mean + spread * z)
        items[item] = end.pre[item] if end and draws.yes(person.inertia) else answer
    return items


def answers(end: Ending, draws: Draws) -> dict[str, Any]:
    """Draw all answers after the conversation: `postPanas` and `conversationWideQuestions` of the record."""
    post = panas_items(end.person, end.positive, end.negative, end.residuals, draws, end)
    x = end.mean_fit + 0.2 * draws.normal()
    fit = Q3_OPTIONS[sum(x <= cut for cut in Q3_CUTS)]
    return {
        "postPanas": panas_record(post),
        "conversationWideQuestions": {
            "fourBranchScores": _branches(end, draws),
            "q1_lookingFor": [Q1_OF[goal] for goal in end.goals],
            "q2_emotionClarity": _clarity(end.shares, draws),
            "q3_modelFit": fit,
            "q3_followUp_whatFeltOff": _felt_off(end, draws) if fit in Q3_NEGATIVE else [],
        },
    }


def _clarity(share: Mapping[str, float], draws: Draws) -> str:
    """Choose the option with the highest noisy score: feelings named, shown, mixed or shifting."""
    scores = (
        1.6 * share["named"] + 0.6 * share["shown"] - 0.3 * share["mixed"] + 0.2,
        0.8 * share["indirect"] + 0.1,
        1.6 * share["mixed"] + 0.18,
        0.6 * share["switched"] + 0.4 * share["hidden"] + 0.05,
    )
    noisy = [score + 0.22 * draws.normal() for score in scores]
    return Q2_OPTIONS[noisy.index(max(noisy))]


def _felt_off(end: Ending, draws: Draws) -> list[str]:
    """Choose the options whose cause applies, and occasionally one without a cause."""
    chosen = [
        text
        for text, cause, least in FELT_OFF
        if draws.yes(0.75 if (end.shares[cause] if cause else -end.mean_fit) > least else 0.06)
    ]
    return chosen or [FELT_OFF[draws.below(len(FELT_OFF))][0]]


def _branches(end: Ending, draws: Draws) -> dict[str, int]:
    lenient, fit = 0.25 * end.person.leniency, end.mean_fit
    return {
        branch: rating(base + 2.0 * fit + 1.8 * end.shares[share] + lenient + 0.7 * draws.normal())
        for branch, (base, share) in BRANCHES.items()
    }
