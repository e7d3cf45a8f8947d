"""Read JSON written by others: strict where `json.loads` is lax, and exact about the place of each problem.

`json.loads` accepts NaN, duplicate keys and lone surrogates; here each of them is a `Problem`. A text
that would need many times its size in memory is refused before it is decoded.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, show

MAX_BYTES = 20_000_000
"""Largest JSON file read, in bytes. A whole official conversation is well under 1 MB."""
MAX_DEPTH = 64
"""Deepest nesting accepted; the formats here use nine levels."""
MAX_LISTED: Final = 1_000
"""Most problems listed for one file."""
CHARS_PER_VALUE: Final = 25
"""Fewest characters per value in a long text: short values take 30 times their length in memory."""
CUT: Final = "it is cut off: download or create it again"
JSON_TOKEN: Final = re.compile(r'[][{},]|"(?:[^"\\\n]|\\.)*+"?')
"""A bracket, a comma or a string; possessive, so that an unterminated string is searched in linear time."""
_BLANK: Final = re.compile(r"\s*+")


def read_text(path: Path, max_bytes: int | None = MAX_BYTES) -> str:
    """Read a file's text (UTF-8, a byte-order mark allowed); raises DataError naming the first bad byte."""
    data = read_bytes(path, max_bytes)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_byte(str(path), 0, error) from error


def read_bytes(path: Path, max_bytes: int | None = MAX_BYTES) -> bytes:
    """Read a regular file; raises DataError if it is not one, is unreadable, or exceeds `max_bytes`."""
    try:
        check_regular(path)
        size = path.stat().st_size
        if max_bytes is not None:
            advice = "is this the right file? many conversations belong in a folder or a .jsonl file"
            check_size(size, str(path), max_bytes, advice)
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def check_size(size: int, file: str, max_bytes: int, advice: str) -> None:
    """Raise DataError for a file of more than `max_bytes`."""
    if size > max_bytes:
        found, expected = f"{size / 1e6:.1f} MB", f"at most {max_bytes / 1e6:.0f} MB"
        raise DataError(Problem(file, "", found, expected, advice))


def check_regular(path: Path) -> None:
    """Raise DataError for a pipe, a device or a socket: reading one might never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise DataError(
            Problem(str(path), "", "a pipe or a device", "a file", "save its output to a file first")
        )


def unreadable(path: Path, error: OSError) -> DataError:
    """The error for a file that cannot be opened or read."""
    found = (error.strerror or str(error)).lower()
    return DataError(Problem(str(path), "", found, "a readable file", "check the path and its permissions"))


def bad_byte(file: str, offset: int, error: UnicodeDecodeError) -> DataError:
    """The error for bytes that are not UTF-8, `offset` bytes into the file."""
    place, found = f"byte {offset + error.start}", f"0x{error.object[error.start]:02x}"
    return DataError(Problem(file, place, found, "UTF-8 text", "save the file as UTF-8"))


def parse_json(text: str, file: str, *, any_density: bool = False, if_cut: str = CUT) -> Any:
    """Parse `text`; raises DataError listing every problem found.

    Problems: empty, not JSON (with line and column), duplicate keys in one object, NaN or Infinity,
    nesting deeper than `MAX_DEPTH`, lone surrogates in strings or keys; without `any_density`, a long text
    of very many short values. `if_cut` is the advice given for a truncated text.
    """
    if not text or text.isspace():
        raise DataError(Problem(file, "", "an empty file", "a JSON object", "remove it or download it again"))
    most = 10_000 + len(text) // CHARS_PER_VALUE
    # the quick count mistakes commas inside strings for values
    dense = not any_density and len(text) > 100_000 and sum(map(text.count, ",[{")) > most
    if dense and sum(token[0][0] in ",[{" for token in JSON_TOKEN.finditer(text)) > most:
        found = f"more than {most} values in {len(text) / 1e6:.1f} million characters"
        wanted = f"at least {CHARS_PER_VALUE} characters per value"
        raise DataError(Problem(file, "", found, wanted, "is this a file of conversations or results?"))
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
        # a string may not contain a line break: an unterminated one runs to the end of the file
        at_end = _BLANK.fullmatch(text, error.pos) or error.msg.startswith("Unterminated string")
        what = error.msg.lower().removesuffix(" at")
        broken = f"broken JSON ({what}) at {show(text[error.pos : error.pos + 20])}"
        raise DataError(
            Problem(file, f"line {error.lineno} column {error.colno}",
                    "the end of the file" if at_end else broken, "valid JSON",
                    if_cut if at_end else "fix the syntax there")
        ) from error  # fmt: skip
    except RecursionError as error:
        raise DataError(
            Problem(file, "", "nesting too deep to read", f"at most {MAX_DEPTH} levels")
        ) from error
    # searching for places is slow, so only if json.loads let a problem through
    doubtful = reader.suspicious or "\\u" in text or not depth_ok(value, MAX_DEPTH)
    if doubtful and (problems := list(islice(_unsound(value, file, ""), MAX_LISTED))):
        raise DataError(problems)
    return value


class _Twice(dict[str, Any]):
    """An object in which some keys occurred twice."""

    keys_twice: tuple[str, ...] = ()


class _TooLong(int):
    """Placeholder for a number with more digits than Python reads."""


class _Reader:
    """Hooks of the JSON parser that record what it would let through."""

    suspicious = False

    def collect(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        merged = dict(pairs)
        if len(merged) < len(pairs):
            self.suspicious = True
            merged = _Twice(merged)
            merged.keys_twice = tuple(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        return merged

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
    """Whether parsed lists and objects are nested at most this deep."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(deepest + 1):
        level = [
            child
            for item in level
            for child in (item if isinstance(item, list) else item.values())
            if isinstance(child, dict | list)
        ]
        if not level:
            return True
    return False


def _unsound(value: Any, file: str, place: str, depth: int = 0) -> Iterator[Problem]:
    """Find duplicate keys, NaN and Infinity, lone surrogates and excessive nesting, with their places."""
    if isinstance(value, dict | list):
        if depth > MAX_DEPTH:
            yield Problem(file, place[:60], f"nesting deeper than {MAX_DEPTH}", "the conversation format")
            return
        for twice in value.keys_twice if isinstance(value, _Twice) else ():
            found = f"key {show(twice[:100])} twice in one object"
            yield Problem(file, place, found, "each key once", "keep the one you mean")
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            at = f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key[:100]}".lstrip(".")
            if isinstance(key, str) and not is_sound(key):
                yield Problem(file, at, "a lone surrogate in a key", "valid Unicode")
            yield from _unsound(child, file, at, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Problem(file, place, repr(value), "finite numbers", "replace it with a number or null")
    elif isinstance(value, _TooLong):
        yield Problem(file, place, "a number with thousands of digits", "a number of reasonable size")
    elif isinstance(value, str) and not is_sound(value):
        found = "a lone surrogate (half of a character)"
        yield Problem(file, place, found, "valid Unicode", "replace the character")


def is_sound(text: str) -> bool:
    """Whether the text has no lone surrogate (half of a character) and so can be written to a file."""
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def read_json(path: Path, max_bytes: int | None = MAX_BYTES) -> Any:
    """Parse a JSON file: `parse_json(read_text(path))`. Raises DataError; None allows any size."""
    return parse_json(read_text(path, max_bytes), str(path), any_density=max_bytes is None)
