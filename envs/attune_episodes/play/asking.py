"""`Asking`: ask one question until a reply counts. It does no I/O itself; the caller sends the messages.

The runner, judges, profile prediction, verifiers and Inspect all use it:

    asking = Asking(request, parse)
    for ask in asking:
        reply = await send(request.chat(), seed=asking.seed(7))
        asking.take(reply.text, reply.finish)
    asking.outcome
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from attune_data.seeding import digest
from attune_episodes.chat.faults import Fault
from attune_episodes.chat.finish import Verdict, verdict
from attune_episodes.parsing import Unparsed, sound
from attune_rewards.reward.score import OK

NOT_YET: Final = Unparsed("empty")
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
LONGEST_ASKED_PAUSE: Final = 120.0
"""Longest `Retry-After` that is obeyed, in seconds."""


class Question(Protocol):
    """Anything a model is asked: a `Request`, a `JudgeRequest`, a `ProfileRequest`."""

    @property
    def id(self) -> str:
        """The id, unique in a plan."""

    @property
    def plain(self) -> bool:
        """Whether the answer is plain text rather than a JSON object."""

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer."""

    def chat(self) -> list[dict[str, str]]:
        """The messages."""


Q = TypeVar("Q", bound=Question)
T = TypeVar("T")


@dataclass
class Asking(Generic[Q, T]):
    """Asks a question until a reply can be read, at most `most` times; the last reply counts.

    Iterating yields the number of each attempt, from 1; `take` must be called in between.
    """

    question: Q
    read: Callable[[Q, str], T | Unparsed]
    most: int = 3
    asks: int = 0
    """Number of replies taken so far."""
    finish_ok: Collection[str] = ()
    """Finish reasons that count as the model's own end; see `verdict`."""
    text: str = ""
    """The last reply; "" for a refusal, whose wording is not an answer."""
    finish: str = "stop"
    """The finish reason of the last reply, as sent by the server."""
    refusal: str = ""
    """The text of the last reply if it is a refusal."""
    outcome: T | Unparsed = NOT_YET
    """The parsed last reply."""
    unread: list[tuple[str, str]] = field(default_factory=list)
    """(reply, reason) for each reply before the last."""
    settled: bool = False
    """Whether the last reply counts."""

    def __iter__(self) -> Iterator[int]:
        while not self.settled and self.asks < self.most:
            yield self.asks + 1

    @property
    def status(self) -> str:
        """`ok` or `unparsed:<code>`, of the last reply."""
        return self.outcome.reason if isinstance(self.outcome, Unparsed) else OK

    @property
    def verdict(self) -> Verdict:
        """The verdict on the last reply."""
        plain, readable = self.question.plain, self.status == OK
        return verdict(self.finish, plain=plain, readable=readable, finish_ok=self.finish_ok)

    def take(self, text: str | None, finish: str = "stop") -> bool:
        """Parse a reply; returns whether it counts."""
        if self.asks:
            by_finish = self.status == OK or self.refusal
            self.unread.append((self.refusal or self.text, self.finish if by_finish else self.status))
        self.asks += 1
        self.text, self.finish, self.refusal = sound(text or ""), finish, ""
        if self.verdict == "refused":
            # every provider's refusal is an unanswered request, with or without words of its own
            self.text, self.refusal = "", self.text
        self.outcome = self.read(self.question, self.text)
        self.settled = self.verdict == "answer"
        return self.settled

    def seed(self, base: int, *place: object) -> int:
        """A different seed for each attempt, since the same one would draw the same unreadable reply again.

        `place`, by default the question's id, is hashed with it.
        """
        drawn = digest(base, *(place or (self.question.id,)), self.asks + 1)
        return int.from_bytes(drawn[:4], "big") >> 1


def pause(attempt: int, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> float:
    """Seconds to wait after the `attempt`-th failed attempt (from 1) at the same call.

    The delays double from `first` to `longest`, minus a random 0 to 50%, so that not all retry at once.
    """
    return min(longest, first * 2.0 ** min(attempt - 1, 32)) * random.uniform(0.5, 1.0)


async def patient(send: Callable[[], Awaitable[T]], retries: int, first: float = FIRST_PAUSE) -> T:
    """Await one call, and again after each fault that may pass, up to `retries` times.

    Between attempts it waits as long as the server asks, otherwise `pause`. Raises the last Fault.
    """
    attempt = 1
    while True:
        try:
            return await send()
        except Fault as fault:
            if fault.action != "retry" or attempt > retries:
                raise
            asked = fault.retry_after
            wait = pause(attempt, first) if asked is None else asked
        await asyncio.sleep(min(wait, LONGEST_ASKED_PAUSE))
        attempt += 1
