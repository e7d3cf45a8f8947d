"""The folder of a report: check what may be replaced there, and replace old files with new ones.

Only files that an earlier report wrote are ever replaced or removed; a list in the folder names them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from attune_data.errors import DataError, Problem
from attune_data.files.destination import shown, temporary
from attune_env.results.files import write_text

LIST: Final = ".attune-report"
"""The file that names what a report wrote, one path per line, under `HEAD`."""
HEAD: Final = "files of an attune report"
FOLDERS: Final = ("figures", "tables", "conversations")
_OURS: Final = re.compile(r"(report\.(html|md)|(figures|tables|conversations)/[^/\\\0]+)")
"""The files that a report can have written; other names in a list are ignored."""


def check_destination(folder: Path, *, overwrite: bool = False) -> None:
    """Raises DataError unless a report may be written to `folder`: new, empty, or that of an earlier report.

    With `overwrite` it may hold other files; those with a report's names are replaced.
    """
    if not folder.exists():
        if folder.is_symlink():
            raise _refused(folder, "a broken link", "remove the link")
        return
    if not folder.is_dir():
        raise _refused(folder, "a file", "choose another -o")
    for name in FOLDERS:
        inside = folder / name
        if inside.is_symlink() or (inside.exists() and not inside.is_dir()):
            raise _refused(folder, f"{name}, which is not a real folder", "move it away")
    if overwrite:
        return
    if not (folder / LIST).is_file():
        if found := [path.name for path in shown(folder)]:
            raise _refused(folder, _listed(found), "choose another -o, or write there with --overwrite")
        return
    known = _known(folder)
    if foreign := [path for path in _named_like_ours(folder) if path not in known]:
        raise _refused(
            folder,
            f"{_listed(foreign)}, not written by a report",
            "move them away, or replace them with --overwrite",
        )


def write_files(
    folder: Path, names: Collection[str], files: Iterable[tuple[str, bytes]], *, overwrite: bool = False
) -> None:
    """Writes all files (path in the folder, content) or none; removes an earlier report's other files.

    Args:
        folder: where to.
        names: every path that `files` gives.
        files: in the order they are moved into place in; one at a time is held.
        overwrite: as for `check_destination`.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = temporary(folder.parent, folder.name)
    try:
        for path, content in files:
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(content)
        _move(made, folder, names, overwrite=overwrite)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _move(made: Path, folder: Path, names: Collection[str], *, overwrite: bool) -> None:
    """Move complete files into the folder."""
    check_destination(folder, overwrite=overwrite)  # something may have been written there meanwhile
    before = _known(folder)
    folder.mkdir(exist_ok=True)
    _write_list(folder, before | set(names))  # a report interrupted here can still be rebuilt
    for path in names:
        (folder / path).parent.mkdir(exist_ok=True)
        os.replace(made / path, folder / path)
    for path in sorted(before - set(names)):
        (folder / path).unlink(missing_ok=True)
    for name in FOLDERS:
        inside = folder / name
        if inside.is_dir() and not any(inside.iterdir()):
            inside.rmdir()
    _write_list(folder, set(names))


def _write_list(folder: Path, paths: set[str]) -> None:
    write_text(folder / LIST, "\n".join([HEAD, *sorted(paths), ""]))


def _known(folder: Path) -> set[str]:
    """The names in the folder's list, except those that no report has."""
    path = folder / LIST
    if not path.is_file():
        return set()
    head, *lines = path.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    return {line for line in lines if _OURS.fullmatch(line)} if head == HEAD else set()


def _named_like_ours(folder: Path) -> Iterator[str]:
    """Paths of files that a new report might replace."""
    for name in ("report.html", "report.md"):
        if (folder / name).exists():
            yield name
    for name in FOLDERS:
        if (folder / name).is_dir():
            yield from (f"{name}/{path.name}" for path in shown(folder / name))


def _refused(folder: Path, found: str, advice: str) -> DataError:
    expected = "a new or empty folder, or one with an earlier report"
    return DataError(Problem(str(folder), "", found, expected, advice))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
