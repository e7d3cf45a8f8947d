"""One table, shown in a terminal, on a page and as Markdown, and written as CSV."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from attune_data.errors import one_line
from attune_env.tables.cells import Cell, Column, field_text, unrounded
from attune_env.tables.labels import quoted
from attune_rewards.bootstrap import MEANINGFUL, Interval

if TYPE_CHECKING:
    from rich.console import JustifyMethod

_INTERVAL = re.compile(r" \[(-?[\d.]+), (-?[\d.]+)\]")
_WORDS = re.compile(r"[^\W\d]{2}|^[✓≈✗]")
"""In a cell of text."""
_GAP = 3
"""Columns of the terminal between two columns of a table."""


@dataclass(slots=True)
class Table:
    """A titled table with notes below it."""

    title: str
    columns: Sequence[Column | str]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """`footnotes` are these and what the marks in the cells mean."""
    dim: set[int] = field(default_factory=set)
    """Rows shown in grey: built-in policies and published values."""
    foldable: Sequence[str] = ()
    """Columns that become a note where every row holds the same value."""
    keys: int = 1
    """How many leading columns name the row; a narrow terminal repeats them beside each group of others."""
    name: str = ""
    """Its file name without ending: `perspective_gap`."""
    unit: str = "unit"
    """The unit that intervals resample, such as `participant`."""
    heads: list[Column] = field(init=False)

    def __post_init__(self) -> None:
        self.heads = [column if isinstance(column, Column) else Column(column) for column in self.columns]

    @property
    def footnotes(self) -> list[str]:
        """The notes, and the meaning of † if a cell has it."""
        if not any(isinstance(cell, Interval) and cell.few for row in self.rows for cell in row):
            return self.notes
        return [*self.notes, f"† fewer than {MEANINGFUL} {self.unit}s: the interval is not meaningful."]

    def place(self, key: str) -> int:
        """The place of a column by its name in CSV files."""
        return [column.key for column in self.heads].index(key)

    def column(self, key: str) -> list[Cell]:
        """The cells of a column, by its name in CSV files."""
        place = self.place(key)
        return [row[place] for row in self.rows]

    def intervals(self, key: str) -> list[Interval]:
        """The intervals of a column; an undefined one if a cell is something else."""
        return [cell if isinstance(cell, Interval) else Interval() for cell in self.column(key)]

    def left_aligned(self, place: int) -> bool:
        """Whether a column is aligned left: it names the row, or holds words."""
        texts = (row[place] for row in self.rows)
        return place < self.keys or any(isinstance(text, str) and _WORDS.search(text) for text in texts)

    def texts(self) -> list[tuple[str, ...]]:
        """Every row as text."""
        return [
            tuple(head.text(cell) for head, cell in zip(self.heads, row, strict=True)) for row in self.rows
        ]

    def folded(self) -> Table:
        """The table without foldable columns that never vary; a note says what they hold."""
        held = [{row[i] for row in self.rows} for i in range(len(self.heads))]
        kept = [i for i, head in enumerate(self.heads) if head.name not in self.foldable or len(held[i]) != 1]
        if len(kept) == len(self.heads):
            return self
        said = ", ".join(
            f"{head.name} {quoted(text) if isinstance(cell, str) else text}"
            for i, head in enumerate(self.heads)
            if i not in kept
            for cell in held[i]
            for text in [head.text(cell)]
        )
        return replace(
            self,
            columns=[self.heads[i] for i in kept],
            rows=[tuple(row[i] for i in kept) for row in self.rows],
            notes=[f"All rows: {said}.", *self.notes],
            keys=max(1, sum(i < self.keys for i in kept)),
        )

    def transposed(self, head: str) -> Table:
        """A row per column and a column per row, which the key columns name."""
        table = self.folded()
        table = replace(table, notes=table.footnotes)  # the cells become texts
        keys, texts = table.keys, table.texts()
        rows = zip(
            [column.name for column in table.heads[keys:]], *(row[keys:] for row in texts), strict=True
        )
        columns = (head, *(" ".join(row[:keys]) for row in texts))
        return replace(table, columns=columns, rows=list(rows), keys=1, dim=set())

    def csv_text(self) -> str:
        """The table as CSV (RFC 4180 quoting, lines end with a line feed), unrounded.

        An interval becomes the columns `x`, `x_low`, `x_high`, `x_n`; undefined is empty. Texts are made safe
        for spreadsheets, as in a terminal.
        """
        spread = [any(isinstance(row[i], Interval) for row in self.rows) for i in range(len(self.heads))]
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        ends = [("", "_low", "_high", "_n") if wide else ("",) for wide in spread]
        writer.writerow(
            [field_text(f"{c.key}{end}") for c, parts in zip(self.heads, ends, strict=True) for end in parts]
        )
        for row in self.rows:
            writer.writerow([text for c, wide in zip(row, spread, strict=True) for text in _csv(c, wide)])
        return stream.getvalue()

    def markdown(self, escape: Callable[[str], str] | None = None) -> str:
        """The table as Markdown, without title and notes; `escape` makes a cell safe to show."""
        safe = escape or _escaped
        lines = [
            [safe(head.name) for head in self.heads],
            ["---" if self.left_aligned(i) else "---:" for i in range(len(self.heads))],
            *([safe(text) for text in row] for row in self.texts()),
        ]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def print(self) -> None:
        """Print it on standard output; without a terminal, tab-separated with one row per line."""
        if sys.stdout.isatty():
            self._draw()
            return
        print(f"# {one_line(self.title)}")
        print("\t".join(field_text(head.name) for head in self.heads))
        for row in self.texts():
            print("\t".join(map(field_text, row)))
        for note in self.footnotes:
            print(f"# {one_line(note)}")
        print()

    def _draw(self) -> None:
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        console = Console()
        table = self.folded()
        columns = [one_line(head.name) for head in table.heads]
        rows = [tuple(map(one_line, row)) for row in table.texts()]
        available = console.width - 2  # the edges
        if sum(_widths(columns, rows)) > available:
            # put an interval below its mean rather than break it in the middle
            rows = [tuple(_INTERVAL.sub(r"\n[\1,\2]", cell) for cell in row) for row in rows]
        for first, last in _pages(_widths(columns, rows), table.keys, available):
            shown = [*range(table.keys), *range(first, last)]
            # Text, not str: a model may be called "[red]" or ":skull:", and markup would change what it says
            title = Text(one_line(self.title) + (" (continued)" if first > table.keys else ""), style="bold")
            drawn = RichTable(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
            for i in shown:
                justify: JustifyMethod = "left" if table.left_aligned(i) else "right"
                drawn.add_column(Text(columns[i]), justify=justify, overflow="fold")
            for number, row in enumerate(rows):
                drawn.add_row(*(Text(row[i]) for i in shown), style="dim" if number in self.dim else None)
            console.print(drawn)
        for note in table.footnotes:
            console.print(Text(one_line(note), style="dim"))
        console.print()


def _pages(widths: Sequence[int], keys: int, available: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns that fit beside the key columns; at least one column each."""
    first = keys
    while first < len(widths) or first == keys:
        last, used = first, sum(widths[:keys])
        while last < len(widths) and (last == first or used + widths[last] <= available):
            used += widths[last]
            last += 1
        yield first, last
        first = max(last, first + 1)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The width each column needs in a terminal, the gap included; headings may break at spaces."""
    return [
        _GAP + max(map(len, [*column.split(" "), *(line for row in rows for line in row[i].split("\n"))]))
        for i, column in enumerate(columns)
    ]


def _csv(cell: Cell, is_interval: bool) -> list[str]:
    if isinstance(cell, Interval):
        return [*map(unrounded, (cell.mean, cell.low, cell.high)), str(cell.n)]
    text = field_text(cell) if isinstance(cell, str) else unrounded(cell)
    return [text, "", "", ""] if is_interval else [text]


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
