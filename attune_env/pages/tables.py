"""A table of values as a page shows it: cells with what they are sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attune_data.errors import one_line
from attune_env.report.cells import Cell, Column, DataTable, cell_text, unrounded
from attune_env.report.table import DASH
from attune_env.statistics.bootstrap import Interval

LONGEST = 2_000
"""Characters of a cell that a page shows."""


@dataclass(frozen=True, slots=True)
class CellView:
    """One cell."""

    text: str
    interval: str = ""
    """`[low, high]`, shown beneath the mean."""
    marked: bool = False
    """Whether too few units carry the interval."""
    value: str = ""
    """What it is sorted by, a number; empty: by its text."""
    defined: bool = True
    link: str = ""
    """Where it leads."""


@dataclass(frozen=True, slots=True)
class HeadView:
    """The head of a column."""

    text: str
    number: bool
    """Whether the column holds numbers: aligned right, the largest first when sorted."""


@dataclass(frozen=True, slots=True)
class RowView:
    """One row."""

    cells: Sequence[CellView]
    reference: bool = False
    """A null policy or the ceiling, shown faint."""
    search: str = ""
    """What a filter finds besides the cells."""


@dataclass(frozen=True, slots=True)
class TableView:
    """One table."""

    name: str
    """Its id in the page."""
    title: str
    heads: Sequence[HeadView]
    rows: Sequence[RowView]
    notes: Sequence[str] = ()
    keys: int = 1
    csv: str = ""
    """Its CSV file, relative to the page."""

    @property
    def marked(self) -> bool:
        """Whether some cell needs the note on intervals of few units, which is not there yet."""
        if any(note.startswith("†") for note in self.notes):
            return False
        return any(cell.marked for row in self.rows for cell in row.cells)


def table_view(table: DataTable, csv: str = "", name: str = "") -> TableView:
    """The table for a page; foldable columns that say the same in every row become a note."""
    same = {
        i: cell_text(table.rows[0][i], column)
        for i, column in enumerate(table.columns)
        if column.name in table.foldable and table.rows and len({row[i] for row in table.rows}) == 1
    }
    kept = [i for i in range(len(table.columns)) if i not in same]
    notes = [one_line(note) for note in table.notes]
    if same:
        said = ", ".join(f"{table.columns[i].name} {text}" for i, text in same.items())
        notes.insert(0, one_line(f"All rows: {said}."))
    rows = [
        RowView([_cell(row[i], table.columns[i]) for i in kept], number in table.dim)
        for number, row in enumerate(table.rows)
    ]
    heads = [
        HeadView(one_line(table.columns[i].name), _holds_numbers([row[i] for row in table.rows]))
        for i in kept
    ]
    keys = max(1, sum(i < table.keys for i in kept))
    return TableView(name or table.name, one_line(table.title), heads, rows, notes, keys, csv)


def _holds_numbers(cells: Sequence[Cell]) -> bool:
    return any(cell is not None and not isinstance(cell, str) for cell in cells)


def _cell(cell: Cell, column: Column) -> CellView:
    if cell is None:
        return CellView(DASH, defined=False)
    if isinstance(cell, str):
        return CellView(one_line(cell, LONGEST))
    if not isinstance(cell, Interval):
        return CellView(cell_text(cell, column), value=unrounded(cell))
    if cell.mean is None:
        return CellView(DASH, defined=False)
    mean, _, interval = cell_text(cell, column).removesuffix("†").partition(" ")
    return CellView(mean, interval, not cell.meaningful, unrounded(cell.mean))
