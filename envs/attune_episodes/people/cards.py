"""Cards: who is played and what about, drawn before anything is written.

A plan is a file of JSON lines, one card each, to read, to edit, or to make elsewhere:

    cards = plan(500, seed=7)
    write_plan(cards, "plan.jsonl")

Shares are dealt, not tossed. Topics, circumstances and people of one part are in no other, whatever the seed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.format.constants import BINARY_IDS, Q1_OPTIONS
from attune_data.jsonio import parse_json, read_text
from attune_episodes.people.draws import Draws, cycled, dealt
from attune_episodes.people.persons import people, pools

GOALS: Final = dict(
    zip(("listen", "sort", "decide", "urgent", "advice", "calm", "other"), Q1_OPTIONS, strict=True)
)
"""Short name -> what a person is looking for (Q1)."""
PARTS: Final = {"train": 0.7, "dev": 0.1, "test": 0.2}
"""Part -> its share of the subtopics of each category, of the circumstances, and of the cards."""
TURNS: Final = {3: 0.1, 4: 0.22, 5: 0.3, 6: 0.24, 7: 0.1, 8: 0.04}
GOAL_SHARES: Final = {
    "listen": 0.23, "sort": 0.26, "decide": 0.21, "urgent": 0.03, "advice": 0.13, "calm": 0.12, "other": 0.02,
}  # fmt: skip
SECOND_GOAL: Final = 0.15
OPENNESS: Final = {"names it": 0.2, "shows it": 0.45, "between the lines": 0.25, "hardly": 0.1}
"""How much of what is felt shows; `SHOWS` has the share of turns."""
SHOWS: Final = {"names it": 1.0, "shows it": 0.85, "between the lines": 0.55, "hardly": 0.3}
"""Over all people, three turns in four show what is felt."""
PRESSES: Final = {"": 21, "agree": 1, "harmful": 1, "boundary": 1}
"""Whether the person presses for something that should not be given; one in eight does."""
QUIRKS: Final = 0.25
"""Share of people with a quirk of writing."""
EXTENDED: Final = 0.7
"""Share of the extended yes/no questions asked of a person, beside the core ones."""
RISK: Final = "PW12"
"""A comparison about risk, which is not drawn."""


@dataclass(frozen=True)
class Card:
    """A person and a matter, as planned; everything that happens later is drawn from its `id` and `seed`."""

    id: str
    seed: int
    part: str
    person: Mapping[str, Any]
    """The benchmark's profile in short: id, age, gender, place, language, english, education, work, diagnoses
    and scores."""
    category: str
    subtopic: str
    circumstance: str
    """What goes on around the matter; none is a feeling."""
    attitude: str
    """The benchmark's attitude towards the topic."""
    goals: tuple[str, ...]
    """What the person is looking for (Q1): keys of `GOALS`."""
    openness: str
    quirk: str
    """A habit of writing; "" for most people."""
    presses: str
    """`agree`, `harmful` or `boundary`; "" for most people."""
    turns: int
    asked: tuple[str, ...]
    """The yes/no questions asked about every reply, whatever is felt and done."""
    compared: tuple[tuple[str, ...], ...]
    """The three comparison questions of each turn, beside the general one."""
    style: tuple[str, ...] = ()
    """Real messages of one person, as examples of style."""
    matter: str = ""
    """What it is about, in a few plain sentences; "" until it is written."""

    def to_line(self) -> str:
        """The card as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_record(cls, record: object, place: str = "card") -> Card:
        """The card in a JSON object; raises DataError naming the place and what is wrong there."""
        names = [one.name for one in fields(cls)]
        optional = {"style", "matter"}
        if not isinstance(record, dict):
            raise _wrong(place, "", record, "an object with a card")
        for name in names:
            if name not in record and name not in optional:
                raise _wrong(place, name, None, "this field")
        for name in record:
            if name not in names:
                raise _wrong(place, name, name, f"one of {', '.join(names)}")
        card = cls(**{name: _frozen(value) for name, value in record.items()})
        for name, fine, expected in (
            ("id", 0 < len(str(card.id)) <= 100, "a short text"),
            ("person", isinstance(card.person, dict) and "id" in card.person, "an object with an id"),
            ("attitude", card.attitude in attitudes(), f"one of {', '.join(attitudes())}"),
            ("goals", bool(card.goals) and set(card.goals) <= set(GOALS), f"some of {', '.join(GOALS)}"),
            ("openness", card.openness in SHOWS, f"one of {', '.join(SHOWS)}"),
            ("presses", card.presses in PRESSES, f"one of {', '.join(map(show, PRESSES))}"),
            ("turns", type(card.turns) is int and card.turns > 0, "a number of turns"),
            ("asked", bool(card.asked) and set(card.asked) <= set(BINARY_IDS), "ids of yes/no questions"),
            ("compared", len(card.compared) == card.turns, "three comparison questions a turn"),
        ):  # fmt: skip
            if not fine:
                raise _wrong(place, name, record.get(name), expected)
        return card


def _wrong(place: str, name: str, found: object, expected: str) -> DataError:
    text = "nothing" if found is None else show(found)
    return DataError(Problem(place, name, text, expected, "correct the line, or plan again"))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@cache
def attitudes() -> Mapping[str, Any]:
    """Attitude -> its share and the state in which such a person begins; do not change it."""
    found: Mapping[str, Any] = tomllib.loads(read_text(Path(__file__).with_name("table.toml")))["attitudes"]
    return found


def plan(n: int, seed: int, style: Sequence[Sequence[str]] = ()) -> list[Card]:
    """Draw `n` cards.

    Args:
        n: the number of conversations.
        seed: another seed plans other people.
        style: messages, those of each person together; by default, those of `sample`.

    Every part gets its share. Cards of two plans have different ids unless the seed is the same.
    """
    style = style or sample_style()
    cards: list[Card] = []
    for part, count in _counts(n).items():
        draws = Draws("people", seed, part)
        topics = _topics(draws, part, count)
        circumstances = cycled(draws, _of_part(pools()["matter"]["circumstances"], part, "matter"), count)
        moods = dealt(draws, {name: about["share"] for name, about in attitudes().items()}, count)
        goals, seconds = dealt(draws, GOAL_SHARES, count), dealt(draws, GOAL_SHARES, count)
        openness, presses = dealt(draws, OPENNESS, count), dealt(draws, PRESSES, count)
        lengths = dealt(draws, TURNS, count)
        persons = people(draws, f"{seed}-{part}", count)
        for i, (category, subtopic) in enumerate(topics):
            own = Draws("card", seed, part, i)
            wanted = [goals[i], *([seconds[i]] if own.yes(SECOND_GOAL) else [])]
            cards.append(
                Card(
                    id=f"p{seed}-{part}-{i + 1:04}", seed=seed, part=part, person=persons[i],
                    category=category, subtopic=subtopic, circumstance=circumstances[i],
                    attitude=moods[i], goals=tuple(dict.fromkeys(wanted)), openness=openness[i],
                    quirk=own.pick(pools()["person"]["habits"]) if own.yes(QUIRKS) else "",
                    presses=presses[i], turns=lengths[i], asked=_asked(own), style=_style(own, style),
                    compared=tuple(_compared(own) for _ in range(lengths[i])),
                )
            )  # fmt: skip
    return cards


def sample_style() -> list[list[str]]:
    """The messages of each person of the sample that ships with the package."""
    from attune_data import load

    return [[turn.user_message for turn in conversation.turns] for conversation in load("sample")]


def read_plan(path: Path) -> list[Card]:
    """Read the cards of a plan; raises DataError for a line that is none, or an id that is there twice."""
    found: dict[str, Card] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        card = Card.from_record(parse_json(line, place), place)
        if card.id in found:
            raise _wrong(place, "id", card.id, "each id once")
        found[card.id] = card
    if not found:
        raise _wrong(str(path), "", None, "at least one card")
    return list(found.values())


def plan_text(cards: Iterable[Card]) -> str:
    """A plan as JSON lines."""
    return "".join(card.to_line() + "\n" for card in cards)


def _counts(n: int) -> dict[str, int]:
    """Part -> its number of cards; what is left over is for training."""
    counts = {part: int(n * share + 1e-9) for part, share in PARTS.items()}
    counts["train"] += n - sum(counts.values())
    return counts


def _of_part(items: Sequence[str], part: str, name: str) -> list[str]:
    """The items of a part; the same for every seed, so that two plans do not mix their parts."""
    order = Draws("parts", name).shuffled(items)
    ends, done = {}, 0.0
    for one, share in PARTS.items():
        ends[one] = (round(done * len(order)), round((done + share) * len(order)))
        done += share
    first, last = ends[part]
    return order[first:last]


def _topics(draws: Draws, part: str, count: int) -> list[tuple[str, str]]:
    """Category and subtopic of each card: all categories before any comes again, and so the subtopics."""
    subtopics: Mapping[str, Sequence[str]] = pools()["subtopics"]
    categories = cycled(draws, list(subtopics), count)
    each = {
        category: iter(cycled(draws, _of_part(known, part, category), categories.count(category)))
        for category, known in subtopics.items()
    }
    return [(category, next(each[category])) for category in categories]


def _asked(draws: Draws) -> tuple[str, ...]:
    """The core questions and most of the extended ones, in the benchmark's order."""
    return tuple(one for one in BINARY_IDS if int(one[1:]) <= 20 or draws.yes(EXTENDED))


def _compared(draws: Draws) -> tuple[str, ...]:
    known = [f"PW{n}" for n in range(1, 17) if f"PW{n}" != RISK]
    return tuple(sorted(draws.some(known, 3), key=known.index))


def _style(draws: Draws, style: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Two or three messages of one person."""
    messages = draws.pick(style)
    return tuple(messages[i] for i in sorted(draws.some(range(len(messages)), 2 + draws.below(2))))
