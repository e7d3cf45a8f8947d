"""The affect space: the 20 PANAS-SF items, their polarity, and their places in valence-arousal.

Source: AttuneBench v1.0 (coordinates in [0, 1] on both axes). The similarity of two items is
1 - distance/sqrt(2), rounded to 4 places as the benchmark's precomputed matrix is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

Polarity = Literal["positive", "negative"]


class Item(NamedTuple):
    """One PANAS item; valence and arousal in [0, 1]."""

    name: str
    polarity: Polarity
    valence: float
    arousal: float


ITEMS: Final[tuple[Item, ...]] = (
    Item("Proud", "positive", 0.85, 0.65),
    Item("Irritable", "negative", 0.22, 0.68),
    Item("Alert", "positive", 0.7, 0.75),
    Item("Ashamed", "negative", 0.13, 0.62),
    Item("Inspired", "positive", 0.9, 0.7),
    Item("Nervous", "negative", 0.188, 0.72),
    Item("Determined", "positive", 0.78, 0.72),
    Item("Attentive", "positive", 0.68, 0.6),
    Item("Jittery", "negative", 0.196, 0.788),
    Item("Active", "positive", 0.72, 0.8),
    Item("Distressed", "negative", 0.125, 0.75),
    Item("Afraid", "negative", 0.073, 0.84),
    Item("Excited", "positive", 0.8, 0.85),
    Item("Upset", "negative", 0.167, 0.65),
    Item("Strong", "positive", 0.75, 0.7),
    Item("Guilty", "negative", 0.15, 0.6),
    Item("Scared", "negative", 0.083, 0.82),
    Item("Hostile", "negative", 0.2, 0.7),
    Item("Enthusiastic", "positive", 0.82, 0.78),
    Item("Interested", "positive", 0.65, 0.6),
)

EMOTIONS: Final[tuple[str, ...]] = tuple(item.name for item in ITEMS)
"""The 20 item names in the benchmark's order."""
POSITIVE: Final[tuple[str, ...]] = tuple(item.name for item in ITEMS if item.polarity == "positive")
NEGATIVE: Final[tuple[str, ...]] = tuple(item.name for item in ITEMS if item.polarity == "negative")
POLARITY: Final[dict[str, Polarity]] = {item.name: item.polarity for item in ITEMS}

SCALE: Final[tuple[int, int]] = (1, 7)
"""Lowest and highest answer: PANAS items, tag intensities, branch scores."""
TOTALS: Final[tuple[int, int]] = (10, 70)
"""Lowest and highest total of the ten items of one polarity."""

_BY_FOLDED: Final[dict[str, str]] = {name.casefold(): name for name in EMOTIONS}


def canonical_emotion(name: str) -> str | None:
    """The item's own spelling for `name`, whatever its case; None if it is none of the 20."""
    return name if name in POLARITY else _BY_FOLDED.get(name.strip().casefold())


def similarity(first: str, second: str) -> float:
    """Valence-arousal similarity of two items, in [0, 1], 4 decimal places; 0 if either is unknown.

    >>> similarity("Distressed", "Upset")
    0.9233
    """
    return SIMILARITY.get((first, second), 0.0)


SIMILARITY: Final[dict[tuple[str, str], float]] = {
    (a.name, b.name): round(
        1.0 - math.sqrt((a.valence - b.valence) ** 2 + (a.arousal - b.arousal) ** 2) / math.sqrt(2.0), 4
    )
    for a in ITEMS
    for b in ITEMS
}


def panas_record(items: Mapping[str, int]) -> dict[str, Any]:
    """The PANAS record of 20 answers and their totals."""
    return {
        "totalPositiveAffect": sum(items[name] for name in POSITIVE),
        "totalNegativeAffect": sum(items[name] for name in NEGATIVE),
        "responses": {name.lower(): items[name] for name in EMOTIONS},
    }


def side_total(items: Mapping[str, int | None], polarity: Polarity, stated: float | None) -> float | None:
    """Positive or negative affect: the sum of its ten items, otherwise the stated total, otherwise unknown.

    If all ten items are known, the sum counts even if another total is stated; if none is known, the stated
    total counts; if only some are known, the result is None.
    """
    names = POSITIVE if polarity == "positive" else NEGATIVE
    known = [value for name in names if (value := items.get(name)) is not None]
    if len(known) == len(names):
        return float(sum(known))
    return None if known else stated
