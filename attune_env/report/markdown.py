"""Tables as a Markdown page, for documents that one command remakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attune_data.errors import DataError, Problem, one_line
from attune_data.version import __version__
from attune_env.report.table import Table
from attune_env.results.files import write_text


def table_lines(table: Table) -> list[str]:
    """A table as the lines of a Markdown section: heading, table, notes."""
    aligned = ["---" if i < table.keys or c in table.left else "---:" for i, c in enumerate(table.columns)]
    lines = [f"## {_cell(table.title)}", "", _row(table.columns), "|" + "|".join(aligned) + "|"]
    lines += [_row(row) for row in table.rows]
    for note in table.notes:
        lines += ["", _cell(note)]
    return [*lines, ""]


def write_markdown(path: Path, title: str, tables: Sequence[Table], mark: str, *, command: str) -> None:
    """Writes tables as one page, headed by what remakes it."""
    lines = [
        f"<!-- {mark} {__version__} -->",
        f"# {title}",
        "",
        f"Remade by `{command} --output {path.name}`.",
        "",
    ]
    for table in tables:
        lines += table_lines(table)
    write_text(path, "\n".join(lines))


def check_replaceable(path: Path, mark: str, *, overwrite: bool = False) -> None:
    """Raises DataError where `path` is something else than an earlier page with this mark."""
    if not path.exists():
        return
    if not path.is_file():
        raise DataError(Problem(str(path), "", "no file", "the name of a file", "choose another --output"))
    if overwrite:
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        if mark not in file.readline():
            raise DataError(
                Problem(str(path), "line 1", f"no page {mark}", "a new name or an earlier page",
                        "choose another --output, or replace it with --overwrite")
            )  # fmt: skip


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
