"""Extract the one JSON object from a model's text, or the reason why there is none.

Attempts in order: the whole text; the fenced blocks; the balanced objects in it; each of these again after
the repairs listed below. Ambiguous replies (two different objects, a key given twice with different values)
are unparsed and never resolved in the model's favour.

Time is linear in the length of the text, and memory stays within a few copies of it: candidates are
positions, not copies, and a text that would decode to very many values is refused beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from attune_data.jsonio import is_sound
from attune_episodes.parsing.decode import (
    MAX_REPAIRED,
    Unparsed,
    decode,
    decode_repaired,
    same,
    sound_values,
)
from attune_episodes.parsing.reasoning import without_reasoning

__all__ = ["MAX_CHARS", "Unparsed", "extract_object", "kept"]

MAX_CHARS: Final = 1_000_000
"""Longer replies are not read."""
MAX_CANDIDATES: Final = 20
"""A reply with more different objects than this has no answer."""
UNFINISHED: Final = -1
Span = tuple[int, int]
"""A part of a text that may contain the answer, given by its positions."""
_FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.MULTILINE)
_BLANK = re.compile(r"\s*+")


def kept(text: str) -> str:
    """Truncate a reply to the length that is kept; one that is too long to be read stays too long."""
    return text[: MAX_CHARS + 1]


def extract_object(text: str) -> dict[str, Any] | Unparsed:
    """The JSON object in a reply, or the reason why there is none."""
    if len(text) > MAX_CHARS:
        return Unparsed("too_long", f"{len(text)} characters")
    clean = is_sound(text) and "\\u" not in text
    found = _object_in(text)
    # escape sequences can also produce a lone surrogate
    return found if clean or isinstance(found, Unparsed) else sound_values(found)


def _object_in(text: str) -> dict[str, Any] | Unparsed:
    start, end = _edges(text)
    whole = decode(text, start, end)
    if not isinstance(whole, dict):
        stripped = without_reasoning(text)
        if isinstance(stripped, Unparsed):
            return stripped
        if len(stripped) != len(text):
            text = stripped
            start, end = _edges(text)
            whole = decode(text, start, end)
    if isinstance(whole, dict):
        return whole
    if start >= end:
        return Unparsed("empty")
    if not isinstance(whole, Unparsed):
        return Unparsed("not_an_object", type(whole).__name__)
    if whole.code != "malformed":
        return whole
    blocks = _different(text, _fenced(text))
    fenced = _only_one(text, blocks) if blocks else None
    if isinstance(fenced, dict) or (fenced is not None and fenced.code in ("ambiguous", "too_long")):
        return fenced
    objects = _different(text, _balanced(text))
    if not objects:
        return fenced or Unparsed("no_json")
    if objects[-1][1] == UNFINISHED:
        several = Unparsed("ambiguous", "an unfinished object") if objects[1:] else Unparsed("truncated")
        return fenced or several
    return _only_one(text, objects)


def _edges(text: str) -> tuple[int, int]:
    """Where the text begins and ends, without surrounding white space and a byte-order mark."""
    start, end = _trimmed(text, 0, len(text))
    while start < end and text[start] == "\ufeff":
        start += 1
    return _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at both ends."""
    blanks = _BLANK.match(text, start, end)
    start = blanks.end() if blanks else start
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _different(text: str, spans: Iterator[Span]) -> list[Span]:
    """The spans with distinct texts (long ones are not compared), up to one more than allowed."""
    kept: list[Span] = []
    seen: set[str] = set()
    for start, end in spans:
        if 0 <= end - start <= MAX_REPAIRED:
            part = text[start:end]
            if part in seen:
                continue
            seen.add(part)
        kept.append((start, end))
        if len(kept) > MAX_CANDIDATES:
            break
    return kept


def _fenced(text: str) -> Iterator[Span]:
    """The spans between pairs of ``` lines."""
    opened = -1
    for mark in _FENCE.finditer(text):
        if opened < 0:
            opened = mark.end()
            continue
        start, end = _trimmed(text, opened, mark.start())
        opened = -1
        if start < end:
            yield start, end


def _only_one(text: str, spans: list[Span]) -> dict[str, Any] | Unparsed:
    """The only object in the spans; equal ones count as one."""
    found: dict[str, Any] | None = None
    problem: Unparsed | None = None
    if len(spans) > MAX_CANDIDATES:
        return Unparsed("ambiguous", f"more than {MAX_CANDIDATES} objects")
    for start, end in spans:
        value = decode_repaired(text, start, end)
        if isinstance(value, Unparsed):
            problem = problem or value
        elif isinstance(value, dict):
            if found is not None and not same(value, found):
                return Unparsed("ambiguous", "several different objects")
            found = value
    if found is not None:
        # the broken object may have been meant to replace the valid one
        return found if problem is None else Unparsed("ambiguous", f"beside an object that is {problem.code}")
    return problem or Unparsed("not_an_object")


_BRACE = re.compile(r'[{}]|"(?:[^"\\\n]|\\.)*+"?')


def _balanced(text: str) -> Iterator[Span]:
    """The outermost {…} spans, ignoring braces in strings; an unfinished one ends at UNFINISHED.

    Quotation marks in the prose around an object do not matter, since strings are recognised only inside one.
    """
    position = 0
    last = "{"
    while (start := text.find("{", position)) >= 0:
        if len(last) > 1 and text.startswith(last, start):
            position = start + len(last)  # a copy of the span before
            continue
        depth = 0
        for token in _BRACE.finditer(text, start):
            mark = text[token.start()]
            depth += (mark == "{") - (mark == "}")
            if depth == 0 and mark == "}":
                position = token.end()
                break
        else:
            yield start, UNFINISHED
            return
        yield start, position
        last = text[start:position] if position - start <= 1_000 else "{"
