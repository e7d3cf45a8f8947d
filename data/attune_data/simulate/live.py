"""A live conversation: the person hears a reply, is affected by it, and answers or leaves.

The situation, the person and the first message are those of the recorded conversation with the same index.
From then on, random numbers depend only on their place (world, item, turn, purpose), never on earlier turns
or on the words of a reply; those only decide what is drawn from. Eight replies to one message therefore meet
the same random numbers.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from attune_data.errors import SettingsError, show
from attune_data.simulate.answers import content, kind_of, like, takes_up
from attune_data.simulate.constructs import textual
from attune_data.simulate.draws import Draws, PlacedDraws, clip, rating
from attune_data.simulate.grammar import Template
from attune_data.simulate.hearing import Bond, Heard, Taken, remember, take, wants
from attune_data.simulate.messages import Writer, write
from attune_data.simulate.person import Person
from attune_data.simulate.story import Done, LastReply, Message
from attune_data.simulate.stream import Simulation
from attune_data.simulate.texts import Said, texts
from attune_data.simulate.turn import begin, feel, reply_as_recorded, speak_up
from attune_data.simulate.voice import SPEAKERS, Transcript, message_packet, reply_packet, wording

Answer = Literal["goes on", "repeats", "withdraws", "discloses", "leaves", "ends"]
"""The person's move after a reply; `ends` after the last one."""

GAIN: Final = 0.6
CENTRE: Final = 0.2
"""The worth of a reply with a fit of 0."""
NOISE: Final = 0.2
MISS: Final = -0.25
"""The fit below which a reply counts as a miss."""
FITS: Final = 0.3
"""The least fit after which the person may disclose what they hold back."""
HOLDS_BACK: Final = 0.8
"""Probability that a person holds a feeling back."""
DARK: Final = 0.75
"""Probability that the feeling held back is unpleasant."""
BEGUN: Final = 64
"""How many started conversations are cached, for further replies to the same message."""


class Step(NamedTuple):
    """The outcome of one reply."""

    taken: Taken
    fit: float
    """How well it fitted, in [-1, 1]: 0.6·(worth - 0.2) + 0.2ε."""
    answer: Answer


