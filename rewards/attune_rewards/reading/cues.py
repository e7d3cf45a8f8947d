"""Read English text: its plain form, words, sentences, details, and the cues of `cues.toml`.

Only the first `LIMIT` characters of a text are read, and every pattern is a plain alternation with bounded
gaps, so reading takes time linear in the length of any text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from attune_rewards.reading.scan import CueIndex, Found

LIMIT: Final = 20_000
"""How many characters of a text are read; the rest is ignored."""

CACHED: Final = 512
"""How many texts have their readings cached, since a message is read again with every reply to it."""

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_BAR: Final = re.compile(r"\s\|\s|\n")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_APOSTROPHES: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"'})
_STEM: Final = 5


@lru_cache(maxsize=CACHED)
def plain(text: str) -> str:
    """Prepare a text for matching: cut to `LIMIT`, lower case, straight quotes; positions do not change."""
    cut = text[:LIMIT].translate(_APOSTROPHES)
    low = cut.lower()
    if len(low) == len(cut):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in cut)


_LISTS: Final = tomllib.loads((Path(__file__).parent / "cues.toml").read_text("utf-8"))


@cache  # built when the first text is read, since that takes longer than importing this package
def _index(*tables: str) -> CueIndex:
    """Index the lists of these tables; alternatives are on separate lines or separated by spaced bars."""
    return CueIndex({
        (table, name): [cue for part in _BAR.split(listed) if (cue := part.strip())]
        for table in tables
        for name, listed in _LISTS[table].items()
    })  # fmt: skip


@lru_cache(maxsize=CACHED)
def in_reply(text: str) -> Found:
    """The cues in a reply: (table, list) -> their places; tables: named, feelings, replies."""
    return _index("named", "feelings", "replies").find(plain(text))


def in_message(text: str) -> Found:
    """The cues in a message; tables: named, shown, feelings, wishes."""
    return _plain_message(plain(text))


@lru_cache(maxsize=CACHED)
def _plain_message(text: str) -> Found:
    return _index("named", "shown", "feelings", "wishes").find(text)


ITEMS: Final = tuple(_LISTS["named"])
"""The PANAS items that have cues, in the order of the lists."""
WORDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(listed.split())
    for table in ("feelings words", "replies words", "reading words")
    for name, listed in _LISTS[table].items()
}

_COMMON: Final = WORDS["common"]


@lru_cache(maxsize=CACHED)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(word_list(plain(text)))


def word_list(text: str) -> list[str]:
    """The words of a text in plain form, in order."""
    return _WORD.findall(text)


class Sentence(NamedTuple):
    """A sentence in plain form, with its end mark and its place in the text."""

    start: int
    end: int
    text: str
    words: tuple[str, ...]
    details: frozenset[str]

    @property
    def asks(self) -> bool:
        """Whether the sentence is a question."""
        return self.text.endswith("?")


@lru_cache(maxsize=CACHED)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text."""
    found = []
    for match in _SENTENCE.finditer(plain(text)):
        if said := match[0].strip():
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            here = tuple(word_list(said))
            found.append(Sentence(start, start + len(said), said, here, details_of(here)))
    return tuple(found)


@lru_cache(maxsize=CACHED)
def details(text: str) -> frozenset[str]:
    """The details of a text: the beginnings of its longer, less common words, and its numbers."""
    return details_of(words(text))


def details_of(those: Iterable[str]) -> frozenset[str]:
    """The details among words in plain form."""
    return frozenset([
        word[:_STEM] for word in those if (len(word) > 3 or word.isnumeric()) and word not in _COMMON
    ])  # fmt: skip


def shared(text: str, other: str) -> int:
    """The number of details that two texts have in common."""
    return len(details(text) & details(other))
