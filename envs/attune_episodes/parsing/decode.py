"""Decode a JSON text strictly; `Unparsed` is the reason why a reply has no answer.

A text that would decode to very many values is refused beforehand, since a list of empty lists takes 30 times
the memory of its text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from attune_data.jsonio import JSON_TOKEN, depth_ok, is_sound

Code = Literal[
    "empty", "too_long", "unfinished_reasoning", "no_json", "truncated", "malformed", "too_deep",
    "ambiguous", "duplicate_keys", "not_an_object", "no_fields",
]  # fmt: skip

MAX_TOKENS: Final = 5_000
"""JSON with more brackets, commas and strings than this is not read; the longest answer has 2,000."""
MAX_DEPTH: Final = 32
"""Maximum nesting of an answer; the deepest valid answer has four levels."""
MAX_REPAIRED: Final = 50_000
"""Longer broken objects are not repaired, since that takes several copies."""
_UNCOUNTED: Final = 10_000
"""A text with at most this many characters is decoded without counting, since it cannot become large."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The reason why a reply has no answer; it scores 0 on everything that was asked."""

    code: Code
    """A stable code; reports count replies by it."""
    detail: str = ""

    @property
    def reason(self) -> str:
        """The form used in scores and result files."""
        return f"unparsed:{self.code}"


class _DuplicateKeys(ValueError):
    """An object has a key twice with different values."""


def sound(text: str) -> str:
    """The text with lone surrogates (halves of characters) replaced, so that it can be written to a file."""
    return text if is_sound(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def decode(text: str, start: int, end: int, *, counted: bool = False) -> Any:
    """Decode the JSON value that spans the text from `start` to `end`, or return Unparsed."""
    if end - start > _UNCOUNTED and not counted and (too_much := _too_much(text, start, end)):
        return too_much
    try:
        value, stop = _DECODER.raw_decode(text, start)
    except _DuplicateKeys as error:
        return Unparsed("duplicate_keys", str(error)[:80])
    except RecursionError:
        return Unparsed("too_deep")
    except ValueError:
        value, stop = None, -1
    # few brackets cannot be nested deeply, and counting them is much faster than traversing the value
    nested = text.count("{", start, end) + text.count("[", start, end) > MAX_DEPTH
    if stop == end:
        return Unparsed("too_deep") if nested and not depth_ok(value, MAX_DEPTH) else value
    # the depth at which json gives up differs between Python versions
    too_much = _too_much(text, start, end) if nested else None
    return too_much if too_much and too_much.code == "too_deep" else Unparsed("malformed")


def decode_repaired(text: str, start: int, end: int) -> Any:
    """Decode a value like `decode`; a malformed one once more after the repairs below."""
    value = decode(text, start, end)
    if isinstance(value, Unparsed) and value.code == "malformed" and end - start <= MAX_REPAIRED:
        repaired = _repaired(text[start:end])
        return decode(repaired, 0, len(repaired), counted=True)
    return value


def _too_much(text: str, start: int, end: int) -> Unparsed | None:
    """Why the list or object that begins there is not decoded: short values take 30 times their length."""
    if text[start] not in "[{":
        return None
    depth = 0
    for number, token in enumerate(JSON_TOKEN.finditer(text, start, end)):
        if number >= MAX_TOKENS:
            return Unparsed("too_long", f"more than {MAX_TOKENS} brackets, commas and strings")
        mark = text[token.start()]
        depth += (mark in "[{") - (mark in "]}")
        if depth > MAX_DEPTH + 1:
            return Unparsed("too_deep")
        if depth == 0:
            return None
    return None


def sound_values(value: Any) -> Any:
    """The value with `sound` applied to all strings."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [sound_values(child) for child in value]
    if isinstance(value, dict):
        return {sound(key): sound_values(child) for key, child in value.items()}
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in pairs:
        if key in merged and not same(merged[key], value):
            raise _DuplicateKeys(key)
        merged[key] = value
    return merged


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal as JSON, where true is not 1."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def _no_number(constant: str) -> None:
    """Read NaN and Infinity, which are not answers, as null, so that only their field is lost."""


def _whole(digits: str) -> int | None:
    """Read an integer; null for one with more digits than Python accepts."""
    return int(digits) if len(digits) < 20 else None


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number, parse_int=_whole)

_REPAIRS: Final = (
    # common mistakes of models with an unambiguous meaning; applied outside strings, in order
    (re.compile(r"//[^\n]*"), ""),
    (re.compile(r"\bTrue\b"), "true"),
    (re.compile(r"\bFalse\b"), "false"),
    (re.compile(r"\bNone\b"), "null"),
    (re.compile(r",(?=\s*[}\]])"), ""),
)
_REPAIRABLE = re.compile(r"[/TFN}\]]")
"""A character that each repair looks for; most text between strings has none of them."""
_STRING = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)')


def _repaired(text: str) -> str:
    pieces = _STRING.split(text)
    for index in range(0, len(pieces), 2):
        if not _REPAIRABLE.search(pieces[index]):
            continue
        for pattern, replacement in _REPAIRS:
            pieces[index] = pattern.sub(replacement, pieces[index])
    return "".join(pieces)
