"""CSV files of tables on disk: an earlier one of the same kind may be replaced, nothing else."""

from __future__ import annotations

from pathlib import Path

from attune_data.errors import DataError, Problem, SettingsError
from attune_data.jsonio import check_regular
from attune_env.results.files import write_text


def check_csv(path: Path, head: str, *, overwrite: bool = False) -> None:
    """Raises unless a table that begins with `head` may be written to `path`.

    Raises SettingsError where the name does not end in .csv, DataError where another file stands there.
    """
    if path.suffix.lower() != ".csv":
        raise SettingsError(f"{path}: a table goes into a file that ends in .csv")
    if path.is_dir():
        raise DataError(Problem(str(path), "", "a folder", "a file to write to", "choose another -o"))
    check_regular(path)
    if not path.exists() or overwrite:
        return
    with path.open(encoding="utf-8", errors="replace") as stream:
        if not stream.read(len(head)) == head:
            raise DataError(
                Problem(str(path), "line 1", "another file", "a new name or an earlier table",
                        "choose another -o, or replace it with --overwrite")
            )  # fmt: skip


def write_csv(path: Path, text: str) -> None:
    """Writes the file whole or not at all."""
    write_text(path, text)
