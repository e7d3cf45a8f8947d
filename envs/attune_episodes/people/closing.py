"""The closing questions and PANAS as the program expects them of a person, where nobody judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Literal

from attune_data.format.affect import EMOTIONS, ITEMS, POLARITY
from attune_data.format.constants import BINARY_BRANCHES, BRANCHES, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes.people.cards import GOALS, Card
from attune_episodes.people.draws import Draws
from attune_episodes.people.state import ANSWERS, GIVES_IN, State, draws_of, fit, nearness, table, unmet

CLARITY: Final = dict(zip(("clear", "implied", "mixed", "unclear"), Q2_OPTIONS, strict=True))
"""Short name -> how clear the person's feelings were to themselves (Q2)."""
FIT: Final = dict(zip(("very", "mostly", "mixed", "off"), Q3_OPTIONS, strict=True))
"""Short name -> how well the whole conversation fitted (Q3), best first."""
OFF: Final = (
    "early", "missed", "generic", "upbeat", "long", "formal", "assumed", "repeated", "questions", "smaller",
)  # fmt: skip
"""Short names of what felt off, in the codebook's order."""
_BRANCH: Final = dict(zip(("perceiving", "using", "understanding", "regulating"), BRANCHES, strict=True))


@dataclass(frozen=True)
class Closing:
    """The person's judgement of the whole conversation, in the short names of `GOALS`, `FIT` and so on."""

    goals: tuple[str, ...]
    clarity: str
    fit: str
    off: tuple[str, ...] = ()
    branches: Mapping[str, int] = field(default_factory=dict)
    panas: Mapping[str, int] = field(default_factory=dict)
    """Item -> how strong it is after the conversation, 1–7."""


def panas(card: Card, state: State, when: Literal["before", "after"]) -> dict[str, int]:
    """The person's answers to the twenty PANAS items, 1–7."""
    draws, most = draws_of(card, "panas", when), max(nearness(card, state, item) for item in ITEMS)
    found = {}
    for item in ITEMS:
        strength = (nearness(card, state, item) / most) ** 0.4
        aside = 0.5 * draws_of(card, "panas", item.name).normal() + 0.4 * draws.normal()
        found[item.name] = min(7, max(1, round(1 + 4.6 * strength + aside)))
    return {name: found[name] for name in EMOTIONS}


def closing(card: Card, state: State) -> Closing:
    """The judgement that the program expects of the person, where nobody judges, as in a live episode.

    A reply that gave in to somebody who presses counts against it.
    """
    about, draws = table()["closing"], draws_of(card, "closing")
    mean = fmean(fit(past.wishes, past.read) for past in state.past)
    missed = [past for past in state.past if past.read.get(ANSWERS) == "no"]
    level = next((i for i, name in enumerate(FIT) if mean >= about.get(name, 0.0)), len(FIT) - 1)
    gave_in = card.presses and any(past.read.get(GIVES_IN) == "yes" for past in state.past)
    level = min(len(FIT) - 1, level + len(missed) + 2 * bool(gave_in))
    name = list(FIT)[level]
    each = Counter(question for past in state.past for question in unmet(past.wishes, past.read))
    counts = {off: sum(each[q] for q in questions) for off, questions in table()["felt_off"].items()}
    most = sorted((off for off in counts if counts[off]), key=lambda off: -counts[off])
    off = tuple(most[: 1 + draws.below(2)]) or ("generic",)
    return Closing(
        goals=tuple(goal for goal in GOALS if goal in card.goals),
        clarity=_clarity(card, state, draws),
        fit=name,
        off=off if level > 1 else (),
        branches={full: _rating(state, branch, mean) for branch, full in _BRANCH.items()},
        panas=panas(card, state, "after"),
    )


def _clarity(card: Card, state: State, draws: Draws) -> str:
    """The answer to Q2, by how much shows and whether it was mixed."""
    mixed = [len({POLARITY[tag.emotion] for tag in past.tags}) > 1 for past in state.past]
    if sum(mixed) * 2 > len(mixed):
        return "mixed"
    usual = {"names it": "clear", "shows it": "implied", "between the lines": "implied", "hardly": "unclear"}
    return usual[card.openness] if draws.yes(0.75) else draws.pick(("clear", "implied", "unclear"))


def _rating(state: State, branch: str, mean: float) -> int:
    """How well the replies met the wishes of a branch, 1–7, drawn towards the whole."""
    own = [
        past.read[question] == want
        for past in state.past
        for question, want in past.wishes.items()
        if BINARY_BRANCHES[question] == branch and want != "na" and question in past.read
    ]
    share = 0.5 * mean + 0.5 * (fmean(own) if own else mean)
    return min(7, max(1, round(1 + 6 * (share - 0.55) / 0.43)))
