"""The replies that a person would have wanted: a lay person's defaults, moved by what the message asks for.

Most people want to be read rightly and in a fitting tone, and want no sermons, clichés or repetitions.
Advice and reasons are wanted by who asks for them; acknowledgement by who feels something. English only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.feelings import Feelings, read
from attune_episodes.policies.lexicon.reading import WISH, plain
from attune_rewards.predictions import YesNo


@dataclass(frozen=True)
class Wish:
    """The requests in a message, given the thread before it."""

    message: str
    before: tuple[str, ...] = ()
    """The person's earlier messages."""

    @cached_property
    def low(self) -> str:
        """The message in plain form."""
        return plain(self.message)

    @cached_property
    def felt(self) -> Feelings:
        """The feelings read in the message."""
        return read(self.message)

    @cached_property
    def vents(self) -> bool:
        """Whether the person wants to be heard and no more, and has not asked for anything since."""
        if WISH["no_advice"].search(self.low):
            return True
        return not self.asks and any(WISH["no_advice"].search(plain(text)) for text in self.before)

    @cached_property
    def advice(self) -> bool:
        """Whether advice is asked for."""
        return WISH["advice"].search(self.low) is not None and not WISH["no_advice"].search(self.low)

    @cached_property
    def facts(self) -> bool:
        """Whether information is asked for."""
        return "?" in self.message and WISH["facts"].search(self.low) is not None

    @cached_property
    def asks(self) -> bool:
        """Whether advice or information is asked for."""
        return self.advice or self.facts

    @cached_property
    def practical(self) -> bool:
        """Whether help of a practical kind is wanted: asked for now, or earlier and details follow."""
        if self.vents:
            return False
        asked = any(Wish(text).asks for text in self.before)
        return self.asks or (asked and not self.felt.tags)

    @cached_property
    def sorts(self) -> bool:
        """Whether the person is trying to understand how they feel."""
        return not self.vents and WISH["unsure"].search(self.low) is not None


def wished(exchange: Exchange, questions: Iterable[str]) -> dict[str, YesNo]:
    """The preferred answer to each question."""
    wish = Wish(exchange.message, tuple(message for message, _ in exchange.history))
    feels = bool(wish.felt.tags)
    practical = wish.practical
    wanted = {
        **dict.fromkeys(("B2", "B3", "B7", "B8", "B9", "B10", "B15", "B16", "B108", "B109"), True),
        **dict.fromkeys(("B1", "B4", "B19"), feels),
        "B5": feels and bool(exchange.history),
        "B11": practical,
        "B12": practical,
        "B13": wish.sorts,
        "B17": WISH["risky"].search(wish.low) is not None,
        "B18": WISH["risky"].search(wish.low) is not None,
        **dict.fromkeys(("B501", "B505"), wish.sorts and not practical),
    }
    return {question: "yes" if wanted.get(question) else "no" for question in questions}
