"""`lexicon`: read by rules, one for each question. English only; nothing is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from attune_episodes.reading.claims import claims_in
from attune_episodes.reading.evidence import evidence
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.guard import guarded_reading
from attune_episodes.reading.reading import Reading
from attune_episodes.reading.rules import RULES

SURE: Final = 0.9
"""The probability of a yes if the rule applies; 1 minus it if not."""


@dataclass(frozen=True, slots=True)
class LexiconReader:
    """A reader that uses word lists and simple cues."""

    name: str = "lexicon"
    questions: frozenset[str] = frozenset(RULES)

    def read(self, exchange: Exchange) -> Reading:
        """Read the reply of an exchange."""
        found = guarded_reading(exchange, _by_rules)
        spans = {question: evidence(exchange, question) for question, p in found.items() if p == SURE}
        return Reading(found, {q: those for q, those in spans.items() if those}, claims_in(exchange.reply))


def _by_rules(exchange: Exchange) -> dict[str, float]:
    return {question: SURE if rule(exchange) else 1 - SURE for question, rule in RULES.items()}
