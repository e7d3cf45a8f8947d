"""Random draws from hashed seeds: the same on every machine, each independent of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from attune_data.seeding import digest

T = TypeVar("T")


class Draws:
    """Random draws from a hashed seed, the same on every machine."""

    def __init__(self, *key: object) -> None:
        self.uniform = Random(int.from_bytes(digest(*key)[:16], "big")).random
        """A number in [0, 1)."""

    def yes(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        return int(self.uniform() * n)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, all equally likely."""
        return items[self.below(len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, each as likely as its weight."""
        left = self.uniform() * sum(weights.values())
        for key, weight in weights.items():
            left -= weight
            if left < 0:
                return key
        return next(reversed(list(weights)))

    def normal(self) -> float:
        """A number from about N(0, 1): the sum of twelve uniforms minus 6."""
        total = 0.0
        for _ in range(12):
            total += self.uniform()
        return total - 6.0

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


def dealt(draws: Draws, shares: Mapping[T, float], count: int) -> list[T]:
    """Exactly each key's share of `count`, rounded, in a random order."""
    whole = sum(shares.values())
    exact = {key: count * share / whole for key, share in shares.items()}
    found = {key: int(value) for key, value in exact.items()}
    most_cut = sorted(draws.shuffled(list(shares)), key=lambda key: found[key] - exact[key])
    for key in most_cut[: count - sum(found.values())]:
        found[key] += 1
    return draws.shuffled([key for key, number in found.items() for _ in range(number)])


def cycled(draws: Draws, items: Sequence[T], count: int) -> list[T]:
    """`count` items, all of them once before any comes again."""
    found: list[T] = []
    while len(found) < count:
        found += draws.shuffled(items)
    return found[:count]
