"""From a model's text to the one JSON object in it, or a reason why there is none.

Order of attempts: the whole text; the fenced blocks; the balanced objects in it; each of these again
after the named repairs. What is ambiguous (two different objects, a key given twice with different
values) is unparsed, never guessed in the model's favour. Work is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from attune_data.jsonio import depth_ok

Code = Literal[
    "empty", "too_long", "unfinished_reasoning", "no_json", "truncated", "malformed", "too_deep",
    "ambiguous", "duplicate_keys", "not_an_object", "no_fields",
]  # fmt: skip

MAX_CHARS: Final = 1_000_000
"""Longer replies are not read."""
MAX_CANDIDATES: Final = 20
"""More different objects than this in one reply are no answer."""
MAX_DEPTH: Final = 32
"""Deeper objects are not answers; the deepest answer has four levels."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Why a reply holds no answer. Scored 0 on everything that was asked."""

    code: Code
    """Stable: reports count replies by it."""
    detail: str = ""

    @property
    def reason(self) -> str:
        """As scores and result files carry it."""
        return f"unparsed:{self.code}"


class _DuplicateKeys(ValueError):
    """One object gives a key two different values."""


_REASONING = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.MULTILINE)


def sound(text: str) -> str:
    """The text with lone surrogates (halves of characters) replaced, so that it can be written to a file."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_reasoning(text: str) -> str | Unparsed:
    """The text after its reasoning blocks; `unfinished_reasoning` where one is never closed.

    A closing tag without an opening one (some servers swallow it) ends the reasoning as well.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    opened = ""
    position = 0
    for tag in _REASONING.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if not opened and not closing:
            kept.append(text[position : tag.start()])
            opened = name
        elif closing and not opened:
            kept.clear()
        elif not closing or name != opened:
            continue
        else:
            opened = ""
        position = tag.end()
    if opened:
        return Unparsed("unfinished_reasoning")
    return "".join(kept) + text[position:]


def extract_object(text: str) -> dict[str, Any] | Unparsed:
    """The JSON object that a reply consists of or contains."""
    if len(text) > MAX_CHARS:
        return Unparsed("too_long", f"{len(text)} characters")
    bare = text.strip().lstrip("\ufeff")
    whole = _decode(bare)
    if not isinstance(whole, dict):
        stripped = without_reasoning(bare)
        if isinstance(stripped, Unparsed):
            return stripped
        bare = stripped.strip()
        whole = _decode(bare)
    if isinstance(whole, dict):
        return whole
    if not bare:
        return Unparsed("empty")
    if not isinstance(whole, Unparsed):
        return Unparsed("not_an_object", type(whole).__name__)
    if whole.code in ("duplicate_keys", "too_deep"):
        return whole
    blocks = _fenced(bare)
    fenced = _only_one(blocks) if blocks else None
    if isinstance(fenced, dict) or (fenced is not None and fenced.code == "ambiguous"):
        return fenced
    spans = _balanced(bare)
    if isinstance(spans, Unparsed):
        return fenced or spans
    return _only_one(spans)


def _fenced(text: str) -> list[str]:
    """What stands between pairs of ``` lines."""
    marks = list(_FENCE.finditer(text))
    blocks = [text[a.end() : b.start()].strip() for a, b in zip(marks[::2], marks[1::2], strict=False)]
    return [block for block in blocks if block]


def _only_one(candidates: list[str]) -> dict[str, Any] | Unparsed:
    """The single object among the candidates; equal ones count as one."""
    found: dict[str, Any] | None = None
    problem: Unparsed | None = None
    distinct = dict.fromkeys(candidates)
    if len(distinct) > MAX_CANDIDATES:
        return Unparsed("ambiguous", f"{len(distinct)} objects")
    for candidate in distinct:
        value = _decode(candidate)
        if isinstance(value, Unparsed) and value.code == "malformed":
            value = _decode(_repaired(candidate))
        if isinstance(value, Unparsed):
            problem = problem or value
        elif isinstance(value, dict):
            if found is not None and not _same(value, found):
                return Unparsed("ambiguous", "several different objects")
            found = value
    if found is not None:
        # a broken object beside a good one may have been the model's last word
        return found if problem is None else Unparsed("ambiguous", f"beside an object that is {problem.code}")
    return problem or Unparsed("not_an_object")


def _decode(text: str) -> Any:
    """The JSON value of the whole text, or Unparsed."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number, parse_int=_whole)
    except _DuplicateKeys as error:
        return Unparsed("duplicate_keys", str(error)[:80])
    except RecursionError:
        return Unparsed("too_deep")
    except ValueError:
        return Unparsed("malformed")
    if not depth_ok(value, MAX_DEPTH):
        return Unparsed("too_deep")
    return _sound_values(value) if "\\u" in text else value


def _sound_values(value: Any) -> Any:
    """The value with `sound` strings: escapes can spell half a character."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [_sound_values(child) for child in value]
    if isinstance(value, dict):
        return {sound(key): _sound_values(child) for key, child in value.items()}
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in pairs:
        if key in merged and not _same(merged[key], value):
            raise _DuplicateKeys(key)
        merged[key] = value
    return merged


def _same(first: Any, second: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _no_number(constant: str) -> None:
    """NaN and Infinity are no answers: null, so that only their field is lost."""


def _whole(digits: str) -> int | None:
    """An integer; null for one of absurd length, which Python would refuse to read."""
    return int(digits) if len(digits) < 20 else None


# a string without an end runs to the end of its line; possessive, so that the search stays linear
_TOKEN = re.compile(r'[{}]|"(?:[^"\\\n]|\\.)*+"?')


def _balanced(text: str) -> list[str] | Unparsed:
    """The outermost {…} spans, braces inside strings not counting.

    Quotation marks in the prose around an object do not matter: strings are only read inside one.
    """
    spans: list[str] = []
    start, depth, position = -1, 0, 0
    while True:
        if depth == 0:
            start = text.find("{", position)
            if start < 0:
                break
            depth, position = 1, start + 1
            continue
        match = _TOKEN.search(text, position)
        if match is None:
            return Unparsed("truncated") if not spans else Unparsed("ambiguous", "an unfinished object")
        position = match.end()
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                spans.append(text[start:position])
    return spans or Unparsed("no_json")


_REPAIRS: Final = (
    # what models are known to get wrong and what has one meaning only; applied outside strings, in order
    ("line_comment", re.compile(r"//[^\n]*"), ""),
    ("python_true", re.compile(r"\bTrue\b"), "true"),
    ("python_false", re.compile(r"\bFalse\b"), "false"),
    ("python_none", re.compile(r"\bNone\b"), "null"),
    ("trailing_comma", re.compile(r",(?=\s*[}\]])"), ""),
)
"""(name, what is looked for, what takes its place)"""
_STRING = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)')


def _repaired(text: str) -> str:
    pieces = _STRING.split(text)
    for index in range(0, len(pieces), 2):
        for _, pattern, replacement in _REPAIRS:
            pieces[index] = pattern.sub(replacement, pieces[index])
    return "".join(pieces)
