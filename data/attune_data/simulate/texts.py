"""The texts of the world, compiled once: feelings, topics, replies, word lists; and which are held out.

A fifth of the templates of every list, and three of the topics, chosen by hash, can be held out, to
distinguish learning the grammar from learning to read people.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
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
_BEGINNINGS: Final = re.compile(r"^\[[^]]*\]|^[^[]")
"""The words with which a template may begin."""
_MARK: Final = re.compile("(asked|advised): ")
"""Prefix of a reaction that fits only replies that did this."""

T = TypeVar("T")


class Said(NamedTuple):
    """A phrase and its other half: an echo for a reply, an answer to a question, or the outcome of a plan."""

    say: Template
    other: Template


class Risk(NamedTuple):
    """A mild risk that somebody mentions in passing."""

    say: Template
    echo: Template
    safety: Template


class Family(NamedTuple):
    """A family of feelings: PANAS items that share an appraisal."""

    sign: int
    """+1 if pleasant, -1 if unpleasant."""
    named: Mapping[str, Sequence[str]]
    """PANAS item -> words a person may use for it."""
    claims: Sequence[str]
    """Words that replies use for it."""
    cues: tuple[Said, ...]


Frames = Mapping[str, tuple[Template, ...]]
Pairs = Mapping[str, tuple[Said, ...]]


@dataclass(frozen=True, slots=True)
class Subtopic:
    """A situation: its people and things, possible events, possible advice."""

    category: str
    name: str
    who: Sequence[str]
    """Relations of the main person, some with their gender: "f: my aunt"."""
    friend: Sequence[str]
    """Relations of the other person."""
    things: tuple[Template, ...]
    asides: tuple[Template, ...]
    """Side matters (`thing2`)."""
    pairs: Pairs
    """bad, good (openings), worse, better, flat (developments), plans, ask_fact, ask_reflect (questions)."""
    phrases: Frames
    """hard, because_bad, because_good, infer, side, readings, moral."""
    cues: Pairs
    asks: Frames
    unfit_acts: frozenset[str]
    """Acts that would be out of place on this topic."""
    own_cues: frozenset[str]
    """Families of feelings whose common cues do not fit the topic: only its own cues are used."""


@dataclass(frozen=True)
class Texts:
    """Everything that can be said in one part of the world."""

    families: Mapping[str, Family]
    subtopics: tuple[Subtopic, ...]
    replies: Frames
    """Act (with _bad or _good if it differs by sign) -> frames."""
    lists: Mapping[str, Sequence[str]]
    """Fallbacks of replies: tips, subjects, themes."""
    risks: Sequence[Risk]
    words: Frames
    """Word lists from which a word is drawn at each use."""
    names: Mapping[str, Sequence[str]]
    """female, male, when, soon, span."""
    asks: Frames
    asks_good: Frames
    """The same for goals that are worded differently when all is well."""
    reactions: Frames
    speaks_of: Mapping[str, str]
    """Source of a reaction -> the act it refers to, "asked" or "advised"; other reactions fit any reply."""
    frames: Frames
    """Of a feeling that is `named`, a `second` cue, and a cue in `contrast` to what happened; and those of
    `live.toml`, which only live conversations use."""
    emoji: Mapping[str, Sequence[str]]


def read_text(name: str) -> dict[str, Any]:
    """One of the TOML files in `text/`."""
    return tomllib.loads((TEXT / name).read_text(encoding="utf-8"))


PEOPLE: Final[Mapping[str, Sequence[str]]] = read_text("people.toml")
"""Lists from which people's attributes are drawn."""
FAMILIES: Final[tuple[str, ...]] = tuple(read_text("feelings.toml"))
"""Names of the families of feelings."""


def _part(items: Sequence[T], part: Part, key: Callable[[T], str], share: float) -> Sequence[T]:
    """The items of one part, in their original order: those with the lowest hashes are held out."""
    if part == "all" or len(items) < 3:
        return items
    count = max(1, round(share * len(items)))
    held_out = set(sorted(digest(key(item)) for item in items)[:count])
    return [item for item in items if (digest(key(item)) in held_out) == (part == "unseen")]


