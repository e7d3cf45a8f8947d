"""The texts of the world, compiled once: feelings, topics, replies, word lists; and what is held out of them.

A fifth of the templates of every list, and three of the topics, chosen by hash, can be kept apart, so that
somebody who has learnt the grammar can be told from somebody who has learnt to read people.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from attune_data.seeding import digest
from attune_data.simulate.grammar import Template, compile_template

Part = Literal["all", "seen", "unseen"]
PARTS: Final[tuple[Part, ...]] = ("all", "seen", "unseen")
HELD_OUT_TEMPLATES: Final = 0.2
HELD_OUT_TOPICS: Final = 3
GOALS: Final = ("vent", "sort", "decide", "info", "calm")
TEXT: Final = Path(__file__).parent / "text"

T = TypeVar("T")


class Said(NamedTuple):
    """A phrase and its other half: an echo for a reply, an answer to a question, what came of a plan."""

    say: Template
    other: Template


@dataclass(frozen=True, slots=True)
class Family:
    """A family of feelings: PANAS items that share an appraisal."""

    name: str
    sign: int
    """+1 pleasant, -1 unpleasant."""
    named: Mapping[str, tuple[str, ...]]
    """PANAS item -> what a person may call it."""
    claims: tuple[str, ...]
    """Its names in replies."""
    cues: tuple[Said, ...]

    @property
    def items(self) -> tuple[str, ...]:
        """Its PANAS items."""
        return tuple(self.named)


@dataclass(frozen=True, slots=True)
class Subtopic:
    """A situation: its people and things, what may happen, what may be advised."""

    category: str
    name: str
    who: tuple[tuple[str, str], ...]
    """(gender or "", relation)"""
    things: tuple[Template, ...]
    asides: tuple[Template, ...]
    """Side matters (`thing2`)."""
    events: Mapping[str, tuple[Said, ...]]
    """bad, good (openings), worse, better, flat (developments)."""
    plans: tuple[Said, ...]
    questions: Mapping[str, tuple[Said, ...]]
    """ask_fact, ask_reflect."""
    phrases: Mapping[str, tuple[Template, ...]]
    """hard, because_bad, because_good, infer, side, readings, moral."""
    cues: Mapping[str, tuple[Said, ...]]
    asks: Mapping[str, tuple[Template, ...]]
    friend: tuple[str, ...]
    unfit_acts: frozenset[str]
    """Acts that nobody would bear on this topic."""
    own_cues: frozenset[str]
    """Families of feelings whose common cues do not suit the topic: only its own are used."""


@dataclass(frozen=True, slots=True)
class Risk:
    """A mild risk that somebody mentions in passing."""

    say: Template
    echo: Template
    safety: Template


@dataclass(frozen=True)
class Texts:
    """Everything that can be said in one part of the world."""

    families: Mapping[str, Family]
    subtopics: tuple[Subtopic, ...]
    replies: Mapping[str, tuple[Template, ...]]
    """Act (with _bad or _good where it depends) -> frames."""
    lists: Mapping[str, tuple[str, ...]]
    """Fallbacks of replies: tips, subjects, themes."""
    risks: tuple[Risk, ...]
    words: Mapping[str, tuple[Template, ...]]
    """Word lists drawn from at each use."""
    names: Mapping[str, tuple[str, ...]]
    """female, male, when, soon, span."""
    asks: Mapping[str, tuple[Template, ...]]
    asks_good: Mapping[str, tuple[Template, ...]]
    """The same for goals that sound different when all is well."""
    reactions: Mapping[str, tuple[Template, ...]]
    named: tuple[Template, ...]
    """Frames for a feeling that is named."""
    second: tuple[Template, ...]
    """Frames for a second cue."""
    contrast: tuple[Template, ...]
    """Frames for a cue that goes against what happened."""
    emoji: Mapping[str, tuple[str, ...]]


def read_text(name: str) -> dict[str, Any]:
    """One of the TOML files in `text/`."""
    return tomllib.loads((TEXT / name).read_text(encoding="utf-8"))


PEOPLE: Final[Mapping[str, tuple[str, ...]]] = {
    key: tuple(value) for key, value in read_text("people.toml").items()
}
"""Lists of who people may be."""


def _part(items: Sequence[T], part: Part, key: Any, share: float) -> tuple[T, ...]:
    """The items of one part, in their order: the held-out ones have the lowest hashes."""
    if part == "all" or len(items) < 3:
        return tuple(items)
    count = max(1, round(share * len(items)))
    held_out = set(sorted(digest(key(item)) for item in items)[:count])
    return tuple(item for item in items if (digest(key(item)) in held_out) == (part == "unseen"))


def texts(templates: Part = "all", topics: Part = "all") -> Texts:
    """The texts with these parts of templates and topics, compiled once however they are asked for."""
    return _compiled(templates, topics)


@cache
def _compiled(templates: Part, topics: Part) -> Texts:

    def kept(entries: Sequence[str]) -> tuple[str, ...]:
        return _part(entries, templates, str, HELD_OUT_TEMPLATES)

    def phrases(entries: Sequence[str]) -> tuple[Template, ...]:
        return tuple(map(compile_template, kept(entries)))

    def pairs(entries: Iterable[str]) -> tuple[Said, ...]:
        return tuple(Said(*map(compile_template, entry.split(" => "))) for entry in kept(tuple(entries)))

    raw = [read_text(f"topics/{path.name}") for path in sorted((TEXT / "topics").glob("*.toml"))]
    shares = HELD_OUT_TOPICS / len(raw)
    chosen = _part(raw, topics, lambda topic: topic["category"], shares)
    feelings, words, shared, replies = map(
        read_text, ("feelings.toml", "words.toml", "person.toml", "replies.toml")
    )
    families = {
        name: Family(name, family["sign"], {item: tuple(said) for item, said in family["named"].items()},
                     tuple(family["claims"]), pairs(family["cues"]))
        for name, family in feelings.items()
    }  # fmt: skip
    risks = tuple(
        Risk(*(compile_template(risk[key]) for key in ("say", "echo", "safety")))
        for risk in replies.pop("risks")
    )
    lists = {key: tuple(replies.pop(key)) for key in ("tips", "subjects", "themes")}
    fixed = ("female", "male", "when", "soon", "span")
    return Texts(
        families=families,
        subtopics=tuple(
            _subtopic(topic, sub, phrases, pairs) for topic in chosen for sub in topic["subtopic"]
        ),
        replies={act: phrases(frames) for act, frames in replies.items()},
        lists=lists,
        risks=risks,
        words={key: tuple(map(compile_template, words[key])) for key in words if key not in fixed},
        names={key: tuple(words[key]) for key in fixed},
        asks={goal: phrases(shared["asks"][goal]) for goal in GOALS},
        asks_good={goal: phrases(asks) for goal, asks in shared["asks_good"].items()},
        reactions={key: phrases(entries) for key, entries in shared["reactions"].items()},
        **{key: phrases(shared[key]) for key in ("named", "second", "contrast")},
        emoji={key: tuple(entries) for key, entries in shared["emoji"].items()},
    )


def _small(question: str) -> str:
    """A question as it stands inside a sentence; a frame's {Question} gives the capital back."""
    return question[0].lower() + question[1:]


