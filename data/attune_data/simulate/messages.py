"""The message of a turn: an answer, a reaction, what happened, how it shows, what they ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from attune_data.simulate.draws import Draws
from attune_data.simulate.grammar import Template
from attune_data.simulate.person import Person, TurnMood
from attune_data.simulate.story import Story, sayable
from attune_data.simulate.texts import Risk, Said, Texts
from attune_data.simulate.typed import Clause, typed

if TYPE_CHECKING:
    from attune_data.simulate.stream import Level

REACTION_FIT = 0.25
"""From how far a reply fitted, or missed, people may say so."""
TRUE_CUE = 0.9
"""Probability that what shows is the family that is felt."""
RISK = 0.04
"""Probability that an opening message mentions a mild risk in passing."""
INTRODUCED = frozenset({"name", "thing", "soon", "he", "him", "his"})
"""Facts that a request may mention although nothing was told of them yet."""


class Echo(NamedTuple):
    """A phrase with which a reply can pick up a detail of a message."""

    text: str
    moving: bool
    """Whether it tells of what happened or how it shows, not of background."""
    used: frozenset[str]
    """Facts in it."""


class LastReply(NamedTuple):
    """The parts of a reply that the next message may take up."""

    fit: float
    answer: Template | None
    """The answer to the question that was asked."""
    plan: Said | None
    """The plan that was advised, which the person may report to have done."""


@dataclass(slots=True)
class Message:
    """A message, and what a reply may pick up from it."""

    text: str = ""
    echoes: list[Echo] = field(default_factory=list)
    """Phrases that name a detail of the message, the telling one first."""
    told: set[str] = field(default_factory=set)
    """Facts that this message mentions."""
    sign: int = 0
    """+1 where it tells of something pleasant, -1 where of something unpleasant."""
    shown: tuple[str, ...] = ()
    """Families of feelings that show, the first one the stronger."""
    named: str | None = None
    """The word that the person used for the feeling."""
    reaction: int = 0
    """+1 agrees with the last reply, -1 objects, 0 neither."""
    asks: bool = False
    """Whether it says what is wanted."""
    risk: Risk | None = None
    """A mild risk that it mentions."""
    risk_echo: Echo | None = None
    """The phrase with which a reply can pick that up."""
    reported: Said | None = None
    """The plan that the person says is done."""


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
    writer = _Writer(texts, story, mood, person, draws)
    out = writer.message
    if last:
        writer.take_up(last)
    clarity = level.clarity - (level.blunt if person.diagnosed else 0.0)
    shows = draws.yes(clarity if mood.tags else level.leak)
    if last is None:
        writer.open()
    elif not (shows and draws.yes(0.4)):
        writer.develop()
    if shows:
        writer.show()
        if mood.second_family and person.typing.register != "terse" and draws.yes(clarity):
            writer.cue(mood.second_family)
    if last is None and mood.sign < 0 and draws.yes(RISK):
        out.risk = draws.pick(texts.risks)
        writer.tell(Said(out.risk.say, out.risk.echo), moving=False)
        out.risk_echo = out.echoes.pop()
    eager = 0.30 if last else 0.55
    if draws.yes(0.5 * eager if person.typing.register == "terse" else eager):
        writer.ask()
    out.told -= set(texts.words)
    story.told |= out.told
    keep = {value for key, value in story.reply_facts.items() if key in ("name", "friend")}
    keep |= set((out.named or "").split())
    out.sign = texts.families[out.shown[0]].sign if out.shown else writer.sign or mood.sign
    emoji = texts.emoji["good" if out.sign > 0 else "bad"] if out.shown else ()
    out.text = typed(writer.clauses, person.typing, draws, emoji, keep)
    return out


class _Writer:
    """Collects the clauses of one message."""

    def __init__(self, texts: Texts, story: Story, mood: TurnMood, person: Person, draws: Draws) -> None:
        self.texts, self.story, self.mood, self.person, self.draws = texts, story, mood, person, draws
        self.message = Message()
        self.clauses: list[Clause] = []
        self.sign = 0
        """+1 or -1 of what was told last; 0 where it is neither."""
        story.facts.recent.clear()

    def say(self, template: Template, *, apart: bool = False, **extra: str) -> None:
        """A clause, or a sentence of its own; its facts are told."""
        self.story.facts.update(extra)
        text = template.say(self.story.facts, self.draws, self.message.told)
        self.clauses.append(Clause(text, apart))

    def tell(
        self, said: Said, *, moving: bool = True, frame: Template | None = None, first: bool = False
    ) -> None:
        """A clause that a reply can echo, as its first choice or after others."""
        if frame:
            self.say(frame, cue=said.say.say(self.story.facts, self.draws, self.message.told))
        else:
            self.say(said.say)
        used: set[str] = set()
        echo = Echo(said.other.say(self.story.reply_facts, self.draws, used), moving, frozenset(used))
        self.message.echoes.insert(0 if first else len(self.message.echoes), echo)

    def take_up(self, last: LastReply) -> None:
        """Says something to the last reply: a reaction, an answer, or what came of a plan."""
        draws, story, out = self.draws, self.story, self.message
        if abs(last.fit) > REACTION_FIT and draws.yes(self.person.outspoken):
            out.reaction = 1 if last.fit > 0 else -1
            frames = self.texts.reactions["good" if out.reaction > 0 else "bad"]
            self.say(story.fresh(frames, draws), apart=True)
        if last.answer and draws.yes(0.3 if out.reaction else 0.75):
            self.say(last.answer, apart=True)
        elif last.plan and out.reaction >= 0 and draws.yes(0.45):
            frames = self.texts.reactions["done_good" if self.mood.sign > 0 else "done_bad"]
            if "name" not in last.plan.other.slots:  # nothing was done with them: no word on how they took it
                frames = tuple(frame for frame in frames if "name" not in frame.slots)
            done = last.plan.other.say(story.facts, draws, out.told)
            self.say(story.fresh(frames, draws), apart=True, done=done)
            out.reported = last.plan

    def open(self) -> None:
        """The opening event, and background where the matter was not named or the person likes to tell."""
        story, events = self.story, self.story.situation.events
        self.tell(story.fresh_pair(events["good" if story.tilt > 0 else "bad"], self.draws))
        self.sign = story.tilt
        if "thing" not in self.message.told:
            naming = [pair for pair in events["flat"] if "thing" in pair.say.slots]
            self.tell(story.fresh_pair(naming or events["flat"], self.draws), moving=False)
        elif self.person.typing.register in ("chatty", "plain", "formal") and self.draws.yes(0.5):
            self.background()

    def develop(self) -> None:
        """Something new that goes with the mood, or background."""
        if not self.draws.yes(0.3 + 0.5 * self.mood.tag_probability):
            self.background()
        else:
            events = self.story.situation.events["better" if self.mood.sign > 0 else "worse"]
            self.tell(self.story.fresh_pair(events, self.draws))
            self.sign = self.mood.sign
        if self.person.typing.register == "chatty" and self.draws.yes(0.5):
            self.background()

    def background(self) -> None:
        """A fact without any feeling in it."""
        self.tell(self.story.fresh_pair(self.story.situation.events["flat"], self.draws), moving=False)

    def show(self) -> None:
        """Show or name the feeling; now and then another shows instead."""
        mood, draws = self.mood, self.draws
        shown = mood.family
        if not draws.yes(TRUE_CUE):
            shown = draws.pick([name for name in self.texts.families if name != mood.family])
        if mood.tags and shown == mood.family and draws.yes(self.person.names_feelings):
            self.message.shown = (shown,)
            self.message.named = draws.pick(self.texts.families[shown].named[mood.tags[0][0]])
            self.say(self.story.fresh(self.texts.named, draws), word=self.message.named)
            self.sign = mood.sign
        else:
            self.cue(shown)

    def cue(self, family: str) -> None:
        """A cue for a feeling, in a frame where it joins another or goes against what was told."""
        pools = [self.story.situation.cues[family]]
        if family not in self.story.situation.own_cues:
            pools.insert(self.draws.below(3) == 0, self.texts.families[family].cues)
        said = self.story.said
        pool = next((p for p in pools if any(pair.say.source not in said for pair in p)), pools[0])
        sign = self.texts.families[family].sign
        second = bool(self.message.shown)
        frames = self.texts.contrast if self.sign * sign < 0 else self.texts.second if second else ()
        frame = self.story.fresh(frames, self.draws) if frames else None
        self.tell(self.story.fresh_pair(pool, self.draws), frame=frame, first=not second)
        self.message.shown = (*self.message.shown, family)
        self.sign = sign

    def ask(self) -> None:
        """Say what the person wants of the conversation."""
        story, draws = self.story, self.draws
        goal = draws.pick(story.goals)
        asks = [*story.situation.asks[goal], *self.texts.asks[goal]]
        if self.sign > 0 and self.mood.sign > 0 and goal in self.texts.asks_good:
            asks = list(self.texts.asks_good[goal])
        known = story.told | self.message.told | set(self.texts.words) | INTRODUCED
        self.say(story.fresh(sayable(asks, known) or asks, draws), apart=True)
        self.message.asks = True
