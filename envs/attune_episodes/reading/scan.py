"""`CueIndex`: find the cues of many lists in one pass over a text.

At the start of each word, only the cues that can begin with its letters are tried. This takes a fraction of
the time of searching list by list, and finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

LETTERS: Final = 4
"""How many letters at the start of a word are used to look up the cues that can begin there."""
MOST: Final = 200
"""The most beginnings that a cue may have; a cue with more is tried at every word."""
KEPT: Final = 20_000
"""How many beginnings of words are cached with the cues to try."""
_STARTS: Final = re.compile(rf"(?<!\w)(?=(\S(?s:.){{0,{LETTERS - 1}}}))")
Key = tuple[str, str]
"""A table of lists, and a list in it."""
Found = Mapping[Key, tuple[tuple[int, int], ...]]
"""List -> the places of its cues, in order, without overlaps; only lists that have any."""
Tried = tuple[tuple[Key, Callable[[str, int], "re.Match[str] | None"]], ...]
"""Lists, each with the function that matches its cues at a place."""


class CueIndex:
    """Lists of cues, ready to be found together.

    Args:
        lists: name -> regular expressions, each matching from the start of a word to the end of one.
    """

    def __init__(self, lists: Mapping[Key, Iterable[str]]) -> None:
        by_beginning: dict[str, dict[Key, list[str]]] = {}
        for name, cues in lists.items():
            for cue in cues:
                for beginning in beginnings(cue):
                    by_beginning.setdefault(beginning, {}).setdefault(name, []).append(cue)
        self._known = {beginning: _compiled(those) for beginning, those in by_beginning.items()}
        self._tried: dict[str, Tried] = {}

    def find(self, text: str) -> Found:
        """The places of every list's cues in a text in plain form."""
        found: dict[Key, list[tuple[int, int]]] = {}
        known = self._tried
        for start in _STARTS.finditer(text):
            place, letters = start.start(), start[1]
            tried = known.get(letters)
            for name, match in self._to_try(letters) if tried is None else tried:
                places = found.get(name)
                if places is None:
                    if cue := match(text, place):
                        found[name] = [cue.span()]
                elif places[-1][1] <= place and (cue := match(text, place)):
                    places.append(cue.span())
        return {name: tuple(places) for name, places in found.items()}

    def _to_try(self, letters: str) -> Tried:
        """The cues that can begin with these letters; cached, because the same words keep coming up."""
        if len(self._tried) >= KEPT:
            self._tried.clear()
        starts = (letters[:size] for size in range(len(letters) + 1))
        tried = tuple(pair for start in starts for pair in self._known.get(start, ()))
        self._tried[letters] = tried
        return tried


def _compiled(lists: Mapping[Key, list[str]]) -> Tried:
    return tuple((name, re.compile(f"(?:{'|'.join(cues)})(?!\\w)").match) for name, cues in lists.items())


def beginnings(cue: str) -> set[str]:
    """The possible beginnings of a regular expression's matches; every match starts with one of them.

    Each has up to `LETTERS` letters, fewer if anything may follow; {""} if nothing is known.
    """
    found = {text for text, _ in _beginnings(_parser.parse(cue))}
    return {""} if len(found) > MOST or "" in found else found


def _beginnings(pattern: Iterable[tuple[Any, Any]]) -> set[tuple[str, bool]]:
    """(beginning, whether the pattern ends with it); one that does not end is as long as is known."""
    so_far: set[tuple[str, bool]] = {("", True)}
    for kind, value in pattern:
        further = _element(str(kind), value)
        so_far = {
            (text, ended) if not ended else ((text + more)[:LETTERS], end and len(text + more) < LETTERS)
            for (text, ended), (more, end) in product(so_far, further)
        }
        if len(so_far) > MOST or not any(ended for _, ended in so_far):
            break
    return so_far


def _element(kind: str, value: Any) -> set[tuple[str, bool]]:
    if kind == "LITERAL":
        return {(chr(value), True)}
    if kind == "IN" and all(str(part) == "LITERAL" for part, _ in value):
        return {(chr(letter), True) for _, letter in value}
    if kind == "BRANCH":
        return set().union(*(_beginnings(branch) for branch in value[1]))
    if kind == "SUBPATTERN":
        return _beginnings(value[-1])
    if kind in ("ASSERT", "ASSERT_NOT", "AT"):
        return {("", True)}
    if kind == "MAX_REPEAT":
        least, most, inner = value
        once = _beginnings(inner)
        if most > 1:  # the part after a repetition is not analysed
            once = {(text, False) for text, _ in once}
        return once | {("", True)} if least == 0 else once
    return {("", False)}
