"""`LiveEpisode`: a simulated person answers the policy's own replies until they end it or leave.

The raw return of n planned turns, of which T took place (the rest are lost if the person leaves):

    R = (Σ worth_t - SILENCE·(n - T)) / n + Φ_T,    Φ = LIFT·lift + TOLD·told

where worth is what a reply is worth to the person (`attune_data.simulate.hearing`), `lift` what the replies
did to positive minus negative affect, and `told` is 1 once the person has disclosed what they held back. Each
turn earns its share plus the change in Φ, so the rewards add up to the total, (R - zero)/unit, however many
turns are lost.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, NamedTuple

from attune_data.errors import SettingsError
from attune_data.simulate.hearing import BRIEF, Bond, Heard, Taken
from attune_data.simulate.live import Answer, Talk, talk_at
from attune_data.simulate.stream import LEVELS, Simulation
from attune_episodes.episode import EpisodeOverError
from attune_episodes.live import questions
from attune_episodes.live.constants import Constants, constants
from attune_episodes.live.hearing import heard
from attune_episodes.live.questions import Felt
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.parsing.extract import plain_reply
from attune_episodes.reading import READERS, Exchange, Reader, Reading, reader
from attune_episodes.request import Request
from attune_rewards.reward import Score

SILENCE: Final = BRIEF[1]
"""The cost of a lost turn, the same as for saying nothing in it."""
LIFT: Final = 0.1
TOLD: Final = 0.2
READ: Final = 20_000
"""How many characters of a reply are read."""
CLEANED: Final = 2 * READ
"""How many characters of a reply are cleaned of invisible ones before it is read."""
DEFAULT: Final = "fitted"
"""The reader that is used if none is named."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cn", "Cs"})


class LiveTurn(NamedTuple):
    """One reply, what was read in it, and what it earned."""

    message: str
    """The message that the reply answers."""
    reply: str
    """The reply as the person sees it, without reasoning and invisible characters."""
    reading: Reading
    heard: Heard
    """The acts that the person heard in it, credited or penalised."""
    taken: Taken
    """Its worth to the person, part by part."""
    fit: float
    """How well it fits, in [-1, 1]."""
    answer: Answer
    """The person's next move."""
    reward: float
    done: bool

    def __repr__(self) -> str:
        return f"LiveTurn(reward {self.reward:+.3f}, fit {self.fit:+.2f}, the person {self.answer})"


