"""`CueIndex`: find the cues of many lists in one pass over a text.

At the start of each word, only the cues that can begin with its letters are tried. This takes a fraction of
the time of searching list by list, and finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

LETTERS: Final = 4
"""How many letters at the start of a word are used to look up the cues that can begin there."""
KEPT: Final = 20_000
"""How many beginnings of words are cached with the cues to try."""
_STARTS: Final = re.compile(rf"(?<!\w)(?=(\S(?s:.){{0,{LETTERS - 1}}}))")
_LETTER: Final = r"[^\\()[.^$?*+{|]"
_LITERAL: Final = re.compile(rf"(?:{_LETTER}(?![?*{{]))*")
"""The letters that every match begins with: those before the first element that varies."""
_GROUP: Final = re.compile(rf"({_LETTER}{{0,{LETTERS - 1}}})\(\?:([^()]*)\)(\?|(?![*{{]))")
"""Early alternatives, and whether they may be missing."""
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
        for start in _STARTS.finditer(text):
            place, letters = start.start(), start[1]
            tried = self._tried.get(letters)
            for name, match in self._to_try(letters) if tried is None else tried:
                places = found.get(name)
                if (places is None or places[-1][1] <= place) and (cue := match(text, place)):
                    found.setdefault(name, []).append(cue.span())
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
    """Literal beginnings of a regular expression: every match starts with one of them, which may be ""."""
    first, bar, other = cue.partition("|")
    if bar and "(" not in first:
        return beginnings(first) | beginnings(other)
    if group := _GROUP.match(cue):
        before, parts, missing = group.groups()
        rest = cue[group.end() :]
        either = [*parts.split("|"), ""] if missing else parts.split("|")
        return {start for part in either for start in beginnings(before + part + rest)}
    literal = _LITERAL.match(cue)
    return {literal[0][:LETTERS] if literal else ""}
