"""Read records from folders and JSONL files, each record with its place."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, one_line
from attune_data.jsonio import MAX_BYTES, bad_byte, check_regular, parse_json, read_json, unreadable

Row = tuple[str, Callable[[], Any]]
"""The place of a record, and the function that reads it."""
_FILE_NAME: Final = re.compile(r"conversation_([0-9]+)\.json")
_NEARLY: Final = re.compile(r"conversation[ _.-]*[0-9].*\.jsonl?", re.IGNORECASE | re.DOTALL)
_NAMED: Final = 5
"""Names that a warning lists; the others are counted."""
_log = logging.getLogger(__name__)


def file_name(number: int) -> str:
    """`conversation_N.json`; `number` is 0 or more."""
    return f"conversation_{number}.json"


def file_number(name: str) -> int | None:
    """N of `conversation_N.json`; None for any other name (pass the name without its folder)."""
    match = _FILE_NAME.fullmatch(name)
    return int(match[1]) if match else None


def has_files(folder: Path) -> bool:
    """Whether a folder has a file `conversation_N.json`."""
    return any(file_number(file.name) is not None for file in folder.iterdir())


def is_near_miss(name: str) -> bool:
    """Whether a name is nearly of the form `conversation_N.json`, so that `folder` warns about it."""
    return file_number(name) is None and bool(_NEARLY.fullmatch(name))


def folder(path: Path) -> list[Row]:
    """The files `conversation_N.json` of a folder, sorted by number.

    Logs a warning, which commands show, about names that are nearly of this form and about numbers that occur
    twice: neither is an error, and both are easily overlooked.
    """
    inside = sorted(path.iterdir())
    numbered = sorted((n, f.name, f) for f in inside if (n := file_number(f.name)) is not None)
    if not numbered:
        below = [d for d in inside if d.is_dir() and any(d.glob("conversation_*.json"))]
        names = ", ".join(f.name for f in inside[:3]) + (" …" if len(inside) > 3 else "")
        advice = f"the folder contains {names}" if inside else "the folder is empty"
        found, wanted = "no conversation_N.json file", "conversation_1.json and so on"
        advice = f"did you mean {below[0]}?" if below else advice
        raise DataError(Problem(str(path), "", found, wanted, advice))
    if nearly := [f.name for f in inside if is_near_miss(f.name)]:
        _log.warning("warning: %s: %s: not read; expected names like conversation_1.json",
                     one_line(str(path)), _listed(nearly))  # fmt: skip
    for number, group in groupby(numbered, lambda one: one[0]):
        if len(same := [name for _, name, _ in group]) > 1:
            _log.warning("warning: %s: %s: read as %d conversations, though all are number %d",
                         one_line(str(path)), _listed(same), len(same), number)  # fmt: skip
    return [(str(file), partial(read_json, file)) for _, _, file in numbered]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(one_line, names[:_NAMED])) + more


def jsonl(path: Path) -> Iterator[Row]:
    """The non-blank lines of a file, each a record; raises DataError if the file cannot be read."""
    check_regular(path)
    empty, offset = True, 0
    try:
        with path.open("rb") as file:
            # split only at \n, since other line breaks may occur inside JSON strings
            for number, line in enumerate(iter(partial(file.readline, MAX_BYTES + 1), b""), 1):
                where = f"{path}:{number}"
                if len(line) > MAX_BYTES:
                    found, wanted = "a longer line", f"at most {MAX_BYTES / 1e6:.0f} MB in one line"
                    raise DataError(Problem(where, "", found, wanted, "is this a file of conversations?"))
                if line.removeprefix(codecs.BOM_UTF8).strip():
                    empty = False
                    yield where, partial(_record, path, offset, len(line), where)
                offset += len(line)
    except OSError as error:
        raise unreadable(path, error) from error
    if empty:
        raise DataError(Problem(str(path), "", "an empty file", "one record per line"))


def _record(path: Path, offset: int, length: int, where: str) -> Any:
    """Read a line at its place, so that lines need not be kept in memory to be read again."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            text = file.read(length).removesuffix(b"\n").decode("utf-8-sig" if offset == 0 else "utf-8")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise bad_byte(where, offset, error) from error
    return parse_json(text, where, if_cut="it is cut off: download it again, or write one record per line")
