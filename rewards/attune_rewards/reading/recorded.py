"""`RecordedReader`: readings that somebody made before, by the hash of what was read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from attune_data.errors import DataError, Problem
from attune_rewards.predictions import YesNo
from attune_rewards.reading.exchange import Exchange


def reading_key(exchange: Exchange) -> str:
    """The hash of a reply with the message and the exchanges before it: 16 hex digits."""
    texts = [list(map(list, exchange.history)), exchange.message, exchange.reply]
    return sha256(json.dumps(texts).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class RecordedReader:
    """A reader that knows what was read before, and nothing else."""

    readings: Mapping[str, Mapping[str, YesNo]]
    """`reading_key` of an exchange -> question -> answer."""
    name: str = "recorded"

    @property
    def questions(self) -> frozenset[str]:
        """The questions of all readings."""
        return frozenset(question for answers in self.readings.values() for question in answers)

    def read(self, exchange: Exchange) -> dict[str, YesNo]:
        """The recorded answers; raises DataError if there are none."""
        key = reading_key(exchange)
        if key not in self.readings:
            advice = "record a reading of this reply, or take a reader that reads anything"
            raise DataError(Problem("readings", key, "no reading of this reply", "a recorded one", advice))
        return dict(self.readings[key])
