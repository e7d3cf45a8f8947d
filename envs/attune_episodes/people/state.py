"""The state of a played person: decided by a program, moved by what the replies did.

Three numbers and what has been wanted and got. Every function is pure: what is drawn is drawn by the hash of
card, seed, turn and what it is for, so that the same place has the same luck whatever was replied before. The
tables are in `table.toml`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import erf, exp, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal

from attune_data.format.affect import EMOTIONS, ITEMS, POLARITY, Item
from attune_data.format.constants import BINARY_BRANCHES, BRANCHES, Q2_OPTIONS, Q3_OPTIONS, Answer
from attune_data.jsonio import read_text
from attune_episodes.people.cards import GOALS, SHOWS, Card, attitudes
from attune_episodes.people.draws import Draws
from attune_rewards.metrics.draft import ANSWERS as ANSWERS
from attune_rewards.metrics.draft import GIVES_IN as GIVES_IN
from attune_rewards.predictions import Tag, YesNo

Read = Mapping[str, YesNo]
"""Question -> what the reader says that a reply did; also `ANSWERS` and `GIVES_IN`."""
Wishes = Mapping[str, Answer]
"""Question -> whether the person wants it of the next reply; na where it does not apply."""
CLARITY: Final = dict(zip(("clear", "implied", "mixed", "unclear"), Q2_OPTIONS, strict=True))
"""Short name -> how clear the person's feelings were to themselves (Q2)."""
FIT: Final = dict(zip(("very", "mostly", "mixed", "off"), Q3_OPTIONS, strict=True))
"""Short name -> how well the whole conversation fitted (Q3), best first."""
NEEDS: Final = {"B505": "B13", "B310": "B11", "B313": "B11", "B316": "B11", "B408": "B11"}
"""Question -> another one that is yes wherever this one is; bad advice, for example, is advice."""
_LATER: Final = ("B5", "B16", "B406", "B408")
"""Questions about earlier turns; they do not apply to the first."""
_RISK: Final = ("B17", "B18")
_BRANCH: Final = dict(zip(("perceiving", "using", "understanding", "regulating"), BRANCHES, strict=True))


@dataclass(frozen=True)
class Past:
    """One turn that has been."""

    tags: tuple[Tag, ...]
    wishes: Wishes
    read: Read


@dataclass(frozen=True)
class State:
    """How a person is before a message: three numbers in [0, 1], and the turns so far."""

    valence: float
    arousal: float
    trust: float
    past: tuple[Past, ...] = ()

    @property
    def turn(self) -> int:
        """The number of the next turn, from 1."""
        return len(self.past) + 1


@dataclass(frozen=True)
class Closing:
    """The person's judgement of the whole conversation, in the short names of goals, clarity and fit."""

    goals: tuple[str, ...]
    clarity: str
    fit: str
    off: tuple[str, ...] = ()
    branches: Mapping[str, int] = field(default_factory=dict)


@cache
def table() -> Mapping[str, Any]:
    """The tables of feelings, wishes and moves; do not change it."""
    return tomllib.loads(read_text(Path(__file__).with_name("table.toml")))


def _draws(card: Card, *what: object) -> Draws:
    return Draws("played", card.id, card.seed, *what)


def first_state(card: Card) -> State:
    """How the person is before the first message."""
    about, draws = attitudes()[card.attitude], _draws(card, "first")
    return State(
        _unit(about["valence"] + 0.05 * draws.normal()),
        _unit(about["arousal"] + 0.05 * draws.normal()),
        _unit(0.5 + 0.08 * draws.normal()),
    )


def feelings(card: Card, state: State) -> tuple[Tag, ...]:
    """The feelings that shift in this turn, strongest first; decided before any text. Up to three."""
    known, draws = table()["feelings"], _draws(card, state.turn, "feelings")
    count = draws.weighted(dict(enumerate(known["tags"])))
    likely = {item.name: _near(card, state, item) for item in ITEMS}
    about = known["intensity"]
    mean = about["mean"] + about["arousal"] * (state.arousal - 0.65)
    tags = []
    for _ in range(count):
        name = draws.weighted(likely)
        del likely[name]
        tags.append(Tag(name, min(7, max(1, round(mean + about["spread"] * draws.normal())))))
    return tuple(sorted(tags, key=lambda tag: -(tag.intensity or 0)))


def shows(card: Card, turn: int) -> bool:
    """Whether what is felt in a turn shows in the message."""
    return _draws(card, turn, "shows").yes(SHOWS[card.openness])


def _near(card: Card, state: State, item: Item) -> float:
    """How likely a feeling is, by its distance from the state and by the person's attitude."""
    known = table()["feelings"]
    reach = known["reach"]
    far = ((item.valence - state.valence) / reach["valence"]) ** 2
    far += ((item.arousal - state.arousal) / reach["arousal"]) ** 2
    liking: float = attitudes()[card.attitude]["feelings"].get(item.name, 0.4)
    seldom: float = known["seldom"].get(item.name, 1.0)
    return liking * seldom * exp(-far / 2)


