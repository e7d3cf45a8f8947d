"""The state of a played person: decided by a program, moved by what the replies did.

Three numbers and what has been wanted and got. Every function is pure: what is drawn is drawn by the hash of
card, seed, turn and what it is for, so that the same place has the same luck whatever was replied before. The
tables are in `table.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import erf, exp, sqrt
from pathlib import Path
from typing import Any, Final

from attune_data.format.affect import ITEMS, POLARITY, Item
from attune_data.format.constants import Answer
from attune_data.jsonio import read_text
from attune_episodes.people.cards import SHOWS, Card, attitudes
from attune_episodes.people.draws import Draws
from attune_rewards.metrics.draft import ANSWERS as ANSWERS
from attune_rewards.metrics.draft import GIVES_IN as GIVES_IN
from attune_rewards.predictions import Tag, YesNo

Read = Mapping[str, YesNo]
"""Question -> what the reader says that a reply did; also `ANSWERS` and `GIVES_IN`."""
Wishes = Mapping[str, Answer]
"""Question -> whether the person wants it of the next reply; na where it does not apply."""
NEEDS: Final = {"B505": "B13", "B310": "B11", "B313": "B11", "B316": "B11", "B408": "B11"}
"""Question -> another one that is yes wherever this one is; bad advice, for example, is advice."""
_LATER: Final = ("B5", "B16", "B406", "B408")
"""Questions about earlier turns; they do not apply to the first."""
_RISK: Final = ("B17", "B18")


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


@cache
def table() -> Mapping[str, Any]:
    """The tables of feelings, wishes and moves; do not change it."""
    return tomllib.loads(read_text(Path(__file__).with_name("table.toml")))


def draws_of(card: Card, *what: object) -> Draws:
    """What is drawn for a person; the same place has the same luck."""
    return Draws("played", card.id, card.seed, *what)


def first_state(card: Card) -> State:
    """How the person is before the first message."""
    about, draws = attitudes()[card.attitude], draws_of(card, "first")
    return State(
        _unit(about["valence"] + 0.05 * draws.normal()),
        _unit(about["arousal"] + 0.05 * draws.normal()),
        _unit(0.5 + 0.08 * draws.normal()),
    )


def feelings(card: Card, state: State) -> tuple[Tag, ...]:
    """The feelings that shift in this turn, strongest first; decided before any text. Up to three."""
    known, draws = table()["feelings"], draws_of(card, state.turn, "feelings")
    count = draws.weighted(dict(enumerate(known["tags"])))
    likely = {item.name: nearness(card, state, item) for item in ITEMS}
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
    return draws_of(card, turn, "shows").yes(SHOWS[card.openness])


def nearness(card: Card, state: State, item: Item) -> float:
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
    mood = known["moment"] * draws_of(card, "minds", state.turn).normal()
    rest = sqrt(1 - known["habit"] ** 2 - known["moment"] ** 2)
    found: dict[str, Answer] = {}
    for question in card.asked:
        if (question in _LATER and "first" in here) or (question in _RISK and "urgent" not in card.goals):
            found[question] = "na"
            continue
        minding = known["habit"] * draws_of(card, "minds", question).normal() + mood
        minding += rest * draws_of(card, "minds", question, state.turn).normal()
        if _below(minding) < _likely("minds", question, here):
            taste = table()["tastes"].get(question, question)
            likely = _likely("wishes", question, here)
            found[question] = "yes" if draws_of(card, "taste", taste).yes(likely) else "no"
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
    about, draws = table()["moves"], draws_of(card, state.turn, "moved")
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


def _unit(value: float) -> float:
    """A number kept in [0, 1], rounded so that every machine writes the same digits."""
    return round(min(1.0, max(0.0, value)), 6)
