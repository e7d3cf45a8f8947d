"""Random draws that are identical on every machine: hashed seeds, one stream, no math library.

Python guarantees the stream of `Random(int).random()` across versions and platforms, and IEEE guarantees
+, -, *, / and the square root. Everything here uses only these: no `choice`, `shuffle`, `gauss`,
`exp`, no NumPy generator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from attune_data.seeding import digest

T = TypeVar("T")


def squash(x: float) -> float:
    """Map a number to (0, 1) by an S-curve close to the logistic function: ½ + ½·(x/2)/√(1 + x²/4)."""
    return 0.5 + 0.25 * x / math.sqrt(1.0 + 0.25 * x * x)


def clip(x: float, low: float, high: float) -> float:
    """Limit `x` to a range."""
    return low if x < low else high if x > high else x


def rating(x: float) -> int:
    """Round a number to an answer on the 1–7 scale."""
    return int(clip(round(x), 1, 7))


class Draws:
    """A random stream named by a key, such as (seed, "person", 12)."""

    __slots__ = ("uniform",)

    def __init__(self, *key: object) -> None:
        self.uniform = Random(int.from_bytes(digest(*key)[:16], "big")).random
        """A number in [0, 1)."""

    def turn_to(self, *place: object) -> None:
        """Declare what is drawn next. It has no effect here, since everything comes from one stream."""

    def yes(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        return int(self.uniform() * n)

    def pick(self, items: Sequence[T]) -> T:
        """Draw one of the items, all equally likely."""
        return items[int(self.uniform() * len(items))]

    def normal(self) -> float:
        """Draw from about N(0, 1): the sum of twelve uniforms minus 6 (variance exactly 1, within ±6)."""
        u = self.uniform
        return u() + u() + u() + u() + u() + u() + u() + u() + u() + u() + u() + u() - 6.0

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Draw a key with probability proportional to its weight."""
        rest = self.uniform() * math.fsum(weights.values())
        last = None
        for key, weight in weights.items():
            if weight <= 0:
                continue
            last = key
            rest -= weight
            if rest < 0:
                return key
        if last is None:
            raise ValueError("no weight is above 0")
        return last  # rounding: the last key that has any weight

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order (Fisher–Yates)."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in a random order."""
        return self.shuffled(items)[:count]


class PlacedDraws(Draws):
    """Random draws by place: each `turn_to` begins a new stream, regardless of what was drawn before.

    Draws at one place never depend on how much was drawn at another.
    """

    __slots__ = ("key",)

    def __init__(self, *key: object) -> None:
        self.key = key
        super().__init__(*key)

    def turn_to(self, *place: object) -> None:
        """Begin the stream of this place, such as (turn, "mood")."""
        super().__init__(*self.key, *place)
