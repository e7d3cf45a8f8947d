"""Read feelings from a person's words: PANAS items with an intensity.

English only, with a small list and simple rules: a cue counts unless it is negated ("not angry") or about
somebody else ("he was angry"); amplifiers and diminishers nearby change the intensity. It reads text and is
not a psychological instrument: it says nothing about anybody's state.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from attune_data.format.affect import EMOTIONS, POLARITY
from attune_rewards.predictions import Tag
from attune_rewards.reading.cues import CACHED, ITEMS, LIMIT, WORDS, in_message, plain, word_list, words

NAMED_WEIGHT: Final = 1.6
SHOWN_WEIGHT: Final = 1.0
ENOUGH: Final = 1.0
"""The weight at which a feeling is tagged in a message that asks for nothing."""
PER_REQUEST: Final = 0.35
"""How much each further sign of a practical request raises that weight."""
SHARE: Final = 0.5
"""The share of the strongest feeling's weight that a further feeling must reach."""
MOST: Final = 3

_NEAR: Final = 5
_BEFORE: Final = 80
_CLAUSE: Final = re.compile(r"[.,;:!?\n()]|\b(?:but|because|although|though)\b")
_CAPITALS: Final = re.compile(r"\b[A-Z]{4,}\b")
_QUOTED: Final = re.compile(r'"[^"\n]{1,120}"')
"""Quotations, which are mostly somebody else's words."""
_PERSONS: Final = WORDS["own"] | WORDS["others"]
_FIGURES: Final = re.compile(r"\d+")


@dataclass(frozen=True)
class Feelings:
    """The reading of one text."""

    weights: dict[str, float]
    """PANAS item -> weight of the evidence for it."""
    intensities: dict[str, int]
    named: frozenset[str]
    """Items that are named, not only shown."""
    requests: int
    """Signs that the message asks for something practical or states facts."""

    @cached_property
    def tags(self) -> tuple[Tag, ...]:
        """The strongest feelings; none if the text says too little for any."""
        order = sorted(self.weights, key=lambda name: (-self.weights[name], EMOTIONS.index(name)))
        if not order:
            return ()
        least = max(ENOUGH + PER_REQUEST * max(0, self.requests - 1), SHARE * self.weights[order[0]])
        return tuple(
            Tag(name, self.intensities[name]) for name in order[:MOST] if self.weights[name] >= least
        )

    @cached_property
    def valence(self) -> float:
        """Valence from -1 (all unpleasant) to 1 (all pleasant); 0 if no feeling was read."""
        total = math.fsum(self.weights.values())
        signed = math.fsum(w if POLARITY[name] == "positive" else -w for name, w in self.weights.items())
        return signed / total if total else 0.0


def _own(text: str) -> str:
    """A text in plain form, with quotations blanked out."""
    return _QUOTED.sub(lambda quote: " " * len(quote[0]), plain(text))


@lru_cache(maxsize=CACHED)
def read(text: str) -> Feelings:
    """Read the feelings of the person who wrote a text."""
    low = _own(text)
    loud = bool(_CAPITALS.search(text[:LIMIT])) + (low.count("!") > 1)
    weights: dict[str, float] = {}
    intensities: dict[str, int] = {}
    named = set()
    cues = in_message(low)
    for table, weight in (("named", NAMED_WEIGHT), ("shown", SHOWN_WEIGHT)):
        for item in ITEMS:
            share = weight
            for start, end in cues.get((table, item), ()):
                before, cue = _clause_before(low, start), low[start:end]
                if not _counts(before, cue):
                    continue
                degree = _degree({*before, *word_list(cue)})
                weights[item] = weights.get(item, 0.0) + share * (0.6 if degree < 0 else 1.0)
                share /= 2  # each further cue from a list counts half as much
                if table == "named":
                    named.add(item)
                strength = max(1, min(7, 4 + (table == "named") + degree + loud))
                intensities[item] = max(intensities.get(item, 1), strength)
    return Feelings(weights, intensities, frozenset(named), _requests(low))


def _clause_before(text: str, position: int) -> list[str]:
    """The last words before a position, in the same clause."""
    clause = _CLAUSE.split(text[max(0, position - _BEFORE) : position])[-1]
    return word_list(clause)[-_NEAR:]


def _counts(before: Sequence[str], cue: str) -> bool:
    """Whether a cue after these words is about the writer's own feeling."""
    first = cue.split(" ", 1)[0]
    for place, word in enumerate(before[-4:]):
        follower = [*before[-4:], first][place + 1]
        if word in WORDS["negators"] and follower not in WORDS["goes_on"] and first not in WORDS["negators"]:
            return False
    if first in WORDS["own"] or first in WORDS["others"]:
        return True
    nearest = next((word for word in reversed(before) if word in _PERSONS), None)
    return nearest is None or nearest in WORDS["own"]


def _degree(said: set[str]) -> int:
    return bool(said & WORDS["amplifiers"]) - bool(said & WORDS["diminishers"])


def _requests(text: str) -> int:
    """Count the signs of a practical message: requests, many figures, few words."""
    asks = len(in_message(text).get(("feelings", "request"), ()))
    figures = len(_FIGURES.findall(text))
    length = len(words(text)) or 1
    return min(3, asks + (figures / length > 0.06) + (length < 15))
