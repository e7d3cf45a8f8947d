"""Live episodes: the policy is the assistant of a played person, and is paid for every reply.

    episode = LiveEpisode(card, person=Endpoint("http://localhost:8000/v1", "MODEL"))
    while not episode.done:
        turn = episode.say(policy(episode.chat()))    # policy: chat messages -> text
    print(episode.total, episode.closing.fit)

The reward is the benchmark's draft metric, live: `attune_rewards.reward.alignment`. A reply moves the
person's state, so wishes change, and a person who is missed leaves. The person's judgement at the end is
apart from the reward: where the two part, the reward is being gamed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, Final, TypeVar

from attune_data.errors import AttuneError
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.parsing.reasoning import plain_reply
from attune_episodes.people.asks import READER, Ask, Cast, GivenUpError, Hand, Steps, answered
from attune_episodes.people.cards import Card
from attune_episodes.people.closing import Closing, closing
from attune_episodes.people.play import Played, PlayedTurn, Said, concrete, reading, spoken
from attune_episodes.people.record import record
from attune_episodes.people.state import (
    ANSWERS,
    GIVES_IN,
    Read,
    Wishes,
    feelings,
    first_state,
    leaves,
    moved,
    wishes,
)
from attune_rewards.predictions import YesNo
from attune_rewards.reading import Exchange
from attune_rewards.reading.cues import LIMIT
from attune_rewards.reward.alignment import alignment
from attune_rewards.reward.spec import above_baseline

T = TypeVar("T")

Answerer = Callable[[Ask], str]
"""Plays a hand: an `Endpoint`, `Pinned` people, or any function from an ask to a text.

