"""Which of two responses the person would choose: a simple worth of each, weighed by the question asked.

A good response is about this person (echoes their details), takes their feeling seriously, is not long,
says nothing that could be said to anybody, and advises only who asked. English only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from attune_data.constants import Side
from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.reading import REPLY, count, words
from attune_episodes.policies.lexicon.wishes import Wish
from attune_episodes.request import Request
from attune_rewards.predictions import Prefer

LONG: Final = 40
"""Words that weigh as much as one point of worth."""


@dataclass(frozen=True)
class Weights:
    """The weights of one question."""

    brevity: float = 1.0
    echo: float = 1.0
    warmth: float = 1.0
    advice: float = 0.0


_WARM: Final = Weights(brevity=0.8, warmth=2.0)
_LIGHT: Final = Weights(brevity=1.5, advice=-0.5)
WEIGHTS: Final[Mapping[str, Weights]] = {
    **dict.fromkeys(("PW1", "PW2", "PW4", "PW5", "PW10", "PW11"), _WARM),
    **dict.fromkeys(("PW3", "PW6", "PW8", "PW9", "PW15"), _LIGHT),
    **dict.fromkeys(("PW7", "PW12", "PW16"), Weights(brevity=0.7, advice=1.0)),
}
"""Comparison question -> what counts for it; for the others everything counts alike."""


def preferred(request: Request) -> Prefer:
    """In each comparison the response of higher worth; side A where they are equal."""
    wish = Wish(request.user_message, tuple(message for message, _ in request.history))
    read = {
        label: Exchange(request.user_message, text, request.history)
        for label, text in request.responses.items()
    }
    picks: dict[int, Side] = {}
    for comparison in request.comparisons:
        weights = WEIGHTS.get(comparison.question, Weights())
        first, second = (
            worth(read[label], wish, weights) if label in read else 0.0
            for label in (comparison.label_a, comparison.label_b)
        )
        picks[comparison.index] = comparison.to_conversation("A" if first >= second else "B")
    return Prefer(picks)


def worth(exchange: Exchange, wish: Wish, weights: Weights) -> float:
    """The worth of a response to the person who wrote the message."""
    length = len(words(exchange.reply)) or 1
    value = -weights.brevity * length / LONG
    value += weights.echo * min(2.0, 10 * exchange.echoes / length)
    if wish.felt.tags:
        value += weights.warmth * 0.5 * (exchange.claims + exchange.validates)
    advises = min(3, len(exchange.advice))
    value += 0.3 * advises * (weights.advice if wish.practical else weights.advice - 1.0)
    value -= 0.4 * (count(REPLY["generic"], exchange.low) + count(REPLY["flattery"], exchange.low))
    value -= 0.4 * exchange.stiff + 0.3 * min(3, exchange.reply.count("!"))
    return value
