"""What the person writes in a turn: an answer, a reaction, what happened, how it shows, what they ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import Template
from attune_data.simulate.levels import Level
from attune_data.simulate.mood import TurnMood
from attune_data.simulate.person import Person
from attune_data.simulate.story import Story, sayable
from attune_data.simulate.texts import Risk, Said, Texts
from attune_data.simulate.typed import typed

REACTION_FIT = 0.25
"""From how far a reply fitted, or missed, people may say so."""
TRUE_CUE = 0.9
"""Probability that what shows is the family that is felt."""
RISK = 0.025


class Echo(NamedTuple):
    """A phrase with which a reply can pick up a detail of a message."""

    text: str
    moving: bool
    """Whether it tells of what happened or how it shows, not of background."""
    used: frozenset[str]
    """Facts in it."""


class LastReply(NamedTuple):
    """What the next message may take up of a reply."""

    fit: float
    answer: Template | None
    """What answers the question that was asked."""
    done: Template | None
    """What the person may report of the plan that was advised."""


@dataclass(slots=True)
class Message:
    """A message, and what a reply may pick up from it."""

    text: str = ""
    echoes: list[Echo] = field(default_factory=list)
    """Phrases that name a detail of the message, the telling one first."""
    told: set[str] = field(default_factory=set)
    """Facts that this message mentions."""
    shown: tuple[str, ...] = ()
    """Families of feelings that show, the first one the stronger."""
    named: str | None = None
    """The word that the person used for the feeling."""
    reaction: int = 0
    """+1 agrees with the last reply, -1 objects, 0 neither."""
    asks: bool = False
    """Whether it says what is wanted."""
    risk: Risk | None = None


class _Writer:
    """Collects the clauses of one message."""

    def __init__(self, story: Story, draws: Draws) -> None:
        self.story, self.draws = story, draws
        self.clauses: list[str] = []
        self.echoes: list[Echo] = []
        story.facts.recent.clear()
        self.told: set[str] = set()

    def say(self, template: Template, **extra: str) -> str:
        """A clause; its facts are told."""
        for key, value in extra.items():
            self.story.facts[key] = value
        text = template.say(self.story.facts, self.draws, self.told)
        self.clauses.append(text)
        return text

    def tell(self, said: Said, *, moving: bool = True, frame: Template | None = None, first: bool = False) -> None:
        """A clause that a reply can echo, as its first choice or after others."""
        if frame:
            self.say(frame, cue=said.say.say(self.story.facts, self.draws, self.told))
        else:
            self.say(said.say)
        echo = said.other.say(self.story.reply_facts, self.draws, used := set())
        self.echoes.insert(0 if first else len(self.echoes), Echo(echo, moving, frozenset(used)))


def write(
    texts: Texts,
    story: Story,
    mood: TurnMood,
    person: Person,
    level: Level,
    last: LastReply | None,
    draws: Draws,
) -> Message:
    """The message of one turn; `last` is None in the first one."""
    out = Message()
    writer = _Writer(story, draws)
    register = person.typing.register
    if last:
        _take_up(writer, texts, story, person, last, mood, out, draws)
    show = level.clarity - (level.blunt if person.diagnosed else 0.0)
    shows = draws.yes(show if mood.tags else level.leak)
    _happenings(writer, story, mood, shows, first=last is None, register=register, draws=draws)
    if shows:
        _show(writer, texts, story, mood, person, out, draws)
        if mood.second_family and register != "terse" and draws.yes(show):
            _show_second(writer, texts, story, mood.second_family, out, draws)
    if draws.yes(RISK) and not last:
        out.risk = draws.pick(texts.risks)
        writer.tell(Said(out.risk.say, out.risk.echo), moving=False)
    eager = 0.30 if last else 0.55
    if draws.yes(0.5 * eager if register == "terse" else eager):
        goal = draws.pick(story.goals)
        asks = [*story.situation.asks[goal], *texts.asks[goal]]
        known = story.told | writer.told | set(texts.words) | {"name", "thing", "soon", "he", "him", "his"}
        writer.say(story.fresh(sayable(asks, known) or asks, draws))
        out.asks = True
    out.told, out.echoes = writer.told - set(texts.words), writer.echoes
    story.told |= out.told
    keep = {value for key, value in story.reply_facts.items() if key in ("name", "friend")}
    keep |= set((out.named or "").split())
    out.text = typed(writer.clauses, person.typing, draws, texts.emoji["good" if mood.sign > 0 else "bad"], keep)
    return out


def _take_up(
    writer: _Writer, texts: Texts, story: Story, person: Person, last: LastReply, mood: TurnMood, out: Message,
    draws: Draws,
) -> None:  # fmt: skip
    """Says something to the last reply: a reaction, an answer, or what came of a plan; rarely two of them."""
    if abs(last.fit) > REACTION_FIT and draws.yes(person.outspoken):
        out.reaction = 1 if last.fit > 0 else -1
        writer.say(story.fresh(texts.reactions["good" if out.reaction > 0 else "bad"], draws))
    if last.answer and draws.yes(0.3 if out.reaction else 0.75):
        writer.say(last.answer)
    elif last.done and out.reaction >= 0 and draws.yes(0.45):
        done = last.done.say(story.facts, draws, writer.told)
        writer.say(story.fresh(texts.reactions["done_good" if mood.sign > 0 else "done_bad"], draws), done=done)


def _happenings(
    writer: _Writer, story: Story, mood: TurnMood, shows: bool, *, first: bool, register: str, draws: Draws
) -> None:
    """The opening event, or a development that goes with the mood; background where it is still missing."""
    events = story.situation.events
    if first:
        writer.tell(story.fresh_pair(events["good" if story.tilt > 0 else "bad"], draws))
        untold = [pair for pair in events["flat"] if "thing" in pair.say.slots]
        if "thing" not in writer.told:
            writer.tell(story.fresh_pair(untold or events["flat"], draws), moving=False)
        elif register in ("chatty", "plain", "formal") and draws.yes(0.5):
            writer.tell(story.fresh_pair(events["flat"], draws), moving=False)
        return
    if shows and draws.yes(0.4):
        return
    kind = "flat" if not draws.yes(0.3 + 0.5 * mood.tag_probability) else "better" if mood.sign > 0 else "worse"
    writer.tell(story.fresh_pair(events[kind], draws), moving=kind != "flat")
    if register == "chatty" and draws.yes(0.5):
        writer.tell(story.fresh_pair(events["flat"], draws), moving=False)


def _show(
    writer: _Writer, texts: Texts, story: Story, mood: TurnMood, person: Person, out: Message, draws: Draws
) -> None:
    """What is felt shows, or is named; now and then something else shows instead."""
    shown = mood.family
    if not draws.yes(TRUE_CUE):
        shown = draws.pick([name for name in texts.families if name != mood.family])
    out.shown = (shown,)
    family = texts.families[shown]
    if mood.tags and shown == mood.family and draws.yes(person.names_feelings):
        out.named = draws.pick(family.named[mood.tags[0][0]])
        writer.say(story.fresh(texts.named, draws), word=out.named)
        return
    contrary = family.sign != (story.tilt if not writer.echoes else mood.sign)
    _cue(writer, texts, story, shown, texts.contrast if contrary and writer.clauses else (), draws, telling=True)


def _show_second(
    writer: _Writer, texts: Texts, story: Story, family: str, out: Message, draws: Draws
) -> None:
    _cue(writer, texts, story, family, texts.second, draws)
    out.shown = (*out.shown, family)


def _cue(
    writer: _Writer, texts: Texts, story: Story, family: str, frames: tuple[Template, ...], draws: Draws, *,
    telling: bool = False,
) -> None:  # fmt: skip
    """A cue, the topic's own as often as the common ones, in a frame where it needs one."""
    own = draws.yes(0.35)
    cue = story.fresh_pair(story.situation.cues[family] if own else texts.families[family].cues, draws)
    writer.tell(cue, frame=draws.pick(frames) if frames else None, first=telling)