Its attribute `hand`, if there is one, says under which name it plays; `cast`, who plays all hands.
"""
CONSTANT: Final = 0.5
"""The mean share of wishes that the best constant reply meets: the one of six fixed texts, from stock
sympathy to a list of advice, that does most for the first messages of twelve played people."""
POLICY: Final = Hand("policy")


class LiveError(AttuneError):
    """A live episode is asked for something that it does not have at this point."""


@dataclass(frozen=True)
class LiveTurn:
    """One turn of a live episode."""

    message: str
    reply: str
    """The reply as the person received it: without reasoning, cut to 20,000 characters."""
    reward: float
    """(share - c) / (1 - c), where c is what the best constant reply meets; 1 is full agreement."""
    share: float
    """The share of wishes met; at most c if the reply does not answer the message, or gives in."""
    wanted: Wishes
    """Question -> what the person wanted of the reply; decided before it."""
    read: Read
    """Question -> what the reader says that it did."""


def paid(exchange: Exchange, wanted: Wishes, read: Read) -> tuple[float, float]:
    """The share of wishes that a reply meets, and its reward."""
    pairs = [(question, want) for question, want in wanted.items() if want != "na"]
    share = alignment(exchange, pairs, read, CONSTANT)
    return share, above_baseline(share, CONSTANT) if pairs else 0.0


class LiveEpisode:
    """A conversation of a policy with a played person.

    It can be pickled at any turn if the person and the reader can. After an error in `say`, the same call
    goes on: nothing that was answered is asked again.
    """

    def __init__(
        self,
        card: Card,
        cast: Cast | None = None,
        *,
        person: Answerer,
        reader: Answerer | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> None:
        """Begin: the person writes the first message.

        Args:
            card: who is played, such as one of `plan(…)`.
            cast: under which names the hands are played; by default, those of `person` and `reader`.
            person: plays the person.
            reader: reads what the replies did; by default, whoever plays the person, who then needs to be
                asked without memory.
            answers: key -> answer of an earlier episode (its `answers`), which are not asked for again.

        Raises GivenUpError if a hand gives no usable answer, and whatever a hand raises.
        """
        self.person, self.reader = person, reader or person
        self.cast = cast or getattr(person, "cast", None) or self._own_cast()
        self.answers = dict(answers or {})
        """Key -> answer, of everything that was asked."""
        self.card = self._ask(concrete(card, self.cast))
        """The card, with its matter."""
        self.state = first_state(self.card)
        """The person's state; a policy that sees it reads the answers."""
        self.turns: list[LiveTurn] = []
        """The turns so far."""
        self._before: list[Said] = []
        self._said: Said | None = self._ask(spoken(self.card, self.cast, self.state, ()))

    @property
    def message(self) -> str:
        """The message to reply to; "" once the conversation is over."""
        return self._said.text if self._said else ""

    @property
    def history(self) -> tuple[tuple[str, str], ...]:
        """(message, reply) of each turn so far."""
        return tuple((turn.message, turn.reply) for turn in self.turns)

    @property
    def done(self) -> bool:
        """Whether the conversation is over: all turns have been, or the person has left."""
        return self._said is None

    @property
    def left(self) -> bool:
        """Whether the person left before the last turn."""
        return self.done and len(self.turns) < self.card.turns

    @property
    def total(self) -> float:
        """The mean reward over all planned turns; those lost because the person left earn as silence does."""
        earned = fsum(turn.reward for turn in self.turns)
        if self.left:
            earned += (self.card.turns - len(self.turns)) * self._of_silence()
        return earned / self.card.turns

    @property
    def closing(self) -> Closing:
        """The person's judgement of the conversation so far; it is not part of the reward."""
        self._needs_turn()
        return closing(self.card, self.state)

    def chat(self) -> list[dict[str, str]]:
        """The conversation so far as chat messages, without a system message."""
        texts = [text for pair in self.history for text in pair] + [self.message] * (not self.done)
        return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]

    def say(self, text: str) -> LiveTurn:
        """Reply to the person, who answers or leaves; returns the turn with its reward.

        A reply that is empty or only reasoning is silence, which nobody has to read. Raises LiveError after
        the end, GivenUpError if a hand gives no usable answer, and whatever a hand raises.
        """
        said = self._said
        if said is None:
            raise LiveError(
                f"conversation {self.card.id} is over after turn {len(self.turns)}; begin another LiveEpisode"
            )
        plain = plain_reply(sound(text[:LIMIT]))
        reply = "" if isinstance(plain, Unparsed) else plain
        past, wanted = self.history, said.wanted
        read: Read = self._silence()
        if reply:
            read = self._ask(reading(self.card, self.cast, self.state.turn, past, said.text, reply))
        state = moved(self.card, self.state, said.tags, wanted, read)
        following = None
        if not leaves(self.card, state):
            following = self._ask(spoken(self.card, self.cast, state, (*past, (said.text, reply))))
        share, reward = paid(Exchange(said.text, reply, past), wanted, read)
        # nothing has changed until here, so that an error above leaves the episode where it was
        self.turns.append(LiveTurn(said.text, reply, reward, share, wanted, read))
        self._before.append(said)
        self.state, self._said = state, following
        return self.turns[-1]

    def record(self) -> dict[str, Any]:
        """The conversation so far as a record of the benchmark's format, as of any played one."""
        self._needs_turn()
        turns = tuple(
            PlayedTurn(
                said.tags, said.origin, turn.message, (turn.reply, ""), "policy", turn.wanted, turn.read
            )
            for said, turn in zip(self._before, self.turns, strict=True)
        )
        return record(Played(self.card, self.cast, turns, self.state))

    def _silence(self) -> dict[str, YesNo]:
        return dict.fromkeys((*self.card.asked, ANSWERS, GIVES_IN), "no")

    def _of_silence(self) -> float:
        """Return the reward of silence in the person's present state."""
        wanted = wishes(self.card, self.state, feelings(self.card, self.state))
        return paid(Exchange("", "", ()), wanted, self._silence())[1]

    def _needs_turn(self) -> None:
        if not self.turns:
            raise LiveError(
                f"nothing was said yet in conversation {self.card.id}; reply first, with say(text)"
            )

    def _own_cast(self) -> Cast:
        person, reader = (getattr(one, "hand", Hand("elsewhere")) for one in (self.person, self.reader))
        return Cast(person, (POLICY,), reader)

    def _ask(self, steps: Steps[T]) -> T:
        before = dict(self.answers)
        try:
            return answered(steps, self._answer)
        except GivenUpError:
            self.answers = before  # so that the hand is really asked again
            raise

    def _answer(self, ask: Ask) -> str:
        if ask.key not in self.answers:
            self.answers[ask.key] = (self.reader if ask.hand == READER else self.person)(ask)
        return self.answers[ask.key]
