"""Asks and steps: what a generator yields to be answered, and how generators are driven.

The key of an ask is the hash of everything that determines its answer: hand, model, settings, messages and
attempt. Who answers (an endpoint, a batch, inference elsewhere, a replay, pinned people) is no matter here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from attune_data.errors import AttuneError
from attune_data.seeding import digest
from attune_episodes.parsing import Unparsed
from attune_episodes.people.hands import HandRequest
from attune_episodes.protocol.schemas import Schema
from attune_episodes.protocol.settings import Settings

T = TypeVar("T")

PERSON, READER, ASSISTANTS = "person", "reader", ("assistant-1", "assistant-2")
HANDS: Final = (PERSON, *ASSISTANTS, READER)


class GivenUpError(AttuneError):
    """A hand gave no answer that can be used."""


@dataclass(frozen=True)
class Hand:
    """Who plays a hand."""

    model: str
    """The name by which the answers are kept, such as `provider/model`, or a description of other hands."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Settings that determine the answers, as in `Sampling.describe`."""
    family: str = ""
    """The family of models, by default the first word of the model's name."""

    @property
    def kin(self) -> str:
        """The family, for saying whether two hands are of one."""
        name = self.model.rsplit("/", 1)[-1].lower()
        word = re.match(r"[a-z]+", name)
        return self.family or (word[0] if word else name)


@dataclass(frozen=True)
class Cast:
    """Who plays the hands, and how much is checked."""

    person: Hand
    assistants: tuple[Hand, ...]
    """One or two."""
    reader: Hand
    attempts: int = 3
    """How often a hand is asked until its answer can be used."""
    checked: float = 0.1
    """Share of messages in which the reader looks for what should show; 1 while a plan is tried."""
    twice: float = 0.1
    """Share of replies that are read twice, for the agreement of the reader with itself."""
    settings: Settings = field(default_factory=Settings)
    """Only the codebook and the prompt set are used."""

    def by(self, hand: str) -> Hand:
        """Who plays a hand."""
        if hand in ASSISTANTS:
            return self.assistants[ASSISTANTS.index(hand) % len(self.assistants)]
        return self.person if hand == PERSON else self.reader

    @property
    def one_family(self) -> bool:
        """Whether all hands are of one family of models."""
        return len({hand.kin for hand in (self.person, self.reader, *self.assistants)}) == 1

    def describe(self) -> dict[str, Any]:
        """Who plays which hand, as recorded."""
        played = {name: self.by(name).model for name in HANDS}
        return {"hands": played, "one_family": self.one_family}


@dataclass(frozen=True)
class Ask:
    """One request to one hand; a `Question` of `attune_episodes.play.asking`."""

    hand: str
    by: Hand
    request: HandRequest
    attempt: int = 1

    @property
    def id(self) -> str:
        """The id of the request and the number of the attempt, unique in a plan."""
        return f"{self.request.id}/{self.attempt}"

    @property
    def plain(self) -> bool:
        """Whether the answer is plain text rather than a JSON object."""
        return self.request.plain

    @property
    def schema(self) -> Schema:
        """JSON schema of the answer."""
        return self.request.schema

    def chat(self) -> list[dict[str, str]]:
        """The messages."""
        return self.request.chat()

    @cached_property
    def key(self) -> str:
        """A hash of hand, model, settings, messages and attempt: 32 hex digits."""
        asked = [self.hand, self.by.model, dict(self.by.sampling), self.chat(), self.attempt]
        return digest("ask", json.dumps(asked, sort_keys=True)).hex()[:32]


Answers = Mapping[str, str]
"""Key of an ask -> the answer's text."""
Steps = Generator[list[Ask], Answers, T]
"""Yields what it needs answered, is sent the answers, returns a T."""


def asked(
    cast: Cast, hand: str, make: Callable[[str], HandRequest], why: str = "", before: int = 0
) -> Steps[Any]:
    """Ask a hand until its answer can be used; raises GivenUpError after `cast.attempts`.

    Args:
        cast: who plays.
        hand: the hand that is asked.
        make: makes the request from what was wrong with the last answer, "" at first.
        why: what was wrong with an earlier answer that could be read.
        before: number of attempts before.
    """
    for attempt in range(1, cast.attempts + 1):
        ask = Ask(hand, cast.by(hand), make(why), before + attempt)
        answers = yield [ask]
        said = ask.request.parse(answers[ask.key])
        if not isinstance(said, Unparsed):
            return said
        why = said.detail or said.reason
    raise GivenUpError(
        f"{ask.request.id}: no usable answer from {ask.by.model} in {cast.attempts} attempts: {why}"
    )


def together(*steps: Steps[Any]) -> Steps[list[Any]]:
    """Play several generators side by side; the list of what they return."""
    found: dict[int, Any] = {}
    waiting: dict[int, list[Ask]] = {}

    def go(i: int, answers: Answers | None) -> None:
        try:
            waiting[i] = next(steps[i]) if answers is None else steps[i].send(answers)
        except StopIteration as end:
            found[i] = end.value

    for i in range(len(steps)):
        go(i, None)
    while waiting:
        answers = yield [ask for i in sorted(waiting) for ask in waiting[i]]
        for i in sorted(waiting):
            own = {ask.key: answers[ask.key] for ask in waiting.pop(i)}
            go(i, own)
    return [found[i] for i in range(len(steps))]


def answered(steps: Steps[T], answer: Callable[[Ask], str]) -> T:
    """Play a generator to its end with one function that answers everything."""
    try:
        asks = next(steps)
        while True:
            asks = steps.send({ask.key: answer(ask) for ask in asks})
    except StopIteration as end:
        return cast(T, end.value)
