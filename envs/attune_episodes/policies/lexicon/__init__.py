"""`lexicon`: a small reader.

It answers from the text of a request with an English word list and simple cues: which feelings the person
names or shows, what a reply does, what the message asks for. It learns nothing from annotations, uses only
the words of a request (not, for example, which questions apply), and reads no other language. It is a
baseline for models that claim to read, not an instrument.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from attune_data.format.constants import Side
from attune_episodes.policies.base import BuiltinPolicy, Given
from attune_episodes.policies.lexicon.behaviour import observed, wished
from attune_episodes.policies.lexicon.reflection import reflected
from attune_episodes.protocol.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer
from attune_rewards.reading.cues import words
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.feelings import read

POLICIES: Final = {
    "lexicon": {
        "kind": "reader",
        "uses": "the text, with a small word list",
        "answers": "what it reads; its default answers in other languages than English",
    },
}
REASONING: Final = "Read with a word list and simple cues."
"""The reasoning given if it is asked for."""
LONG: Final = 40
"""Number of words that count as much as one point of worth."""


class Weights(NamedTuple):
    """The weights of features for one comparison question."""

    brevity: float = 1.0
    echo: float = 1.0
    warmth: float = 1.0
    advice: float = 0.0


_WARM: Final = Weights(brevity=0.8, warmth=2.0)
_LIGHT: Final = Weights(brevity=1.5, advice=-0.5)
WEIGHTS: Final = {
    **dict.fromkeys(("PW1", "PW2", "PW4", "PW5", "PW10", "PW11"), _WARM),
    **dict.fromkeys(("PW3", "PW6", "PW8", "PW9", "PW15"), _LIGHT),
    **dict.fromkeys(("PW7", "PW12", "PW16"), Weights(brevity=0.7, advice=1.0)),
}
"""Comparison question -> its weights; for other questions, all features count equally."""


def make(name: str, given: Given) -> BuiltinPolicy:
    """Make this policy."""
    return LexiconPolicy()


@dataclass(frozen=True, slots=True)
class LexiconPolicy(BuiltinPolicy):
    """Answers every stage from the words of the request."""

    name: str = "lexicon"

    def prediction(self, request: Request) -> Prediction:
        """Predict from the words of the request."""
        said = self._read(request)
        return replace(said, reasoning=REASONING) if request.verbose else said

    def _read(self, request: Request) -> Prediction:
        if request.stage == "draft":
            return Draft(_draft(request.user_message))
        if request.stage == "prefer":
            return _preferred(request)
        if request.stage == "reflect":
            return reflected(request)
        exchange = Exchange(request.user_message, request.reply or "", request.history)
        did = observed(exchange, request.questions)
        wanted = wished(exchange, request.questions)
        if request.stage == "assess":
            return Assess(exchange.before.felt.tags, did, wanted)
        return AssessHP(did, wanted)


def _draft(message: str) -> str:
    """A short reply that names the feeling read and asks a question."""
    tags = read(message).tags
    if not tags:
        return "Thank you for telling me. What would help you most right now?"
    felt = " and ".join(tag.emotion.lower() for tag in tags[:2])
    return f"It sounds as if you feel {felt}, and that makes sense. Would you like to say more about it?"


def _preferred(request: Request) -> Prefer:
    """Pick, in each comparison, the response that is worth more to the person who wrote the message.

    A good response is about this person (it echoes their details), takes their feeling seriously, is not
    long, says nothing generic, and gives advice only if asked.
    """
    read = {
        label: Exchange(request.user_message, text, request.history)
        for label, text in request.responses.items()
    }
    picks: dict[int, Side] = {}
    for shown in request.comparisons:
        weights = WEIGHTS.get(shown.question, Weights())
        better = _worth(read[shown.label_a], weights) >= _worth(read[shown.label_b], weights)
        picks[shown.index] = shown.to_conversation("A" if better else "B")
    return Prefer(picks)


def _worth(x: Exchange, weights: Weights) -> float:
    length = len(words(x.reply)) or 1
    value = -weights.brevity * length / LONG
    value += weights.echo * min(2.0, 10 * x.echoes / length)
    if x.before.felt.tags:
        value += weights.warmth * 0.5 * (x.claims + x.has("validates"))
    advises = min(3, len(x.advice))
    value += 0.3 * advises * (weights.advice if x.before.practical else weights.advice - 1.0)
    value -= 0.4 * (x.count("generic") + x.count("flattery"))
    value -= 0.4 * x.stiff + 0.3 * min(3, x.reply.count("!"))
    return value