def _subtopic(topic: dict[str, Any], sub: dict[str, Any], phrases: Any, pairs: Any) -> Subtopic:
    def who(entry: str) -> tuple[str, str]:
        return (entry[0], entry[3:]) if entry[1:3] == ": " else ("", entry)

    plain = ("because_bad", "because_good", "infer", "side", "readings", "moral")
    return Subtopic(
        category=topic["category"],
        name=sub["name"],
        who=tuple(map(who, sub["who"])),
        things=tuple(map(compile_template, sub["thing"])),
        asides=tuple(map(compile_template, sub["thing2"])),
        events={key: pairs(sub[key]) for key in ("bad", "good", "worse", "better", "flat")},
        plans=pairs(sub["plans"]),
        questions={
            "ask_fact": pairs(map(_small, [*topic["ask_fact"], *sub["ask_fact"]])),
            "ask_reflect": pairs(map(_small, topic["ask_reflect"])),
        },
        phrases={key: phrases(topic[key]) for key in plain} | {"hard": phrases(sub["hard"])},
        cues={family: pairs(entries) for family, entries in topic["cues"].items()},
        asks={goal: phrases(entries) for goal, entries in topic["asks"].items()},
        unfit_acts=frozenset(topic.get("unfit_acts", ())),
        own_cues=frozenset(topic.get("own_cues", ())),
        friend=tuple(topic.get("friend", ("my friend", "my mate", "my neighbour", "my cousin"))),
    )
