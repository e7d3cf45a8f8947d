"""`lexicon`: a small honest reader.

It answers from the text of a request with an English word list and simple cues: what the person names and
shows of a feeling, what a reply does, what the message asks for. It learns nothing from annotations, uses
only what a request shows in words (not, for one, which questions were found applicable), and reads no
other language. A null for models that claim to read, and no instrument.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.policies.lexicon.behaviour import observed
from attune_episodes.policies.lexicon.choice import preferred
from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.feelings import Feelings, read
from attune_episodes.policies.lexicon.reflection import reflected
from attune_episodes.policies.lexicon.wishes import wished
from attune_episodes.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction

__all__ = ["Feelings", "LexiconPolicy", "read"]

REASONING: Final = "Read with a word list and simple cues."
"""The reasoning given where it is asked for."""


@dataclass(frozen=True, slots=True)
class LexiconPolicy(BuiltinPolicy):
    """Reads the words of a request, and answers every stage from them."""

    name: str = "lexicon"

    def prediction(self, request: Request) -> Prediction:
        """Predict from the words of the request."""
        said = self._read(request)
        return replace(said, reasoning=REASONING) if request.verbose else said

    def _read(self, request: Request) -> Prediction:
        if request.stage == "draft":
            return Draft(_draft(request.user_message))
        if request.stage == "prefer":
            return preferred(request)
        if request.stage == "reflect":
            return reflected(request)
        exchange = Exchange(request.user_message, request.reply or "", request.history)
        did = observed(exchange, request.questions)
        wanted = wished(exchange, request.questions)
        if request.stage == "assess":
            return Assess(exchange.felt.tags, did, wanted)
        return AssessHP(did, wanted)


def _draft(message: str) -> str:
    """A short reply that names what was read and asks on."""
    tags = read(message).tags
    if not tags:
        return "Thank you for telling me. What would help you most right now?"
    felt = " and ".join(tag.emotion.lower() for tag in tags[:2])
    return f"It sounds as if you feel {felt}, and that makes sense. Would you like to say more about it?"
