"""`read_message`: find the feelings that a message shows and the details it tells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attune_episodes.reading.claims import signs_of
from attune_episodes.reading.cues import details
from attune_episodes.reading.feelings import read
from attune_episodes.reading.reading import Claim
from attune_rewards.predictions import Tag


@dataclass(frozen=True)
class MessageReading:
    """The reading of one of a person's messages."""

    message: str
    tags: tuple[Tag, ...]
    """The best supported feelings, as the benchmark tags them; () for a neutral message."""
    shown: tuple[Claim, ...]
    """Every sign of a feeling of the writer, named or only shown, in order."""
    named: tuple[Claim, ...]
    """The signs that name a feeling."""

    @cached_property
    def told(self) -> frozenset[str]:
        """The details told: the beginnings of the message's topic words, and its numbers."""
        return details(self.message)


def read_message(message: str) -> MessageReading:
    """Read a person's message. English only; never raises, whatever the text."""
    shown = signs_of(message)
    return MessageReading(
        message,
        read(message).tags,
        tuple(claim for claim, _ in shown),
        tuple(claim for claim, named in shown if named),
    )