class Talk:
    """One live conversation with a simulated person."""

    def __init__(self, world: Simulation, index: int, turn: int = 0) -> None:
        """Begin at a turn of the recorded conversation, counted from 0.

        The turns before it are played as recorded: what was said and felt comes from the record, and the
        person's trust, feeling heard and wear result from the acts of which each recorded reply was made.

        Raises SettingsError for a turn that the conversation does not have.
        """
        person = world.person(index)
        self.key = (world.key, index)
        said = texts(world.templates, world.topics)
        self.story, self.mood, *_ = begin(said, person, world.level, Draws(*self.key))
        self.bond = Bond()
        story = self.story
        if type(turn) is not int or not 0 <= turn < story.count:
            raise SettingsError(
                f"turn is {show(turn)}; conversation {index} of {world!r} has turns 0 to {story.count - 1}"
            )
        self.said: tuple[tuple[str, str], ...] = ()
        """(message, reply) of the turns so far, the recorded ones first."""
        self._voice, self._id = world.voice, world.identity(index)
        speak_up(story, self.mood, 0)
        self._word()
        for number in range(1, turn + 1):
            self._as_recorded()
            speak_up(story, self.mood, number)
            self._word()
        story.draws = self.mood.draws = PlacedDraws(*self.key, "live")
        story.draws.turn_to("held")
        self.held = self._held()
        """The family of feelings that the person holds back, and its cue; None if there is none."""
        self.guard = 0.15 + 0.4 * story.draws.uniform() - 0.2 * (story.person.outspoken - 0.4)
        """The trust needed before the person discloses it."""
        self.done = False
        self._carried = ""
        """The family of feelings just disclosed, until the person has said more about it."""
        self._wants: dict[str, float] | None = None

    def copy(self) -> Talk:
        """Copy the conversation with its state; the two continue independently."""
        made = copy.copy(self)
        made.story = self.story.copy()
        made.mood = copy.copy(self.mood)
        made.mood.traces = dict(self.mood.traces)
        made.story.draws = made.mood.draws = PlacedDraws(*self.key, "live")
        made.bond = copy.copy(self.bond)
        return made

    @property
    def message(self) -> Message:
        """The person's last message."""
        return self.story.message

    @property
    def wants(self) -> dict[str, float]:
        """Construct -> what it is worth to the person now."""
        if self._wants is None:
            self._wants = wants(self.story, self.bond)
        return self._wants

    def take(self, heard: Heard) -> Taken:
        """Compute the worth of a reply to the person now, without continuing the conversation."""
        return take(self.story, self.wants, heard)

    def hear(self, heard: Heard, reply: str = "") -> Step:
        """Give the person a reply: it affects them, and they answer. Raises ValueError after the end.

        The text of the reply shows whether it took up what the person said, and goes into the transcript for
        the voice.
        """
        if self.done:
            raise ValueError("the person has left the conversation")
        story = self.story
        taken = self.take(heard)
        story.draws.turn_to(story.number, "fit")
        fit = clip(GAIN * (taken.worth - CENTRE) + NOISE * story.draws.normal(), -1.0, 1.0)
        self._move(heard, fit)
        story.draws.turn_to(story.number, "after")
        self.mood.after(story.mood, fit)
        answer = self._answers(fit)
        self._keep(heard, fit)
        self.said = (*self.said, (story.message.text, reply))
        self._say(answer, reply)
        self._wants = None
        return Step(taken, fit, answer)

    def _as_recorded(self) -> None:
        """Play the current turn as recorded; the person hears the acts of which its reply was made."""
        story, message = self.story, self.story.message.text
        _, state, _ = reply_as_recorded(story, self.mood)
        reply = state.replies["original"]
        done = {construct: 1.0 for construct, yes in textual(story, reply).items() if yes}
        words = reply.text.count(" ") + 1
        self._move(Heard(done, tuple(reply.claims), words, own=words), state.fit)
        packet = reply_packet(*self._about(), "original", reply, state.done["original"])
        said = wording(self._voice, packet, (*self._transcript(), ("person", message)))
        self.said = (*self.said, (message, said.text))

    def _about(self) -> tuple[str, str, Person]:
        """The turn's id, the topic and the person, in the form that packets use."""
        story = self.story
        topic = f"{story.situation.category}: {story.situation.name}"
        return f"{self._id}/{story.number + 1}", topic, story.person

    def _transcript(self) -> Transcript:
        return tuple((who, text) for pair in self.said for who, text in zip(SPEAKERS, pair, strict=True))

    def _word(self) -> None:
        """Put the person's message into the voice's words."""
        story = self.story
        packet = message_packet(*self._about(), story.mood, story.message)
        story.message.text = wording(self._voice, packet, self._transcript()).text

    def _move(self, heard: Heard, fit: float) -> None:
        """Update the bond after a reply."""
        bond = self.bond
        remember(self.story, bond, heard, fit)
        bond.misses = bond.misses + 1 if fit < MISS else max(0, bond.misses - 1)

    def _held(self) -> tuple[str, Said] | None:
        story, draws = self.story, self.story.draws
        if not draws.yes(HOLDS_BACK):
            return None
        sign = -1 if draws.yes(DARK) else 1
        families = {
            name: story.person.family_habit[name]
            for name, family in story.texts.families.items()
            if family.sign == sign and name != story.mood.family
        }
        name = draws.weighted(families)
        own = story.situation.cues[name]
        cues = own if name in story.situation.own_cues else [*story.texts.families[name].cues, *own]
        return name, story.fresh_pair(cues)

    def _answers(self, fit: float) -> Answer:
        """Choose the person's next move; misses make people repeat themselves, withdraw or leave."""
        story, bond, draws = self.story, self.bond, self.story.draws
        last = story.number + 1 == story.count
        if fit < MISS:
            draws.turn_to(story.number, "leaves")
            chance = 0.1 + 0.3 * (bond.misses - 1) - 0.25 * bond.trust
            if draws.yes(clip(chance, 0.0, 0.9)) and not last:
                return "leaves"
        if last:
            return "ends"
        if fit >= FITS and self.held and not bond.disclosed and bond.trust >= self.guard:
            return "discloses"
        if fit < MISS:
            draws.turn_to(story.number, "misses")
            speaks, which = draws.yes(0.4 + story.person.outspoken), draws.uniform()
            if not speaks:
                return "withdraws"
            if which < 0.5 and story.message.core:
                return "repeats"
        return "goes on"

    def _keep(self, heard: Heard, fit: float) -> None:
        """Store the reply in the story, as is done for a recorded one."""
        story = self.story
        answer = plan = None
        did: set[Done] = {"said"} if heard.words else set()
        if heard.question:
            story.asked = True
            did.add("asked")
            story.draws.turn_to(story.number, "answer")
            answer = self._answer_to(heard.question)
        if heard.advice:
            did.add("advised")
            plan = like(heard.advice, story.situation.pairs["plans"], self._facts())
            if plan:
                story.plans.append(plan)
        story.families.append(story.mood.family)
        story.last = LastReply(fit, answer, plan, frozenset(did))

    def _answer_to(self, question: str) -> Template:
        """The topic's answer to a similar question, or else a short generic answer."""
        story = self.story
        pairs = story.situation.pairs
        known = like(question, [*pairs["ask_fact"], *pairs["ask_reflect"]], self._facts(), question=True)
        return known.other if known else story.fresh(story.texts.frames[f"answers_{kind_of(question)}"])

    def _facts(self) -> frozenset[str]:
        """The words of the conversation's facts, which do not help to compare questions or advice."""
        return content(" ".join(self.story.reply_facts.values()))

    def _say(self, answer: Answer, reply: str) -> None:
        """Write the next message, and draw the feelings behind it."""
        story, frames = self.story, self.story.texts.frames
        if answer == "ends":
            self.done = True
            return
        core, shown = story.message.core, story.message.shown
        story.number += 1
        if answer != "repeats":  # a person who repeats a message still feels the same
            feel(story, self.mood)
            if self._carried:
                self._come_to(self._carried)
        if answer == "goes on":
            story.message, self._carried = write(story, carries=bool(self._carried)), ""
            self._word()
            return
        story.draws.turn_to(story.number, answer)
        writer = Writer(story)
        if answer == "repeats" and core:
            heeded = takes_up(core.text, reply, self._facts())
            writer.again(core, shown, story.fresh(frames["repeats_heard" if heeded else "repeats_missed"]))
        elif answer == "discloses" and self.held:
            family, cue = self.held
            self.bond.disclosed, self._carried = True, family
            self._come_to(family)
            frame = story.fresh(frames["discloses_good" if story.mood.sign > 0 else "discloses_bad"])
            writer.tell(cue, role="shows", frame=frame, first=True, family=family)
            writer.message.shown = (family,)
        else:
            writer.say(answer, story.fresh(frames[answer]), apart=True)
            self.done = answer == "leaves"
        story.message = writer.finish()
        self._word()

    def _come_to(self, family: str) -> None:
        """Make the feeling that was held back the one that is felt now."""
        story, mood, draws = self.story, self.mood, self.story.draws
        mood.family = family
        first = mood.first_shares()
        activation = max(story.mood.activation, 0.8)
        tag = draws.weighted(first), rating(2.4 + 3.2 * activation + 0.8 * draws.normal())
        sign = story.texts.families[family].sign
        story.mood = replace(
            story.mood, sign=sign, activation=activation, family=family, second_family=None, tags=(tag,),
            tag_probability=1.0, second_probability=0.0, first=first,
        )  # fmt: skip


def talk_at(world: Simulation, index: int, turn: int = 0) -> Talk:
    """`Talk(world, index, turn)`, with the recorded turns before it played only once for several replies."""
    if type(index) is not int or type(turn) is not int:
        return Talk(world, index, turn)  # raises the error
    return _begun(world, index, turn).copy()


@lru_cache(maxsize=BEGUN)
def _begun(world: Simulation, index: int, turn: int) -> Talk:
    return Talk(world, index, turn)
