"""Which reply a person prefers: a utility per question, and a Bradley-Terry choice with known noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from attune_data.constants import RESPONSES, ResponseName, Side
from attune_data.simulate.constructs import match, off_key
from attune_data.simulate.draws import squash
from attune_data.simulate.replies import Reply
from attune_data.simulate.story import Story

COMMON: Final = ("B1", "B3", "B4", "B6", "B11", "B12", "B13", "B15", "B19", "B502", "B505")
"""Constructs that most replies could show: both their presence and their absence count."""
RARE: Final = (
    "B14", "B16", "B206", "B207", "B310", "B311", "B313", "B315", "B316", "B406", "B408", "B503", "B504",
)  # fmt: skip
"""Constructs that count only when present."""
HALO: Final = 0.33
"""Standard deviation of the noise that a reply shares across all questions of a turn."""
OWN: Final = 0.25
"""Utility added to the reply that was actually received."""

# The weights of each question beside the general utility; `match`, `length` and `jars` are not constructs.
QUESTIONS: Final[Mapping[str, Mapping[str, float]]] = {
    "PW1": {"B1": 1.0, "B15": 1.0, "match": 1.5},
    "PW2": {"B4": 1.6, "B504": 0.8, "B7": 0.4},
    "PW3": {"B6": -1.5, "match": 1.0},
    "PW4": {"B19": 1.2, "B1": 0.8},
    "PW5": {"B15": 1.0, "B310": -1.0, "jars": -1.2},
    "PW6": {"B13": 1.0, "B11": -1.0, "length": -0.5},
    "PW7": {"B11": 1.5, "B316": 0.8, "B310": -1.0},
    "PW8": {"B505": 0.8, "B11": -0.8, "B14": -0.6, "B316": 0.5},
    "PW9": {"B11": -1.2, "B502": -0.5, "B13": -0.3},
    "PW10": {"B19": 1.2, "B505": -0.5, "jars": -0.8},
    "PW11": {"B15": 0.8, "jars": -1.4, "B19": 0.5},
    "PW12": {"B17": 1.6, "B18": 1.2},
    "PW13": {},
    "PW14": {"B16": 1.6, "B406": 0.8, "B408": -1.2},
    "PW15": {"length": -1.2, "B11": -0.4},
    "PW16": {"jars": -0.5},
}
PAIRS: Final[tuple[tuple[ResponseName, ResponseName], ...]] = (
    ("original", "alternate"), ("original", "human"), ("alternate", "human"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Appeal:
    """The appeal of one reply."""

    utility: float
    features: Mapping[str, float]
    halo: float
    """N(0, HALO), shared by the turn's questions."""


_NOISE: Final = tuple(((heads - 32) / 4.0, math.comb(64, heads) / 2.0**64) for heads in range(65))
"""N(0, 1) approximated by 64 coin flips: (value, probability)."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One choice between two replies."""

    question: str
    a: ResponseName
    b: ResponseName
    winner: Side
    advantage: float
    """γ·(V_A - V_B): by how much the person prefers A, without the noise."""
    gain: float
    """γ"""

    @property
    def probability_a(self) -> float:
        """Probability that A wins: the mean of σ(advantage + noise) over the noise of the two halos."""
        spread = self.gain * HALO * math.sqrt(2.0)
        return math.fsum(weight * squash(self.advantage + spread * value) for value, weight in _NOISE)


def appeal(
    story: Story,
    reply: Reply,
    constructs: Mapping[str, bool | None],
    wish: Mapping[str, float],
    *,
    own: bool,
) -> Appeal:
    """Appeal of a reply: 0.55·(Σ wish·(done - ½) + Σ wish·done(rare)) + 0.5·match - length - jarring."""
    right, jars = match(story, reply), off_key(story, reply)
    length = (reply.text.count(" ") - 54) / 30  # words minus 55
    terse = story.person.typing.register == "terse"
    utility = 0.5 * right - 0.22 * length * (1.4 if terse else 1.0) - 0.5 * jars + OWN * own
    for construct in COMMON:
        utility += 0.55 * wish[construct] * ((1.0 if constructs[construct] else 0.0) - 0.5)
    for construct in RARE:
        if constructs[construct]:
            utility += 0.55 * wish[construct]
    features = {key: 1.0 if value else 0.0 for key, value in constructs.items()}
    features |= {"match": right, "length": length, "jars": jars}
    return Appeal(utility, features, HALO * story.draws.normal())


def chosen_questions(story: Story) -> list[str]:
    """Draw the questions of a turn: general, and three of PW1-PW16 that suit the moment."""
    message = story.message
    weights = dict.fromkeys(QUESTIONS, 1.0) | {"PW12": 6.0 if message.risk else 0.0}
    weights |= {"PW2": 2.0 if len(story.mood.tags) > 1 else 0.5, "PW14": 2.0 if message.reaction else 0.5}
    picked = ["general"]
    for _ in range(3):
        picked.append(story.draws.weighted(weights))
        weights[picked[-1]] = 0.0
    return picked


def value(question: str, of: Appeal) -> float:
    """The value of a reply to the person with regard to one question."""
    if question == "general":
        return of.utility
    looked_at = QUESTIONS[question].items()
    return 0.55 * of.utility + 0.6 * math.fsum(weight * of.features[name] for name, weight in looked_at)


def compare(story: Story, questions: list[str], appeals: Mapping[ResponseName, Appeal]) -> list[Comparison]:
    """Draw all choices of a turn, with random sides.

    A wins with σ(γ·(V_A - V_B) + γ·(ε_A - ε_B)).
    """
    draws, gain, out = story.draws, story.level.gain, []
    for question in questions:
        values = {name: value(question, appeals[name]) for name in RESPONSES}
        for first, second in draws.shuffled(PAIRS):
            a, b = (first, second) if draws.yes(0.5) else (second, first)
            difference = gain * (values[a] - values[b])
            noisy = difference + gain * (appeals[a].halo - appeals[b].halo)
            winner: Side = "A" if draws.yes(squash(noisy)) else "B"
            out.append(Comparison(question, a, b, winner, difference, gain))
    return out
