"""`Asking`: one question from its first ask to the reply that counts. It does no I/O: its caller sends.

Runner, judges, profile prediction, verifiers and Inspect all use it:

    asking = Asking(request, parse)
    for ask in asking:
        reply = await send(request.chat(), seed=asking.seed(7))
        asking.take(reply.text, reply.finish)
    asking.outcome
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from attune_data.seeding import digest
from attune_episodes.parsing import Unparsed, sound

OK: Final = "ok"
CUT: Final = frozenset({"length", "max_tokens", "model_length"})
"""How servers and harnesses call a reply that was cut off at its longest."""
REFUSED: Final = frozenset({"refusal", "content_filter"})
NOT_YET: Final = Unparsed("empty")
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0


class Question(Protocol):
    """Anything a model is asked: a `Request`, a `JudgeRequest`, a `ProfileRequest`."""

    @property
    def id(self) -> str:
        """Unique in a plan."""

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
    """Asks a question until its reply can be read, at most `most` times; the last reply counts.

    Iterating gives the number of each ask, from 1; `take` has to be called in between.
    """

    question: Q
    read: Callable[[Q, str], T | Unparsed]
    most: int = 3
    asks: int = 0
    """Replies taken so far."""
    text: str = ""
    """The last reply."""
    finish: str = "stop"
    """How the last reply ended, in the words of whoever sent it."""
    outcome: T | Unparsed = NOT_YET
    """The reading of the last reply."""
    unread: list[tuple[str, str]] = field(default_factory=list)
    """(reply, reason) of each reply before the last."""
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
    def whole(self) -> bool:
        """Whether the last reply is the model's own, complete answer."""
        # an object that can be read is whole; a text may end in its middle
        return self.finish not in REFUSED and not (self.question.plain and self.finish in CUT)

    def take(self, text: str | None, finish: str = "stop") -> bool:
        """Reads a reply; returns whether it counts."""
        if self.asks:
            self.unread.append((self.text, self.finish if self.status == OK else self.status))
        self.asks += 1
        self.text, self.finish = sound(text or ""), finish
        self.outcome = self.read(self.question, self.text)
        self.settled = self.status == OK and self.whole
        return self.settled

    def seed(self, base: int, *place: object) -> int:
        """A seed for the next ask: the same one would draw the same unreadable reply again.

        `place` is hashed with it; by default the question's id.
        """
        drawn = digest(base, *(place or (self.question.id,)), self.asks + 1)
        return int.from_bytes(drawn[:4], "big") >> 1


def pause(attempt: int, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> float:
    """Seconds to wait after the `attempt`-th failed attempt (from 1) at the same call.

    They double from `first` to `longest`; a random 0 to 50 % is taken off, so that not all retry at once.
    """
    return min(longest, first * 2.0 ** min(attempt - 1, 32)) * random.uniform(0.5, 1.0)
