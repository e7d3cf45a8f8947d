"""JSONL files: one record a line, read line by line, so that a file of any size takes little memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from attune_data.errors import DataError, Problem
from attune_data.jsonio import (
    MAX_BYTES,
    MAX_LISTED,
    bad_byte,
    check_regular,
    parse_json,
    unreadable,
)
from attune_data.rows import Row

_SHORTEST = 80
"""No conversation fits into a shorter line."""


def jsonl(path: Path) -> Iterator[Row]:
    """The lines of a file that are not blank, each a record; raises DataError where it is no such file."""
    check_regular(path)
    records = short = 0
    try:
        with path.open("rb") as file:
            for number, (offset, line, size) in enumerate(_lines(file), 1):
                if not line or line.isspace():
                    continue
                records += 1
                short += size < _SHORTEST
                if short > MAX_LISTED:
                    raise DataError(
                        Problem(f"{path}:{number}", "", f"{short} lines of under {_SHORTEST} characters",
                                "one conversation a line", "is this a file of conversations?")
                    )  # fmt: skip
                where = f"{path}:{number}"
                yield where, partial(_record, path, offset, len(line), size, where)
    except OSError as error:
        raise unreadable(path, error) from error
    if not records:
        raise DataError(Problem(str(path), "", "an empty file", "one conversation a line", ""))


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes, int]]:
    """(offset, bytes, length) of each line; of one beyond the limit only the beginning is kept."""
    offset = 0
    while part := file.readline(MAX_BYTES + 1):  # ends at \n only: other line ends may stand in JSON strings
        size, last = len(part), part
        while not last.endswith(b"\n") and (last := file.readline(MAX_BYTES)):
            size += len(last)
        line = part.removesuffix(b"\n")
        bom = 3 if offset == 0 and line.startswith(b"\xef\xbb\xbf") else 0
        yield offset + bom, line[bom:], size
        offset += size


def _record(path: Path, offset: int, length: int, size: int, where: str) -> Any:
    """Reads the record from its place in the file, so that no line need be kept to be read again."""
    if size > MAX_BYTES:
        found, expected = f"{size / 1e6:.1f} MB in one line", f"at most {MAX_BYTES / 1e6:.0f} MB"
        raise DataError(Problem(where, "", found, expected))
    try:
        with path.open("rb") as file:
            file.seek(offset)
            text = file.read(length).decode("utf-8")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise bad_byte(where, offset, error) from error
    return parse_json(text, where, if_cut="it is cut off: fetch it again, or write one record a line")
