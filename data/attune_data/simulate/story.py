"""One conversation in progress: its situation and facts, what has been said, and the current turn."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import Mentions, Template
from attune_data.simulate.person import Person, TurnMood
from attune_data.simulate.texts import GOALS, PEOPLE, Risk, Said, Subtopic, Texts

if TYPE_CHECKING:
    from attune_data.simulate.stream import Level

_PRONOUNS = {
    "f": {"he": "she", "him": "her", "his": "her"},
    "m": {"he": "he", "him": "him", "his": "his"},
}
_TURNED = {"my": "your", "our": "your", "me": "you", "i": "you", "mine": "yours"}
_LONG_RELATION = re.compile(r"^(?:an?|one) |\b(?:I|I'm|I've|we|who|whose|that)\b")
_FIRST_PERSON = re.compile(r"\b(my|our|me|mine|I)\b")


class Echo(NamedTuple):
    """A phrase with which a reply can pick up a detail of a message."""

    template: Template
    moving: bool
    """Whether it is about an event or a sign of the feeling, not background."""
    used: frozenset[str]


class Part(NamedTuple):
    """One part of what a text says."""

    role: str
    """Of a message: `reacts`, `answers`, `reports` (what came of a plan), `tells`, `shows` or `names` (a
    feeling), `asks`, or a person's move after a reply, such as `repeats`. Of a reply: its act."""
    text: str
    """Its text, as worded by the grammar."""
    family: str | None = None
    """The family of feelings that it shows, names or claims."""


class Core(NamedTuple):
    """The most important part of a message, which the person may repeat."""

    text: str
    """Its text, as worded by the grammar, without a frame."""
    echo: Echo
    family: str | None
    """The family of feelings that it shows."""


@dataclass(slots=True)
class Message:
    """A message, and what a reply may pick up from it."""

    text: str = ""
    echoes: list[Echo] = field(default_factory=list)
    """Phrases that name a detail of the message, the most important one first."""
    told: set[str] = field(default_factory=set)
    person: str = ""
    """The fact that names the person mentioned last."""
    sign: int = 0
    """+1 if it is about something pleasant, -1 if about something unpleasant."""
    shown: tuple[str, ...] = ()
    """Families of feelings that show, the strongest first."""
    named: str | None = None
    """The word that the person used for the feeling."""
    reaction: int = 0
    """+1 if it agrees with the last reply, -1 if it objects, 0 if neither."""
    asks: bool = False
    core: Core | None = None
    risk: Risk | None = None
    risk_echo: Echo | None = None
    """The phrase with which a reply can pick up the risk."""
    parts: list[Part] = field(default_factory=list)
    """Its parts in order, before typing changes them."""


Done = Literal["said", "asked", "advised"]
"""Triggers of a reaction: a reply that says anything at all, asks something, or gives advice."""


class LastReply(NamedTuple):
    """The parts of a reply that the next message may take up."""

    fit: float
    answer: Template | None
    plan: Said | None
    """The plan that was advised, which the person may report to have done."""
    did: frozenset[Done] | None = None
    """In a live conversation, what a reaction may refer to; None in a recorded one: anything."""