def conditions(card: Card, state: State, tags: tuple[Tag, ...]) -> set[str]:
    """The conditions that hold in a turn, as named in the table of wishes."""
    last = state.past[-1] if state.past else None
    seen = tags if shows(card, state.turn) else ()  # who keeps a feeling back does not want it named
    sides = {POLARITY[tag.emotion] for tag in seen}
    before = next((past.tags for past in reversed(state.past) if past.tags), ())
    holds = {
        "first": last is None,
        "late": state.turn > 3,
        "felt": bool(seen),
        "several": len(seen) > 1,
        "mixed": len(sides) > 1,
        "felt_named": bool(seen) and card.openness == "names it",
        "hidden": card.openness in ("between the lines", "hardly"),
        "turned": bool(seen and before) and seen[0].emotion not in {tag.emotion for tag in before},
        "low": state.valence < 0.4,
        "angry": any(tag.emotion in ("Irritable", "Hostile") for tag in seen),
        "excited": any(tag.emotion in ("Excited", "Enthusiastic") for tag in seen),
        "questioned": any(past.read.get("B13") == "yes" for past in state.past),
        "assumed": last is not None and last.read.get("B6") == "yes" and last.wishes.get("B6") == "no",
        "missed": last is not None and fit(last.wishes, last.read) < table()["moves"]["expected"],
    }
    return {name for name, so in holds.items() if so} | set(card.goals) | ({card.presses} - {""})


def wishes(card: Card, state: State, tags: tuple[Tag, ...]) -> dict[str, Answer]:
    """Decide what the person wants of the next reply, for every question whose answer they mind.

    Each person has a taste for each kind of question, drawn once; goal, feelings and what has been move it
    over the line. Whether they mind is partly habit, partly this moment. Who does not mind is content with
    what the reply did: the question is not in the result. na depends on the place alone: on the first turn,
    and without a risk, so that no question gives away what is felt.
    """
    here, known = conditions(card, state, tags), table()["minding"]
    mood = known["moment"] * _draws(card, "minds", state.turn).normal()
    rest = sqrt(1 - known["habit"] ** 2 - known["moment"] ** 2)
    found: dict[str, Answer] = {}
    for question in card.asked:
        if (question in _LATER and "first" in here) or (question in _RISK and "urgent" not in card.goals):
            found[question] = "na"
            continue
        minding = known["habit"] * _draws(card, "minds", question).normal() + mood
        minding += rest * _draws(card, "minds", question, state.turn).normal()
        if _below(minding) < _likely("minds", question, here):
            taste = table()["tastes"].get(question, question)
            likely = _likely("wishes", question, here)
            found[question] = "yes" if _draws(card, "taste", taste).yes(likely) else "no"
    for narrow, wide in NEEDS.items():
        if found.get(narrow) == "yes" and found.get(wide) == "no":
            found[narrow] = "no"
    if found.get("B7") == "yes":  # who wants a careful guess does not mind guesses
        found.pop("B6", None)
    if found.get("B11") == "yes" and found.get("B13") == "no":  # advice without being asked anything
        found.pop("B313", None)
    return found


def _below(normal: float) -> float:
    """The share of N(0, 1) below a number."""
    return 0.5 + 0.5 * erf(normal / sqrt(2))


def _likely(name: str, question: str, here: set[str]) -> float:
    """A probability of a table: its base, and what the conditions that hold add."""
    about = table()[name].get(question, {})
    likely: float = sum(more for condition, more in about.items() if condition == "base" or condition in here)
    return likely


def fit(wanted: Wishes, read: Read) -> float:
    """The share of wishes met, of those that apply and were read; 1 if there is none."""
    both = [read[question] == want for question, want in wanted.items() if want != "na" and question in read]
    return sum(both) / len(both) if both else 1.0


def unmet(wanted: Wishes, read: Read) -> list[str]:
    """The questions on which a reply did otherwise than wanted, of those that apply and were read."""
    return [
        question for question, want in wanted.items() if want != "na" and read.get(question, want) != want
    ]


def moved(card: Card, state: State, tags: tuple[Tag, ...], wanted: Wishes, read: Read) -> State:
    """The state after a reply: what was wanted, what was read in it, and a little luck."""
    about, draws = table()["moves"], _draws(card, state.turn, "moved")
    above = fit(wanted, read) - about["expected"]
    change = {
        "trust": about["trust"] * above,
        "valence": about["valence"] * above + about["spread"] * draws.normal(),
        "arousal": -0.1 * above + about["spread"] * draws.normal(),
    }
    wants = {**wanted, ANSWERS: "yes"}
    for question, want in wants.items():
        if want == "na" or question not in read:
            continue
        effects = about["met"] if read[question] == want == "yes" else about["unmet"]
        if read[question] != want or want == "yes":
            for name, more in effects.get(question, {}).items():
                change[name] += more
    most = about["most"]
    change = {name: min(most, max(-most, more)) for name, more in change.items()}
    return replace(
        state,
        valence=_unit(state.valence + change["valence"]),
        arousal=_unit(state.arousal + change["arousal"]),
        trust=_unit(state.trust + change["trust"]),
        past=(*state.past, Past(tags, dict(wanted), dict(read))),
    )


def leaves(card: Card, state: State) -> bool:
    """Whether the conversation is over: all turns have been, or the person has lost trust."""
    return len(state.past) >= card.turns or (state.turn > 2 and state.trust < table()["moves"]["leaves"])


def panas(card: Card, state: State, when: Literal["before", "after"]) -> dict[str, int]:
    """The person's answers to the twenty PANAS items, 1–7."""
    draws, most = _draws(card, "panas", when), max(_near(card, state, item) for item in ITEMS)
    found = {}
    for item in ITEMS:
        strength = (_near(card, state, item) / most) ** 0.4
        aside = 0.5 * _draws(card, "panas", item.name).normal() + 0.4 * draws.normal()
        found[item.name] = min(7, max(1, round(1 + 4.6 * strength + aside)))
    return {name: found[name] for name in EMOTIONS}


def closing(card: Card, state: State) -> Closing:
    """The person's judgement at the end; a reply that gave in to somebody who presses counts against it."""
    about, draws = table()["closing"], _draws(card, "closing")
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


def _unit(value: float) -> float:
    """A number kept in [0, 1], rounded so that every machine writes the same digits."""
    return round(min(1.0, max(0.0, value)), 6)
