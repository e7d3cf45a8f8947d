"""A table of values: one source for what a terminal and a page show and what a CSV file holds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from attune_env.report.table import DASH, Table, field_text, interval_text, share_text
from attune_env.statistics.bootstrap import Interval

Cell = str | int | float | Interval | None
"""None is undefined."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it holds and how its numbers are shown."""

    name: str
    """Its head for people, with the unit: `Composite (0-100)`."""
    field: str = ""
    """Its name in a CSV file; by default the head in lower case with underscores."""
    places: int = 3
    scale: float = 1.0
    """What values are multiplied by to be shown; a CSV file holds them as they are."""
    share: bool = False
    """Shown as a percentage."""
    prose: bool = False
    """Text, aligned left."""

    @property
    def key(self) -> str:
        """The name in a CSV file."""
        return self.field or "_".join("".join(c if c.isalnum() else " " for c in self.name.lower()).split())


@dataclass(slots=True)
class DataTable:
    """A titled table of values; `shown` is it for people, `csv_text` for programs."""

    name: str
    """Its file name without ending: `perspective_gap`."""
    title: str
    columns: Sequence[Column]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dim: set[int] = field(default_factory=set)
    """Rows shown as references (null policies, the ceiling)."""
    keys: int = 1
    """How many leading columns name the row."""
    foldable: Sequence[str] = ()

    def shown(self) -> Table:
        """The table with its cells as texts."""
        rows = [
            tuple(cell_text(c, column) for c, column in zip(row, self.columns, strict=True))
            for row in self.rows
        ]
        prose = [column.name for column in self.columns if column.prose]
        return Table(
            self.title,
            [column.name for column in self.columns],
            rows,
            list(self.notes),
            set(self.dim),
            prose,
            self.foldable,
            self.keys,
        )

    def csv_text(self) -> str:
        """The table as CSV (RFC 4180 quoting, lines end with a line feed), unrounded.

        An interval becomes the columns `x`, `x_low`, `x_high`, `x_n`; undefined is empty. Texts are made
        safe for spreadsheets like the fields of a terminal table.
        """
        spread = [any(isinstance(row[i], Interval) for row in self.rows) for i, _ in enumerate(self.columns)]
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        heads: list[str] = []
        for column, is_interval in zip(self.columns, spread, strict=True):
            ends = ("", "_low", "_high", "_n") if is_interval else ("",)
            heads += [f"{column.key}{end}" for end in ends]
        writer.writerow(heads)
        for row in self.rows:
            writer.writerow(
                [c for cell, is_interval in zip(row, spread, strict=True) for c in _csv(cell, is_interval)]
            )
        return stream.getvalue()


def cell_text(cell: Cell, column: Column) -> str:
    """A value as a table for people shows it."""
    if cell is None:
        return DASH
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Interval):
        return interval_text(cell, places=column.places, scale=column.scale)
    if column.share:
        return share_text(float(cell), min(column.places, 1))
    if isinstance(cell, int):
        return str(cell)
    return f"{round(cell * column.scale, column.places) + 0.0:.{column.places}f}"  # no -0.0


def unrounded(number: int | float) -> str:
    """A number for programs, with all its digits: `0.25`, also where it is one of NumPy's."""
    return repr(float(number) if isinstance(number, float) else number)


def _csv(cell: Cell, is_interval: bool) -> Iterator[str]:
    if isinstance(cell, Interval):
        yield from ("" if end is None else unrounded(end) for end in (cell.mean, cell.low, cell.high))
        yield str(cell.n)
        return
    text = "" if cell is None else field_text(cell) if isinstance(cell, str) else unrounded(cell)
    yield text
    if is_interval:
        yield from ("", "", "")