@dataclass(slots=True)
class Story:
    """The current state of a conversation: person, situation, memory and current turn."""

    texts: Texts
    person: Person
    level: Level
    draws: Draws
    situation: Subtopic
    tilt: int
    """+1 for a pleasant situation, -1 for an unpleasant one."""
    attitude: str
    goals: tuple[str, ...]
    """The person's goals, the main one first."""
    facts: Mentions
    """The facts as the person tells them."""
    reply_facts: dict[str, str]
    """The same facts as a reply words them."""
    style: str = ""
    """The model that replies."""
    count: int = 0
    # the memory
    told: set[str] = field(default_factory=set)
    """Names of facts that the person has told: the only ones that a reply may mention."""
    said: set[str] = field(default_factory=set)
    """Templates used so far, so that no phrase is repeated."""
    plans: list[Said] = field(default_factory=list)
    """Plans that recorded replies advised."""
    done: list[Said] = field(default_factory=list)
    """Plans that the person said they had carried out."""
    asked: bool = False
    """Whether a recorded reply asked anything."""
    families: list[str] = field(default_factory=list)
    """Families of feelings of the previous turns."""
    acts: frozenset[str] = frozenset()
    last: LastReply | None = None
    # the current turn
    number: int = 0
    """From 0."""
    mood: TurnMood = field(init=False)
    message: Message = field(init=False)

    def copy(self) -> Story:
        """Copy the story, with its own memory; the draws are shared."""
        made = copy.copy(self)
        made.facts = self.facts.copy()
        made.told, made.said = set(self.told), set(self.said)
        made.plans, made.done, made.families = list(self.plans), list(self.done), list(self.families)
        return made

    @property
    def before(self) -> str | None:
        """The family of feelings of the previous turn."""
        return self.families[-1] if self.families else None

    def unsaid(self, templates: Sequence[Template]) -> Sequence[Template]:
        """The templates not used yet, or all of them once each has been used."""
        return [t for t in templates if t.source not in self.said] or templates

    def fresh(self, templates: Sequence[Template]) -> Template:
        """Draw a template, preferably one not used yet, and mark it as used."""
        chosen = self.draws.pick(self.unsaid(templates))
        self.said.add(chosen.source)
        return chosen

    def fresh_pair(self, pairs: Sequence[Said]) -> Said:
        """The same for phrases that come with another half."""
        chosen = self.draws.pick([p for p in pairs if p.say.source not in self.said] or pairs)
        self.said.add(chosen.say.source)
        return chosen


def sayable(templates: Sequence[Template], known: Set[str]) -> list[Template]:
    """The templates that need only known facts."""
    return [template for template in templates if template.fits(known)]


def make_story(texts: Texts, person: Person, level: Level, draws: Draws) -> Story:
    """Draw a situation, its facts and the goals; neurotic people want support rather than solutions."""
    situation = draws.pick(texts.subtopics)
    tilt = 1 if draws.yes(0.42) else -1
    lean = 1.0 + 0.3 * max(-2.0, min(2.0, person.traits[1]))
    weights = dict(zip(GOALS, (1.2 * lean, 1.0, 1.1, 0.7, 0.6 * lean), strict=True))
    if tilt > 0:
        weights["calm"] *= 0.3
    goals: tuple[str, ...] = (draws.weighted(weights),)
    if draws.yes(0.3):
        goals = (*goals, draws.weighted({g: w for g, w in weights.items() if g not in goals}))
    mixed = 0.5 * draws.normal() + tilt
    key = "attitude_mixed" if -0.45 < mixed < 0.45 else "attitude_good" if mixed > 0 else "attitude_bad"
    attitude = draws.pick(PEOPLE[key])
    facts, told = _facts(texts, situation, draws)
    return Story(
        texts, person, level, draws, situation, tilt, attitude, goals, told,
        {key: _to_you(value) for key, value in facts.items()},
    )  # fmt: skip


def _facts(texts: Texts, situation: Subtopic, draws: Draws) -> tuple[dict[str, str], Mentions]:
    """Draw the facts of a conversation; returns them, and the form in which the person tells them."""
    relation = draws.pick(situation.who)
    gender = ""
    if relation[1:3] == ": ":
        gender, relation = relation[0], relation[3:]
    gender = gender or draws.pick(("f", "m"))
    name = draws.pick(texts.names["female" if gender == "f" else "male"])
    other = draws.pick([n for key in ("female", "male") for n in texts.names[key] if n != name])
    pronouns = {
        "name": _PRONOUNS[gender],
        "friend": _PRONOUNS["f" if other in texts.names["female"] else "m"],
    }
    facts = {
        "name": name,
        **pronouns["name"],
        "friend": other,
        "thing": draws.pick(situation.things).say({}, draws, set()),
        "thing2": draws.pick(situation.asides).say({}, draws, set()),
        **{key: draws.pick(texts.names[key]) for key in ("when", "soon", "span")},
    }
    friend = draws.pick(situation.friend)
    introductions = {"name": _introduced(relation, name), "friend": _introduced(friend, other)}
    return facts, Mentions({**texts.words, **facts}, introductions, pronouns)


def _introduced(relation: str, name: str) -> str:
    """Word a first mention: "my manager Dana" or "a former colleague, Dana,"; never the name alone."""
    return f"{relation}, {name}," if _LONG_RELATION.search(relation) else f"{relation} {name}"


def _to_you(text: str) -> str:
    """Turn the person's noun phrase into the reply's: "my notes" becomes "your notes"."""
    return _FIRST_PERSON.sub(lambda found: _TURNED[found.group().lower()], text)
