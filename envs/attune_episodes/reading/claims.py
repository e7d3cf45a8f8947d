"""Feelings that a reply says the person has, and those that a message shows, each with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, Literal

from attune_data.simulate.texts import texts
from attune_episodes.reading.cues import NAMED, WORDS, plain, words
from attune_episodes.reading.feelings import signs
from attune_episodes.reading.reading import Claim, Span

NEAR: Final = 60
"""Characters before the name of a feeling in which the one who has it is looked for."""
_BREAK: Final = re.compile(r"[.!?;\n]")


@cache
def families() -> Mapping[str, tuple[str, Literal[-1, 1]]]:
    """PANAS item -> its family of feelings, and the family's sign."""
    return {
        item: (name, 1 if family.sign > 0 else -1)
        for name, family in texts().families.items()
        for item in family.named
    }


@cache
def _names() -> tuple[tuple[str, str | None, Literal[-1, 1], re.Pattern[str]], ...]:
    """Family, item, sign, and the pattern of the words for it: the items' first, then the families'."""
    items = [(*families()[item], item, pattern) for item, pattern in NAMED.items() if item in families()]
    found: list[tuple[str, str | None, Literal[-1, 1], re.Pattern[str]]] = [
        (family, item, sign, pattern) for family, sign, item, pattern in items
    ]
    for name, family in texts().families.items():
        listed = "|".join(re.escape(claim) for claim in sorted(family.claims, key=len, reverse=True))
        sign: Literal[-1, 1] = 1 if family.sign > 0 else -1
        found.append((name, None, sign, re.compile(rf"(?<!\w)(?:{listed})(?!\w)")))
    return tuple(found)


@lru_cache(maxsize=128)
def claims_in(reply: str) -> tuple[Claim, ...]:
    """The feelings that a reply says the person has, in order; one for each place.

    A name of a feeling counts unless it is negated or somebody else's ("she was angry"). English only.
    """
    low = plain(reply)
    found: dict[int, Claim] = {}
    for family, item, sign, pattern in _names():
        for match in pattern.finditer(low):
            before = words(_BREAK.split(low[max(0, match.start() - NEAR) : match.start()])[-1])
            if _of_the_person(before):
                known = found.get(match.start())
                if known is None or match.end() > known.span.end:
                    found[match.start()] = Claim(family, item, sign, Span(*match.span()))
    return tuple(found[start] for start in sorted(found))


def _of_the_person(before: tuple[str, ...]) -> bool:
    if WORDS["negators"] & set(before[-3:]):
        return False
    nearest = next((word for word in reversed(before) if word in _PERSONS), "you")
    return nearest in _YOU


_YOU: Final = frozenset(["you", "you're", "you've", "you'd", "your", "yours", "it's"])
_PERSONS: Final = WORDS["others"] | WORDS["own"] | _YOU


def signs_of(message: str) -> tuple[tuple[Claim, bool], ...]:
    """The feelings that a message shows its writer to have, in order, and whether each is named."""
    found = [(Claim(*_family(sign.item), Span(sign.start, sign.end)), sign.named) for sign in signs(message)]
    return tuple(sorted(found, key=lambda pair: pair[0].span))


def _family(item: str) -> tuple[str, str, Literal[-1, 1]]:
    family, sign = families()[item]
    return family, item, sign