class LiveEpisode:
    """One conversation in which the person answers the policy.

    >>> from attune_data.simulate import Simulation
    >>> live = LiveEpisode(Simulation(seed=1), 3)
    >>> turn = live.say("")
    >>> turn.reward < 0
    True
    """

    def __init__(
        self,
        world: Simulation,
        index: int,
        *,
        turn: int = 0,
        reader: Reader | str | None = None,
        measured: Constants | None = None,
    ) -> None:
        """Begin a conversation, with the person's first message.

        Args:
            world: the simulation.
            index: which of its conversations; it opens with the recorded first message.
            turn: the recorded turn, counted from 0, at which the policy takes over; earlier turns go as
                recorded and earn nothing.
            reader: what reads the replies: a name in `READERS` or your own reader; by default `fitted`.
            measured: the baseline and the unit; by default those of the reader at the world's level
                (for a level of your own, those of `default`).
        """
        if not isinstance(world, Simulation):
            raise SettingsError(f"world is {world!r}; it must be a Simulation(…), whose people have a state")
        self.world, self.index = world, index
        self.reader = named(reader)
        level = world.level.name if LEVELS.get(world.level.name) == world.level else "default"
        self.measured = measured or constants(self.reader.name, level)
        self.turns: list[LiveTurn] = []
        self._talk = talk_at(world, index, turn)
        self._start = turn
        self._felt: list[Felt] = []

    def copy(self) -> LiveEpisode:
        """The same conversation at the same turn, for another reply to the same message."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.turns, made._felt, made._talk = list(self.turns), list(self._felt), self._talk.copy()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Keep for a pickle the world, the replies and their readings; the rest is rebuilt from these."""
        known = self.reader.name if self.reader.name in READERS else self.reader
        said = [(turn.reply, turn.reading) for turn in self.turns]
        return {"of": (self.world, self.index, self._start, known, self.measured), "said": said}

    def __setstate__(self, state: dict[str, Any]) -> None:
        world, index, start, known, measured = state["of"]
        LiveEpisode.__init__(self, world, index, turn=start, reader=known, measured=measured)
        for reply, reading in state["said"]:
            self._take(reply, reading)

    def __repr__(self) -> str:
        state = "over" if self.done else f"turn {self._start + len(self.turns) + 1}"
        return f"LiveEpisode({self.world!r}, {self.index}, {state}, total {self.total:+.3f})"

    @property
    def message(self) -> str:
        """The person's last message, which no reply has answered; after they left, their final words.

        "" once they ended the conversation without another word.
        """
        ended = self.done and self.turns[-1].answer == "ends"
        return "" if ended else self._talk.message.text

    @property
    def done(self) -> bool:
        """Whether the conversation is over."""
        return self._talk.done

    @property
    def name(self) -> str:
        """The id of the conversation, such as `live-3fb2c1d09a47-3`."""
        return f"live-{self.world.key[:12]}-{self.index}"

    @property
    def length(self) -> int:
        """How many replies the policy gives, unless the person leaves early."""
        return self._talk.story.count - self._start

    @property
    def felt(self) -> tuple[Felt, ...]:
        """The feelings and wants of the person when each reply arrived; never show it to a policy."""
        return tuple(self._felt)

    @property
    def total(self) -> float:
        """The sum of the rewards; averaged over people, 0 for the best constant and 1 for the oracle."""
        return sum(turn.reward for turn in self.turns)

    @property
    def history(self) -> tuple[tuple[str, str], ...]:
        """The (message, reply) pairs so far, the recorded ones first."""
        return self._talk.said

    def chat(self) -> list[dict[str, str]]:
        """The conversation as chat messages: the person is the user, the policy the assistant."""
        said = [
            {"role": role, "content": text}
            for pair in self.history
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        return [*said, {"role": "user", "content": self.message}] if self.message else said

    def say(self, text: str | None) -> LiveTurn:
        """Say a reply: it is read, moves the person, and is rewarded.

        Any text is accepted; None counts as an empty one, and reasoning blocks are not said. Raises
        EpisodeOverError after the end.
        """
        if self.done:
            raise EpisodeOverError(
                f"the person has ended live conversation {self.index} of {self.world!r} after "
                f"{len(self.turns)} turns; make a new LiveEpisode to start again"
            )
        if not isinstance(text, str | None):
            raise TypeError(f"a reply must be a text, got {type(text).__name__}")
        reply = visible(text or "")
        return self._take(reply, self.reader.read(self._exchange(reply)))

    def worth(self, text: str) -> Taken:
        """The worth that a reply would have to the person now, without saying it. For oracles and attacks."""
        reply = visible(text)
        return self._talk.take(self._heard(reply, self.reader.read(self._exchange(reply))))

    def wants(self) -> dict[str, float]:
        """Construct -> what doing it is worth to the person now, for those that the reader reads."""
        found, read = self._talk.wants, self.reader.questions
        return {construct: value for construct, value in found.items() if construct in read}

    def oracle(self) -> str:
        """The state-knowing reply: the best of several that say what is felt and do what is wanted."""
        from attune_episodes.live.oracle import oracle  # it plays episodes

        return oracle(self)

    def ask(self) -> Request | None:
        """The benchmark's questions about the turn answered last: what was felt, what was wanted.

        None before the first reply. The answer changes nothing and is not part of the total.
        """
        return questions.asked(questions.conversation(self, self._felt)) if self.turns else None

    def answer(self, text: str) -> Score:
        """The score of the answer to `ask`: half for what was felt, half for what was wanted; in [0, 1].

        Raises SettingsError before the first reply.
        """
        if not self.turns:
            raise SettingsError("nothing was asked: say something first, then ask, then answer")
        spoken = questions.conversation(self, self._felt)
        return questions.scored(spoken, questions.asked(spoken), text)

    @property
    def talk(self) -> Talk:
        """The person's state; never show it to a policy."""
        return self._talk

    def _exchange(self, reply: str) -> Exchange:
        return Exchange(self.message, reply[:READ], self.history)

    def _heard(self, reply: str, reading: Reading) -> Heard:
        talk = self._talk
        return heard(self._exchange(reply), reading, self.reader.questions, talk.wants, talk.message)

    def _take(self, reply: str, reading: Reading) -> LiveTurn:
        talk, message = self._talk, self.message
        before = potential(talk.bond)
        self._felt.append(Felt(talk.story.mood.tags, self.wants()))
        found = self._heard(reply, reading)
        step = talk.hear(found, reply)
        count = talk.story.count
        earned = step.taken.worth / count + potential(talk.bond) - before
        share = 1
        if talk.done:
            lost = self.length - len(self.turns) - 1
            earned -= SILENCE * lost / count
            share += lost
        reward = (earned - self.measured.zero * share / count) / self.measured.unit
        turn = LiveTurn(message, reply, reading, found, step.taken, step.fit, step.answer, reward, talk.done)
        self.turns.append(turn)
        return turn


def potential(bond: Bond) -> float:
    """Φ, what the state is worth."""
    return LIFT * bond.lift + TOLD * bond.disclosed


def named(one: Reader | str | None) -> Reader:
    """The reader that is given, the one with that name, or the default."""
    return reader(one or DEFAULT) if isinstance(one, str | None) else one


def visible(text: str) -> str:
    """A reply as a person sees it: letters in normal form, reasoning and invisible characters removed.

    Reasoning is what the parser of recorded replies takes for it; where a block is never closed, nothing was
    said.
    """
    said = plain_reply(text)
    text = "" if isinstance(said, Unparsed) else said
    if text.isascii() and text.isprintable():
        return text
    head, tail = text[:CLEANED], sound(text[CLEANED:])
    kept = re.sub(r"\s*\n|[^\S\n]+", _space, unicodedata.normalize("NFKC", sound(head)))
    return "".join(c for c in kept if c == "\n" or unicodedata.category(c) not in _UNSEEN) + tail


def _space(found: re.Match[str]) -> str:
    return "\n" if found[0].endswith("\n") else " "
