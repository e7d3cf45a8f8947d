"""A table for people and for pipes: rich in a terminal, plain and unwrapped everywhere else."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from attune_data.errors import one_line
from attune_env.statistics.bootstrap import ROUNDING, Interval

if TYPE_CHECKING:
    from rich.console import Console

DASH = "–"
_INTERVAL = re.compile(r" \[(-?[\d.]+), (-?[\d.]+)\]")
_NUMBER = re.compile(r"[-+]?[\d.,]+%?( \[-?[\d.]+, -?[\d.]+\])?†?( n=\d+)?", re.ASCII)
"""A cell that is a number, as tables write them: alone, or with its interval."""
_READ_OTHERWISE = tuple('=+-@＝＋－＠"#')
"""How a cell begins that a spreadsheet would run as a formula, or read as the start of a quoted field, or
that a script would take for a comment line."""
_GAP = 3
"""What a terminal table puts between two columns."""


@dataclass(slots=True)
class Table:
    """A titled table with notes beneath; cells are texts."""

    title: str
    columns: Sequence[str]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dim: set[int] = field(default_factory=set)
    """Rows shown as references (null policies, the ceiling)."""
    left: Sequence[str] = ()
    """Columns of prose, aligned left; the key columns are anyway."""
    foldable: Sequence[str] = ()
    """Columns that a terminal shows as a note where they say the same in every row."""
    keys: int = 1
    """How many leading columns name the row; a narrow terminal repeats them beside each group of others."""

    def print(self) -> None:
        """Draws it on standard output; without a terminal: tab-separated, one row a line."""
        if sys.stdout.isatty():
            self._draw()
            return
        print(f"# {one_line(self.title)}")
        print("\t".join(map(field_text, self.columns)))
        for row in self.rows:
            print("\t".join(map(field_text, row)))
        for note in self.notes:
            print(f"# {one_line(note)}")
        print()

    def _draw(self) -> None:
        from rich.console import Console
        from rich.text import Text

        console = Console()
        columns, rows, notes, keys = self._folded()
        columns = [one_line(column) for column in columns]
        rows = [tuple(map(one_line, row)) for row in rows]
        available = console.width - 2  # the edges
        if sum(_widths(columns, rows)) > available:
            # an interval goes below its mean rather than break in the middle
            rows = [tuple(_INTERVAL.sub(r"\n[\1,\2]", cell) for cell in row) for row in rows]
        for first, last in _pages(_widths(columns, rows), keys, available):
            shown = [*range(keys), *range(first, last)]
            title = self.title if first == keys else f"{self.title} (continued)"
            cells = [[row[i] for i in shown] for row in rows]
            self._page(console, title, [columns[i] for i in shown], cells, keys)
        for note in notes:
            console.print(Text(one_line(note), style="dim"))
        console.print()

    def _page(
        self, console: Console, title: str, columns: list[str], rows: list[list[str]], keys: int
    ) -> None:
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        # Text, not str: a model may be called "[red]" or ":skull:", and markup would change what it says
        table = RichTable(
            title=Text(one_line(title), style="bold"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for number, column in enumerate(columns):
            left = number < keys or column in self.left
            table.add_column(Text(column), justify="left" if left else "right", overflow="fold")
        for number, row in enumerate(rows):
            table.add_row(*map(Text, row), style="dim" if number in self.dim else None)
        console.print(table)

    def _folded(self) -> tuple[list[str], list[tuple[str, ...]], list[str], int]:
        """Columns, rows, notes and key columns, foldable columns that never vary turned into a note."""
        same = {
            i: self.rows[0][i]
            for i, column in enumerate(self.columns)
            if column in self.foldable and self.rows and len({row[i] for row in self.rows}) == 1
        }
        kept = [i for i in range(len(self.columns)) if i not in same]
        notes = list(self.notes)
        if same:
            notes.insert(0, "all rows: " + ", ".join(f"{self.columns[i]} {text}" for i, text in same.items()))
        rows = [tuple(row[i] for i in kept) for row in self.rows]
        keys = sum(i < self.keys for i in kept)
        return [self.columns[i] for i in kept], rows, notes, keys


def _pages(widths: Sequence[int], keys: int, available: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns that fit beside the key columns; at least one column each."""
    first = keys
    while first < len(widths) or first == keys:
        last, used = first, sum(widths[:keys])
        while last < len(widths) and (last == first or used + widths[last] <= available):
            used += widths[last]
            last += 1
        yield first, last
        first = last if last > first else last + 1


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """What each column wants of the terminal, the gap included; heads may break at blanks."""
    widths = []
    for number, column in enumerate(columns):
        lines = column.split(" ") + [line for row in rows for line in row[number].split("\n")]
        widths.append(max(map(len, lines)) + _GAP)
    return widths


def field_text(text: str) -> str:
    """`text` as one field of a tab-separated line, safe to open in a spreadsheet; numbers stay numbers.

    Texts come from files of others, such as the name of a model: one that a spreadsheet would run or read
    otherwise gets an apostrophe in front, which a spreadsheet takes for "this is text".
    """
    clean = one_line(text)
    if clean.lstrip().startswith(_READ_OTHERWISE) and not _NUMBER.fullmatch(clean):
        return f"'{clean}"
    return clean


def interval_text(interval: Interval, *, places: int = 3, scale: float = 1.0) -> str:
    """`0.512 [0.480, 0.544]`; a dash where undefined, `†` where too few units carry the interval."""
    shown = rounded(interval, places, scale)
    if not shown:
        return DASH
    mean, low, high = (f"{round(value, digits) + 0.0:.{digits}f}" for value, digits in shown)  # no -0.0
    return f"{mean} [{low}, {high}]" + ("" if interval.meaningful else "†")


def rounded(interval: Interval, places: int, scale: float = 1.0) -> list[tuple[float, int]]:
    """Mean, low and high end, scaled, each with its decimal places; empty where undefined.

    Where 0 lies outside of the interval, no number that is not 0 reads 0: it gets the places it takes.
    """
    if interval.mean is None or interval.low is None or interval.high is None:
        return []
    values = [scale * value for value in (interval.mean, interval.low, interval.high)]
    outside = interval.low > ROUNDING or interval.high < -ROUNDING
    return [(value, _places(value, places) if outside else places) for value in values]


def _places(value: float, least: int) -> int:
    """The decimal places, `least` or more, that keep a number from reading 0."""
    size = abs(value)
    return least if size <= ROUNDING or round(size, least) else -math.floor(math.log10(size))


def share_text(value: float | None, places: int = 1) -> str:
    """A share in [0, 1] as a percentage, a dash where undefined.

    None but 0 reads 0 % and none but 1 reads 100 %: `<0.1%`, `>99.9%`.
    """
    if value is None:
        return DASH
    text, step = f"{100 * value:.{places}f}", 10.0**-places
    if ROUNDING < value < 1 - ROUNDING and float(text) in (0, 100):
        return f"<{step:.{places}f}%" if value < 0.5 else f">{100 - step:.{places}f}%"
    return f"{text}%"
