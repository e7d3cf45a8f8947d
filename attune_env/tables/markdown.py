"""Write tables as Markdown; check first that a file to be replaced is an earlier one of the same kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attune_data.errors import DataError, Problem, one_line
from attune_data.jsonio import check_regular
from attune_data.version import __version__
from attune_env.results.files import write_text
from attune_env.tables.table import Table


def check_replaceable(path: Path, mark: str, option: str = "--output", *, overwrite: bool = False) -> None:
    """Raises DataError unless a file whose first line holds `mark` may be written to `path`."""
    if path.is_dir():
        raise DataError(Problem(str(path), "", "a folder", "a file name", f"choose another {option}"))
    if not path.exists() or overwrite:
        return
    check_regular(path)
    with path.open(encoding="utf-8", errors="replace") as stream:
        if mark not in stream.readline():
            raise DataError(
                Problem(str(path), "line 1", "another kind of file",
                        "a new name, or an earlier file of this command",
                        f"choose another {option}, or replace it with --overwrite")
            )  # fmt: skip


def write_markdown(path: Path, title: str, tables: Sequence[Table], mark: str, *, command: str) -> None:
    """Write tables as one page, with the command that reproduces it."""
    lines = [f"<!-- {mark} {__version__} -->", f"# {title}", ""]
    lines += [f"Reproduce with `{command} --output {path.name}`.", ""]
    for table in tables:
        lines += [f"## {one_line(table.title)}", "", table.markdown(), ""]
        lines += [line for note in table.footnotes for line in (one_line(note), "")]
    write_text(path, "\n".join(lines))
