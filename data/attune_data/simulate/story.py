"""The matter of a conversation: the situation, its facts, what has been told, what has been said already."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import Facts, Mentions, Template
from attune_data.simulate.texts import GOALS, PEOPLE, Said, Subtopic, Texts

_PRONOUNS = {"f": ("she", "her", "her"), "m": ("he", "him", "his")}
_TURNED = {"my": "your", "our": "your", "me": "you", "i": "you", "mine": "yours"}
_LONG_RELATION = re.compile(r"^(?:an?|one) |\b(?:I|I'm|I've|we|who|whose|that)\b")
_FIRST_PERSON = re.compile(r"\b(my|our|me|mine|I)\b")


def to_you(text: str) -> str:
    """A noun phrase of the person in the reply's mouth: "my notes" becomes "your notes"."""
    return _FIRST_PERSON.sub(lambda found: _TURNED[found.group().lower()], text)


class PersonFacts(Mentions):
    """Facts as the person tells them: people are introduced the first time they are mentioned."""

    def __init__(self, facts: Facts, introductions: dict[str, str]) -> None:
        super().__init__(facts)
        self.introductions = introductions
        """Fact -> how it is said the first time, such as "my manager Dana"."""

    def __getitem__(self, key: str) -> str | Template | Sequence[Template]:
        return self.introductions.pop(key, None) or super().__getitem__(key)


@dataclass(slots=True)
class Story:
    """One conversation's matter, and its memory."""

    situation: Subtopic
    tilt: int
    """+1 a pleasant matter, -1 an unpleasant one."""
    attitude: str
    """The topic attitude of the profile."""
    goals: tuple[str, ...]
    """The goals of the person, the main one first."""
    facts: PersonFacts
    reply_facts: dict[str, str]
    """The same facts in the reply's mouth."""
    told: set[str] = field(default_factory=set)
    """Names of facts that the person has told: the only ones that a reply may mention."""
    said: set[str] = field(default_factory=set)
    """Templates that were used, so that nobody repeats a turn of phrase."""

    def fresh(self, templates: Sequence[Template], draws: Draws) -> Template:
        """One that was not used yet, where there is one; it counts as used from now on."""
        chosen = draws.pick(self.unsaid(templates))
        self.said.add(chosen.source)
        return chosen

    def unsaid(self, templates: Sequence[Template]) -> Sequence[Template]:
        """Those that were not used yet; all of them once each was."""
        return [t for t in templates if t.source not in self.said] or templates

    def fresh_pair(self, pairs: Sequence[Said], draws: Draws) -> Said:
        """The same for phrases with another half."""
        chosen = draws.pick([p for p in pairs if p.say.source not in self.said] or pairs)
        self.said.add(chosen.say.source)
        return chosen


def sayable(templates: Sequence[Template], known: Set[str]) -> list[Template]:
    """Those that can be said with what is known."""
    return [template for template in templates if template.fits(known)]


def make_story(texts: Texts, draws: Draws, goal_hint: float) -> Story:
    """Draws a situation and its facts.

    Args:
        texts: what can be said.
        draws: the conversation's chance.
        goal_hint: above 0 for people who rather want support than solutions (neuroticism).
    """
    situation = draws.pick(texts.subtopics)
    tilt = 1 if draws.yes(0.42) else -1
    lean = 1.0 + 0.3 * max(-2.0, min(2.0, goal_hint))
    weights = dict(zip(GOALS, (1.2 * lean, 1.0, 1.1, 0.7, 0.6 * lean), strict=True))
    if tilt > 0:
        weights["calm"] *= 0.3
    main = draws.weighted(weights)
    goals: tuple[str, ...] = (main,)
    if draws.yes(0.3):
        goals = (main, draws.weighted({g: w for g, w in weights.items() if g != main}))
    mixed = 0.5 * draws.normal() + tilt
    key = "attitude_mixed" if -0.45 < mixed < 0.45 else "attitude_good" if mixed > 0 else "attitude_bad"
    attitude = draws.pick(PEOPLE[key])
    facts, introductions = _facts(texts, situation, draws)
    reply_facts = {key: to_you(value) for key, value in facts.items()}
    told = PersonFacts({**texts.words, **facts}, introductions)
    return Story(situation, tilt, attitude, goals, told, reply_facts)


def _facts(texts: Texts, situation: Subtopic, draws: Draws) -> tuple[dict[str, str], dict[str, str]]:
    gender, relation = draws.pick(situation.who)
    gender = gender or draws.pick(("f", "m"))
    name = draws.pick(texts.names["female" if gender == "f" else "male"])
    other = draws.pick([n for key in ("female", "male") for n in texts.names[key] if n != name])
    nothing: Facts = {}
    facts = {
        "name": name,
        **dict(zip(("he", "him", "his"), _PRONOUNS[gender], strict=True)),
        "friend": other,
        "thing": draws.pick(situation.things).say(nothing, draws, set()),
        "thing2": draws.pick(situation.asides).say(nothing, draws, set()),
        **{key: draws.pick(texts.names[key]) for key in ("when", "soon", "span")},
    }
    friend = draws.pick(situation.friend)
    return facts, {"name": _introduced(relation, name), "friend": _introduced(friend, other)}


def _introduced(relation: str, name: str) -> str:
    """A first mention: "my manager Dana" or "a former colleague, Dana,"; never the name alone."""
    return f"{relation}, {name}," if _LONG_RELATION.search(relation) else f"{relation} {name}"
