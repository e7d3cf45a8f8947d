"""Reading JSON that other people wrote: strict where `json.loads` is lax, exact about the place.

`json.loads` lets NaN, duplicate keys and lone surrogates through; here each of them is a `Problem`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attune_data.errors import DataError, Problem, show

MAX_BYTES = 20_000_000
"""Largest JSON file read, in bytes. A whole official conversation is well under 1 MB."""
MAX_DEPTH = 64
"""Deepest nesting accepted; the formats here use nine levels."""


def read_text(path: Path, max_bytes: int | None = MAX_BYTES) -> str:
    """The file's text (UTF-8, a byte-order mark allowed); raises DataError naming the first bad byte."""
    try:
        size = path.stat().st_size
        if max_bytes is not None and size > max_bytes:
            raise DataError(
                Problem(str(path), "", f"{size / 1e6:.1f} MB", f"at most {max_bytes / 1e6:.0f} MB",
                        "is this the right file? many conversations belong in a folder or a .jsonl file")
            )  # fmt: skip
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            Problem(
                str(path),
                "",
                (error.strerror or str(error)).lower(),
                "a readable file",
                "check path and rights",
            )
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            Problem(str(path), f"byte {error.start}", f"0x{data[error.start]:02x}", "UTF-8 text",
                    "save the file as UTF-8")
        ) from error  # fmt: skip


def parse_json(text: str, file: str) -> Any:
    """The value that `text` holds; raises DataError listing every problem found.

    Problems: empty, not JSON (with line and column), duplicate keys in one object, NaN or Infinity,
    nesting deeper than `MAX_DEPTH`, lone surrogates in strings or keys.
    """
    if not text.strip():
        raise DataError(Problem(file, "", "an empty file", "a JSON object", "remove it or fetch it again"))
    reader = _Reader()
    try:
        value = json.loads(
            text,
            object_pairs_hook=reader.collect,
            parse_int=reader.whole,
            parse_float=reader.real,
            parse_constant=reader.real,
        )
    except json.JSONDecodeError as error:
        # a string may not hold a line end: one without an end runs to the end of the file
        at_end = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
        what = error.msg.lower().removesuffix(" at")
        found = (
            "the end of the file"
            if at_end
            else f"broken JSON ({what}) at {show(text[error.pos : error.pos + 20])}"
        )
        raise DataError(
            Problem(file, f"line {error.lineno} column {error.colno}", found, "valid JSON",
                    "it is cut off: fetch it again, or write one record a line" if at_end
                    else "mend the syntax there")
        ) from error  # fmt: skip
    except RecursionError as error:
        raise DataError(
            Problem(file, "", "nesting too deep to read", f"at most {MAX_DEPTH} levels")
        ) from error
    # the search for places is slow: only where something was seen that json.loads lets through
    if reader.suspicious or "\\u" in text or not depth_ok(value, MAX_DEPTH):
        problems = list(_unsound(value, file))
        if problems:
            raise DataError(problems)
    return value


class _Twice(dict[str, Any]):
    """An object that gave some keys twice."""

    keys_twice: tuple[str, ...] = ()


class _TooLong(int):
    """Stands for a number of digits that Python refuses to read."""


class _Reader:
    """Hooks of the JSON parser that notice what it would let through."""

    suspicious = False

    def collect(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        merged = dict(pairs)
        if len(merged) == len(pairs):
            return merged
        self.suspicious = True
        counts = Counter(key for key, _ in pairs)
        marked = _Twice(merged)
        marked.keys_twice = tuple(key for key, n in counts.items() if n > 1)
        return marked

    def whole(self, digits: str) -> int:
        if len(digits) < 1000:
            return int(digits)
        self.suspicious = True
        return _TooLong()

    def real(self, digits: str) -> float:
        number = float(digits)
        self.suspicious |= not math.isfinite(number)
        return number


def depth_ok(value: Any, deepest: int) -> bool:
    """Whether lists and objects are nested at most so deep."""
    level = [value]
    for _ in range(deepest + 1):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
            if isinstance(child, (dict, list))
        ]
        if not level:
            return True
    return False


def _unsound(value: Any, file: str) -> Iterator[Problem]:
    """Duplicate keys, numbers that are none, lone surrogates, too deep nesting, with their places."""
    stack: list[tuple[Any, str, int]] = [(value, "", 0)]
    while stack:
        item, place, depth = stack.pop()
        if depth > MAX_DEPTH:
            yield Problem(file, place[:60], f"nesting deeper than {MAX_DEPTH}", "the conversation format")
            return
        if isinstance(item, dict):
            for key in item.keys_twice if isinstance(item, _Twice) else ():
                found = f"key {show(key)} twice in one object"
                yield Problem(file, place, found, "each key once", "keep the one that is meant")
            for key, child in item.items():
                inner = f"{place}.{key}" if place else key
                if _has_lone_surrogate(key):
                    yield Problem(file, inner, "a lone surrogate in a key", "valid Unicode")
                stack.append((child, inner, depth + 1))
        elif isinstance(item, list):
            stack.extend((child, f"{place}[{index}]", depth + 1) for index, child in enumerate(item))
        elif isinstance(item, float):
            if not math.isfinite(item):
                yield Problem(file, place, repr(item), "finite numbers", "replace it by a number or null")
        elif isinstance(item, _TooLong):
            yield Problem(file, place, "a number of thousands of digits", "a sane number")
        elif isinstance(item, str) and _has_lone_surrogate(item):
            found = "a lone surrogate (half of a character)"
            yield Problem(file, place, found, "valid Unicode", "replace the character")


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def read_json(path: Path, max_bytes: int | None = MAX_BYTES) -> Any:
    """`parse_json(read_text(path))`: the value in a file, or DataError; None reads a file of any size."""
    return parse_json(read_text(path, max_bytes), str(path))
