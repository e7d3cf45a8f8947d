"""Estimate what playing a plan takes, without asking anybody: `attune people play … --dry-run`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attune_env.running.costs import Estimate, usage_of_messages
from attune_episodes.chat.completion import Usage
from attune_episodes.people.asks import HANDS, Ask, Cast, answered
from attune_episodes.people.cards import Card
from attune_episodes.people.play import play
from attune_episodes.people.state import ANSWERS, table

_WORDS: Final = "It was on Monday when the man from the flat below came up again with two of his bags. " * 4
"""About 80 words."""
_MATTER: Final = "They have not met since the letter came in May. " * 6


def estimate(cards: Sequence[Card], cast: Cast) -> list[Estimate]:
    """Estimate the calls and tokens of each hand, with messages and replies of 80 words."""
    usage, calls = dict.fromkeys(HANDS, Usage()), dict.fromkeys(HANDS, 0)

    def sketch(ask: Ask) -> str:
        text = _WORDS if ask.plain else json.dumps(_value(ask.schema))
        text = _MATTER if ask.request.id.endswith("/matter") else text
        calls[ask.hand] += 1
        usage[ask.hand] += usage_of_messages(ask.chat(), len(text))
        return text

    for card in cards:
        answered(play(card, cast), sketch)
    return [Estimate(hand, len(cards), calls[hand], 0, usage[hand], Usage()) for hand in HANDS]


def _value(schema: Mapping[str, Any], name: str = "") -> Any:
    """A short value that fits a schema of these requests; readings are such that nobody leaves."""
    if "enum" in schema:
        stays = name == ANSWERS or table()["wishes"].get(name, {}).get("base") == 1
        return schema["enum"][0 if stays else -1]
    if schema["type"] == "integer":
        return schema["minimum"]
    if schema["type"] == "object":
        return {key: _value(inner, key) for key, inner in schema["properties"].items()}
    return [] if schema["type"] == "array" else _WORDS
