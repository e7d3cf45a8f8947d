"""Write the message of a turn: answer, reaction, events, cues for the feeling, request."""

from __future__ import annotations

import re
from typing import Final

from attune_data.simulate.grammar import Template
from attune_data.simulate.story import Core, Echo, LastReply, Message, Part, Story, sayable
from attune_data.simulate.texts import Said
from attune_data.simulate.typed import Clause, smoothed, typed

STILL = 0.95
"""Probability that the person mentioned last in the previous message can be a pronoun in this one."""
REACTION_FIT = 0.25
"""The least absolute fit of a reply to which people may react."""
ANSWERS: Final = (0.75, 0.3)
"""Probability that a question is answered: (without a reaction to the reply, after one)."""
ANSWERS_LIVE: Final = (0.95, 0.7)
TRUE_CUE = 0.9
"""Probability that the cue belongs to the family that is felt, not to another one of the same sign."""
RISK = 0.04
"""Probability that an opening message mentions a mild risk in passing."""
INTRODUCED = frozenset({"name", "thing", "soon", "he", "him", "his"})
"""Facts that a request may mention although the person has not told them yet."""


def write(story: Story, *, carries: bool = False) -> Message:
    """Write the message of the story's current turn; the facts it tells are known from then on.

    With `carries`, it always has a cue for the feeling, however little the person usually shows.
    """
    draws, mood, person, last = story.draws, story.mood, story.person, story.last
    draws.turn_to(story.number, "reaction")
    writer = Writer(story)
    if last:
        writer.take_up(last)
    draws.turn_to(story.number, "content")
    clarity = story.level.clarity - (story.level.blunt if person.diagnosed else 0.0)
    shows = draws.yes(clarity if mood.tags else story.level.leak)
    if last is None and mood.tags and mood.sign != story.tilt:
        shows = True  # the opening event alone would suggest the opposite
    shows = shows or carries
    if last is None:
        writer.open()
    elif not (shows and draws.yes(0.4)):
        writer.develop()
    if carries:
        writer.cue(mood.family)
    elif shows:
        writer.show()
    if shows and mood.second_family and not writer.terse and draws.yes(clarity):
        writer.cue(mood.second_family)
    if last is None and mood.sign < 0 and draws.yes(RISK):
        out = writer.message
        out.risk = draws.pick(story.texts.risks)
        writer.tell(Said(out.risk.say, out.risk.echo), moving=False)
        out.risk_echo = out.echoes.pop()
    eager = 0.30 if last else 0.55
    if draws.yes(0.5 * eager if writer.terse else eager):
        writer.ask()
    return writer.finish()


