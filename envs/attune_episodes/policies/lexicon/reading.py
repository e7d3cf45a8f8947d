"""Reading aids for English text: plain form, words, shared details, cue lists.

Every text is read up to `LIMIT` characters, and every pattern is a plain alternation with bounded gaps, so
that reading takes time linear in the text whatever it holds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

LIMIT: Final = 20_000
"""Characters read of one text; what comes after is not read."""

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_BAR: Final = re.compile(r"\s\|\s|\n")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_APOSTROPHES: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"'})
_STEM: Final = 5


def vocabulary(listed: str) -> frozenset[str]:
    """The words of a list, between white space."""
    return frozenset(listed.split())


_COMMON: Final = vocabulary("""
    about after again also another anything because been before being both come could does doing done down
    each even ever every feel feels felt from gets give goes going good have having help here into just keep
    kind know like little long look made make many maybe mean might more most much must need never next
    nothing once only other over part perhaps really right said same says seem should since some somebody
    someone something sound still such sure take talk tell than thank that that's their them then there
    these they thing things think this those through time today told took under until very want wanted well
    went were what when where which while will with without would your yours you're it's i'm don't didn't
""")


def plain(text: str) -> str:
    """The text as it is matched: cut to `LIMIT`, lower case, straight quotes."""
    return text[:LIMIT].translate(_APOSTROPHES).lower()


def cues(alternatives: str) -> re.Pattern[str]:
    """One pattern that finds any of these in plain text, at word boundaries.

    Alternatives stand on lines of their own or between spaced bars (` | `); each is a regular expression.
    """
    listed = [found for part in _BAR.split(alternatives) if (found := part.strip())]
    return re.compile(r"(?<!\w)(?:" + "|".join(listed) + r")(?!\w)")


def count(pattern: re.Pattern[str], text: str) -> int:
    """How many times a cue list is found in plain text."""
    return sum(1 for _ in pattern.finditer(text))


@lru_cache(maxsize=128)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(_WORD.findall(plain(text)))


def sentences(text: str) -> list[str]:
    """The sentences of a text, plain, each with its end mark."""
    return [found for part in _SENTENCE.findall(plain(text)) if (found := part.strip())]


@lru_cache(maxsize=128)
def details(text: str) -> frozenset[str]:
    """What a text is about: the beginnings of its longer, less common words, and its numbers."""
    return frozenset(
        word[:_STEM]
        for word in words(text)
        if word not in _COMMON and (len(word) > 3 or word.isdigit() or word.isnumeric())
    )


def shared(text: str, other: str) -> int:
    """How many details two texts have in common."""
    return len(details(text) & details(other))
