"""Where data sets are written: what may be overwritten, and how new data replaces old.

Only data sets of this project are ever removed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from attune_data.errors import DataError, Problem, SettingsError
from attune_data.files.rows import file_number
from attune_data.files.tables import PARQUET, PARQUET_FOLDER
from attune_data.jsonio import MAX_BYTES

_DATASET_FILE: Final = re.compile(r"data-\d+-of-\d+\.arrow|cache-[0-9a-f]+\.arrow")
"""Files that `save_to_disk` leaves in a folder, and that `datasets` later puts beside them."""
_BESIDE_ROWS: Final = ("dataset_info.json", "state.json")
"""Files written next to the rows; other programs use these names too, so they do not prove a data set."""
CARD: Final = "README.md"
"""The name of a dataset card."""
CARD_MARK: Final = "<!-- dataset card written by attune-env -->"
"""What a card ends with that may be replaced: people write files of that name too."""


def check_folder(folder: Path, *, overwrite: bool = False) -> None:
    """Raises DataError unless a data set, or parts of one, may be written to `folder`.

    It may be new, empty, or (to be overwritten) hold only data.
    """
    if not folder.is_dir():
        if folder.exists() or folder.is_symlink():
            found = "a file" if folder.exists() else "a broken link"
            raise DataError(Problem(str(folder), "", found, "a folder to write to", "choose another -o"))
        return
    inside = shown(folder)
    other = [path for path in inside if not _is_data(path)]
    if other or (inside and not overwrite):
        names = [path.name for path in other or inside]
        found = f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
        wanted = "a new or empty folder" + (", or one that contains only data" if other else "")
        advice = "move them away" if other else "replace the data with --overwrite"
        raise DataError(Problem(str(folder), "", found, wanted, f"choose another -o, or {advice}"))


def check_jsonl(path: Path, *, overwrite: bool = False) -> None:
    """Raises unless conversations may be written to the file `path`; see `write_jsonl`."""
    if path.suffix != ".jsonl":
        raise SettingsError(f"{path}: the name of a file with one record per line must end in .jsonl")
    if not path.exists():
        return
    if path.is_dir():
        raise DataError(Problem(str(path), "", "a folder", "a file to write to", "choose another -o"))
    if not _holds_conversations(path):
        found, wanted = "a file that does not start with a conversation", "a new file, or conversations"
        raise DataError(Problem(str(path), "", found, wanted, "choose another -o"))
    if not overwrite:
        advice = "choose another -o, or replace it with --overwrite"
        raise DataError(Problem(str(path), "", "a file of conversations", "a new file", advice))


def _holds_conversations(path: Path) -> bool:
    """Whether a file is empty or its first line is a record."""
    if not path.is_file():
        return False  # a pipe or a device: reading it might never end
    try:
        with path.open(encoding="utf-8") as stream:
            first = stream.readline(MAX_BYTES)
        record: Any = json.loads(first) if first.strip() else {"conversationId": "", "turns": []}
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and {"conversationId", "turns"} <= set(record)


def _is_data(path: Path, *, or_part: bool = True) -> bool:
    """Whether it is a file of a data set, or a folder (no link) that holds nothing but such files."""
    if path.is_dir():
        return or_part and not path.is_symlink() and all(_is_data(p, or_part=False) for p in shown(path))
    if not path.is_file():
        return False
    if path.name in _BESIDE_ROWS:
        return any(_DATASET_FILE.fullmatch(beside.name) for beside in path.parent.iterdir())
    if path.name == CARD:
        return path.read_bytes().rstrip().endswith(CARD_MARK.encode())
    if path.suffix == PARQUET:
        return path.parent.name == PARQUET_FOLDER
    return file_number(path.name) is not None or bool(_DATASET_FILE.fullmatch(path.name))


def shown(folder: Path) -> list[Path]:
    """The entries of a folder, hidden files left out."""
    return [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]


def temporary(parent: Path, name: str) -> Path:
    """An unused hidden path for unfinished output."""
    return parent / f".{name[:40]}.{secrets.token_hex(8)}.part"


def create(fresh: Path, place: Path) -> IO[str]:
    """Open the new file `fresh` for text (UTF-8) that will replace `place`.

    An existing link of that name is an error. The new file is no more widely readable than the old one.
    """
    try:
        old = place.lstat().st_mode
    except OSError:
        old = 0
    rights = 0o666 & old if stat.S_ISREG(old) else 0o666
    return open(
        fresh, "x", encoding="utf-8", newline="\n", opener=lambda name, flags: os.open(name, flags, rights)
    )


@contextmanager
def in_place_of(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a hidden folder to fill; its contents then replace the data set in `folder`."""
    check_folder(folder, overwrite=overwrite)
    home = folder if folder.exists() else folder.parent  # on the same file system, even if there are links
    home.mkdir(parents=True, exist_ok=True)
    fresh = temporary(home, folder.name)
    fresh.mkdir()
    try:
        yield fresh
        check_folder(folder, overwrite=overwrite)  # another process may have filled it meanwhile
        if not folder.exists():
            fresh.rename(folder)
            return
        for old in shown(folder):
            for file in shown(old) if old.is_dir() else [old]:
                file.unlink()
            if old.is_dir() and not any(old.iterdir()):  # hidden files are left alone
                old.rmdir()
        for new in sorted(fresh.iterdir()):
            there = folder / new.name
            for file in new.iterdir() if there.is_dir() else [new]:
                os.replace(file, folder / file.relative_to(fresh))
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