class Writer:
    """Collects the clauses of one message."""

    def __init__(self, story: Story) -> None:
        self.story, self.texts, self.draws, self.mood = story, story.texts, story.draws, story.mood
        self.events = story.situation.pairs
        self.terse = story.person.typing.register == "terse"
        self.message = Message()
        self.clauses: list[Clause] = []
        self.sign = 0
        """Sign of what was told last: +1, -1, or 0 if neither."""
        story.facts.recent.clear()
        if not (story.last and self.draws.yes(STILL)):
            story.facts.person = ""

    def finish(self) -> Message:
        """Type the clauses the way this person does; the facts they tell are known from now on."""
        story, out = self.story, self.message
        out.person = story.facts.person
        out.told -= set(self.texts.words)
        story.told |= out.told
        keep = {story.reply_facts["name"], story.reply_facts["friend"], *(out.named or "").split()}
        out.sign = self.texts.families[out.shown[0]].sign if out.shown else self.sign or self.mood.sign
        emoji = self.texts.emoji["good" if out.sign > 0 else "bad"] if out.shown else ()
        self.draws.turn_to(story.number, "typing")
        out.text = typed(self.clauses, story.person.typing, self.draws, emoji, keep)
        return out

    def say(
        self, role: str, template: Template, *, apart: bool = False, family: str | None = None, **extra: str
    ) -> str:
        """Add a clause, or a separate sentence if `apart`; its facts count as told. Returns its text."""
        self.story.facts.update(extra)
        text = template.say(self.story.facts, self.draws, self.message.told)
        self.clauses.append(Clause(text, apart))
        self.message.parts.append(Part(role, smoothed(text), family))
        return text

    def tell(
        self,
        said: Said,
        *,
        role: str = "tells",
        moving: bool = True,
        frame: Template | None = None,
        first: bool = False,
        family: str | None = None,
    ) -> None:
        """Add a clause that a reply can echo: in preference to others if `first`, otherwise after them."""
        if frame:
            cue = said.say.say(self.story.facts, self.draws, self.message.told)
            self.say(role, frame, family=family, cue=cue)
        else:
            cue = self.say(role, said.say, family=family)
        echo = Echo(said.other, moving, said.other.slots)
        if first or self.message.core is None:
            self.message.core = Core(cue, echo, family)
        self.message.echoes.insert(0 if first else len(self.message.echoes), echo)

    def again(self, core: Core, shown: tuple[str, ...], frame: Template) -> None:
        """Repeat the core of the last message in a frame, with the same feelings and no new introductions."""
        facts, text = self.story.facts, core.text
        for who, introduced in facts.introduced.items():
            text = re.sub(re.escape(introduced.removesuffix(",")) + ",?", str(facts[who]), text)
        self.message.core, self.message.shown = core._replace(text=text), shown
        self.message.echoes.append(core.echo)
        self.say("repeats", frame, family=core.family, cue=text)

    def take_up(self, last: LastReply) -> None:
        """Respond to the last reply: with a reaction, an answer, or the outcome of a plan."""
        draws, story, out = self.draws, self.story, self.message
        reactions = self.texts.reactions
        if abs(last.fit) > REACTION_FIT and draws.yes(story.person.outspoken):
            pool = reactions["good" if last.fit > 0 else "bad"]
            if last.did is not None:
                about = self.texts.speaks_of
                pool = tuple(one for one in pool if about.get(one.source, "said") in last.did)
            if pool:
                out.reaction = 1 if last.fit > 0 else -1
                self.say("reacts", story.fresh(pool), apart=True)
        answers = ANSWERS if last.did is None else ANSWERS_LIVE
        if last.answer and draws.yes(answers[bool(out.reaction)]):
            self.say("answers", last.answer, apart=True)
        elif last.plan and out.reaction >= 0 and draws.yes(0.45):
            frames = reactions["done_good" if self.mood.sign > 0 else "done_bad"]
            if "name" not in last.plan.other.slots:  # a plan without them: not how they took it
                frames = tuple(frame for frame in frames if "name" not in frame.slots)
            done = last.plan.other.say(story.facts, draws, out.told)
            self.say("reports", story.fresh(frames), apart=True, done=done)
            story.done.append(last.plan)

    def open(self) -> None:
        """Tell the opening event, and often background: always if the event did not mention the thing."""
        story, events = self.story, self.events
        self.tell(story.fresh_pair(events["good" if story.tilt > 0 else "bad"]))
        self.sign = story.tilt
        if "thing" not in self.message.told:
            naming = [pair for pair in events["flat"] if "thing" in pair.say.slots]
            self.background(naming)
        elif story.person.typing.register in ("chatty", "plain", "formal") and self.draws.yes(0.5):
            self.background()

    def develop(self) -> None:
        """Tell something new that matches the mood, or background."""
        if not self.draws.yes(0.3 + 0.5 * self.mood.tag_probability):
            self.background()
        else:
            self.tell(self.story.fresh_pair(self.events["better" if self.mood.sign > 0 else "worse"]))
            self.sign = self.mood.sign
        if self.story.person.typing.register == "chatty" and self.draws.yes(0.5):
            self.background()

    def background(self, rather: list[Said] | None = None) -> None:
        """Tell an emotionally neutral fact."""
        self.tell(self.story.fresh_pair(rather or self.events["flat"]), moving=False)

    def show(self) -> None:
        """Show or name the feeling; occasionally show another one instead."""
        mood, draws, families = self.mood, self.draws, self.texts.families
        shown = mood.family
        if not draws.yes(TRUE_CUE):
            near = [name for name, family in families.items() if family.sign == mood.sign]
            shown = draws.pick([name for name in near if name != mood.family])
        if mood.tags and shown == mood.family and draws.yes(self.story.person.names_feelings):
            self.message.shown = (shown,)
            self.message.named = draws.pick(families[shown].named[mood.tags[0][0]])
            frame = self.story.fresh(self.texts.frames["named"])
            self.say("names", frame, family=shown, word=self.message.named)
            self.sign = mood.sign
        else:
            self.cue(shown)

    def cue(self, name: str) -> None:
        """Add a cue for a feeling, in a frame that links it to another cue or to the events."""
        story, family, shown = self.story, self.texts.families[name], self.message.shown
        pools = [story.situation.cues[name]]
        if name not in story.situation.own_cues:
            pools.insert(self.draws.below(3) == 0, family.cues)
        pool = next((p for p in pools if any(pair.say.source not in story.said for pair in p)), pools[0])
        frame = None
        if self.sign * family.sign < 0 or shown:
            kind = "contrast" if self.sign * family.sign < 0 else "second"
            frame = story.fresh(self.texts.frames[kind])
        self.tell(story.fresh_pair(pool), role="shows", frame=frame, first=not shown, family=name)
        self.message.shown = (*shown, name)
        self.sign = family.sign

    def ask(self) -> None:
        """Add a request: what the person wants from the conversation."""
        story, good = self.story, self.texts.asks_good
        goal = self.draws.pick(story.goals)
        asks = [*story.situation.asks[goal], *self.texts.asks[goal]]
        if self.sign > 0 and self.mood.sign > 0 and goal in good:
            asks = list(good[goal])
        known = story.told | self.message.told | set(self.texts.words) | INTRODUCED
        self.say("asks", story.fresh(sayable(asks, known) or asks), apart=True)
        self.message.asks = True
