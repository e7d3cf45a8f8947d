"""Reading aids for English text: plain form, words, sentences, details, and the cue lists of `cues.toml`.

Every text is read up to `LIMIT` characters, and every pattern is a plain alternation with bounded gaps, so
that reading takes time linear in the text whatever it holds.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

LIMIT: Final = 20_000
"""Characters read of one text; what comes after is not read."""

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_BAR: Final = re.compile(r"\s\|\s|\n")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_APOSTROPHES: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"'})
_STEM: Final = 5


def plain(text: str) -> str:
    """The text as it is matched: cut to `LIMIT`, lower case, straight quotes; each character at its place."""
    cut = text[:LIMIT].translate(_APOSTROPHES)
    low = cut.lower()
    if len(low) == len(cut):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in cut)


def cues(alternatives: str) -> re.Pattern[str]:
    """One pattern that finds any of these in plain text, at word boundaries.

    Alternatives stand on lines of their own or between spaced bars (` | `); each is a regular expression.
    """
    listed = [found for part in _BAR.split(alternatives) if (found := part.strip())]
    return re.compile(r"(?<!\w)(?:" + "|".join(listed) + r")(?!\w)")


_LISTS: Final = tomllib.loads((Path(__file__).parent / "cues.toml").read_text("utf-8"))
NAMED, SHOWN, FEELING, REPLY, WISH = (
    {name: cues(listed) for name, listed in _LISTS[table].items()}
    for table in ("named", "shown", "feelings", "replies", "wishes")
)
"""Name of a list (in `NAMED` and `SHOWN` a PANAS item) -> the pattern that finds any of its cues."""
WORDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(listed.split())
    for table in ("feelings words", "replies words", "reading words")
    for name, listed in _LISTS[table].items()
}


def count(pattern: re.Pattern[str], text: str) -> int:
    """How many times a cue list is found in plain text."""
    return sum(1 for _ in pattern.finditer(text))


@lru_cache(maxsize=128)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(_WORD.findall(plain(text)))


class Sentence(NamedTuple):
    """A sentence in plain form, and its place in the text."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=128)
def sentence_spans(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, each with its end mark and its place."""
    found = []
    for match in _SENTENCE.finditer(plain(text)):
        if said := match.group().strip():
            start = match.start() + len(match.group()) - len(match.group().lstrip())
            found.append(Sentence(start, start + len(said), said))
    return tuple(found)


def sentences(text: str) -> list[str]:
    """The sentences of a text, plain, each with its end mark."""
    return [sentence.text for sentence in sentence_spans(text)]


@lru_cache(maxsize=128)
def details(text: str) -> frozenset[str]:
    """The topic words of a text: the beginnings of its longer, less common words, and its numbers."""
    return frozenset(
        word[:_STEM]
        for word in words(text)
        if word not in WORDS["common"] and (len(word) > 3 or word.isdigit() or word.isnumeric())
    )


def shared(text: str, other: str) -> int:
    """How many details two texts have in common."""
    return len(details(text) & details(other))
