"""Find the feelings that a reply attributes to the person, and those that a message shows, with places."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from attune_episodes.reading.cues import CACHED, FAMILIES, WORDS, in_reply, plain, word_list
from attune_episodes.reading.feelings import signs
from attune_episodes.reading.reading import Claim, Span

NEAR: Final = 60
"""How many characters before the name of a feeling are searched for the person who has it."""
_BREAK: Final = re.compile(r"[.!?;\n]")
_YOU: Final = frozenset(["you", "you're", "you've", "you'd", "your", "yours", "it's"])
_PERSONS: Final = WORDS["others"] | WORDS["own"] | _YOU


FAMILY_OF: Final = {item: family for family, told in FAMILIES.items() for item in told["named"]}
"""PANAS item -> its family of feelings."""


def claim(family: str, item: str | None, start: int, end: int) -> Claim:
    """Make the claim of a feeling at a place."""
    return Claim(family, item, 1 if FAMILIES[family]["sign"] > 0 else -1, Span(start, end))


@lru_cache(maxsize=CACHED)
def claims_in(reply: str) -> tuple[Claim, ...]:
    """The feelings that a reply attributes to the person, in order; at each place, the longest name counts.

    The name of a feeling counts unless it is negated or about somebody else ("she was angry"). English only.
    """
    low = plain(reply)
    found: dict[int, Claim] = {}
    for (table, name), places in in_reply(reply).items():
        if table not in ("named", "claims"):
            continue
        item = name if table == "named" else None
        for start, end in places:
            known = found.get(start)
            if (known is None or end > known.span.end) and _of_the_person(low, start):
                found[start] = claim(name if item is None else FAMILY_OF[item], item, start, end)
    return tuple(found[start] for start in sorted(found))


def _of_the_person(low: str, place: int) -> bool:
    before = word_list(_BREAK.split(low[max(0, place - NEAR) : place])[-1])
    if not WORDS["negators"].isdisjoint(before[-3:]):
        return False
    return next((word for word in reversed(before) if word in _PERSONS), "you") in _YOU


def signs_of(message: str) -> tuple[tuple[Claim, bool], ...]:
    """The feelings of its writer that a message shows, in order, and whether each is named."""
    found = [(claim(FAMILY_OF[s.item], s.item, s.start, s.end), s.named) for s in signs(message)]
    return tuple(sorted(found, key=lambda pair: pair[0].span))