def _compiled(entries: Iterable[str]) -> tuple[Template, ...]:
    return tuple(map(compile_template, entries))


def _in_a_sentence(entry: str) -> str:
    """The template with a lower-case beginning, for every word it may begin with."""
    return _BEGINNINGS.sub(lambda words: re.sub(r"(?<=[\[|])\w|^\w", _lower, words[0]), entry)


def _lower(letter: re.Match[str]) -> str:
    return letter[0].lower()


@cache
def texts(templates: Part = "all", topics: Part = "all") -> Texts:
    """The texts with these parts of templates and topics, compiled once."""

    def phrases(entries: Sequence[str]) -> tuple[Template, ...]:
        return _compiled(_part(entries, templates, str, HELD_OUT_TEMPLATES))

    def pairs(entries: Sequence[str]) -> tuple[Said, ...]:
        kept = _part(entries, templates, str, HELD_OUT_TEMPLATES)
        return tuple(Said(*_compiled(entry.split(" => "))) for entry in kept)

    def each(lists: Mapping[str, Sequence[str]], make: Callable[[Sequence[str]], T]) -> dict[str, T]:
        return {key: make(entries) for key, entries in lists.items()}

    def subtopic(topic: Mapping[str, Any], sub: Mapping[str, Any]) -> Subtopic:
        plain = ("because_bad", "because_good", "infer", "side", "readings", "moral")
        # lower case, for use inside a sentence; a frame's {Question} restores the capital
        asked = {"ask_fact": [*topic["ask_fact"], *sub["ask_fact"]], "ask_reflect": topic["ask_reflect"]}
        lists = {key: [_in_a_sentence(entry) for entry in entries] for key, entries in asked.items()}
        lists |= {key: sub[key] for key in ("bad", "good", "worse", "better", "flat", "plans")}
        return Subtopic(
            category=topic["category"],
            name=sub["name"],
            who=sub["who"],
            friend=topic.get("friend", ("my friend", "my mate", "my neighbour", "my cousin")),
            things=_compiled(sub["thing"]),
            asides=_compiled(sub["thing2"]),
            pairs=each(lists, pairs),
            phrases=each({**{key: topic[key] for key in plain}, "hard": sub["hard"]}, phrases),
            cues=each(topic["cues"], pairs),
            asks=each(topic["asks"], phrases),
            unfit_acts=frozenset(topic.get("unfit_acts", ())),
            own_cues=frozenset(topic.get("own_cues", ())),
        )

    raw = [read_text(f"topics/{path.name}") for path in sorted((TEXT / "topics").glob("*.toml"))]
    chosen = _part(raw, topics, lambda topic: str(topic["category"]), HELD_OUT_TOPICS / len(raw))
    words, shared, replies = map(read_text, ("words.toml", "person.toml", "replies.toml"))
    names = {key: words.pop(key) for key in ("female", "male", "when", "soon", "span")}
    marked: Mapping[str, Sequence[str]] = shared["reactions"]
    marks = [found for pool in marked.values() for entry in pool if (found := _MARK.match(entry))]
    risks = [Risk(*_compiled(map(risk.get, Risk._fields))) for risk in replies.pop("risks")]
    return Texts(
        families={
            name: Family(**family | {"cues": pairs(family["cues"])})
            for name, family in read_text("feelings.toml").items()
        },
        subtopics=tuple(subtopic(topic, sub) for topic in chosen for sub in topic["subtopic"]),
        lists={key: replies.pop(key) for key in ("tips", "subjects", "themes")},
        risks=risks,
        replies=each(replies, phrases),
        words=each(words, _compiled),
        names=names,
        asks=each(shared["asks"], phrases),
        asks_good=each(shared["asks_good"], phrases),
        reactions=each(marked, lambda pool: phrases([_MARK.sub("", entry) for entry in pool])),
        speaks_of={mark.string[mark.end() :]: mark[1] for mark in marks},
        frames=each(
            {key: shared[key] for key in ("named", "second", "contrast")} | read_text("live.toml"), phrases
        ),
        emoji=shared["emoji"],
    )
