"""Writers behind the server, for voices: one that says every point, and careless ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.endpoint.answers import Messages, key_of

Spoil = Callable[[list[str], bool], str]
"""From the sentences of a faithful text, and whether it is a message, to what is said instead."""
CARELESS: Final[dict[str, Spoil]] = {
    "drops": lambda said, _: " ".join(said[1:]) or "Right.",
    "adds": lambda said, is_message: " ".join(
        [*said, "I'm so furious about it." if is_message else "You should see it as maladaptive rumination."]
    ),
    "names": lambda said, is_message: " ".join(
        [*said, "I feel ashamed and scared." if is_message else "You feel ashamed, proud and scared."]
    ),
    "german": lambda said, _: "Das war ein sehr langer Tag, und ich weiß nicht mehr, was ich sagen soll.",
    "empty": lambda said, _: " ",
    "long": lambda said, _: " ".join(said * 200),
    "json": lambda said, _: '{"text": "' + " ".join(said) + '"}',
}  # fmt: skip


@dataclass
class Writer:
    """Says the points of a packet as sentences; for the first `times` asks of each text, carelessly."""

    spoil: Spoil | None = None
    times: int = 99
    asks: Counter[str] = field(default_factory=Counter)

    def __call__(self, messages: Messages) -> str:
        key = key_of(messages)
        self.asks[key] += 1
        points = messages[-1]["content"].split("\nThe points of the ")[1].splitlines()[1:]
        said = [point.split(") ", 1)[1] for point in points]
        said = [one[:1].upper() + one[1:] + ("" if one[-1] in ".!?" else ".") for one in said]
        if self.spoil is not None and self.asks[key] <= self.times:
            return self.spoil(said, self.request_id(messages).startswith("message"))
        return " ".join(said)

    def request_id(self, messages: Messages) -> str:
        """`message N` or `reply N` of turn N, for the faults of the server."""
        asked = messages[-1]["content"]
        is_message = "\nThe points of the message:" in asked
        return f"{'message' if is_message else 'reply'} {asked.count(chr(10) + 'Person: ') + is_message}"
