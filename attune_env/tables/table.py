"""One table: typed cells, shown in a terminal, on a page and as Markdown, and written as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from attune_data.errors import one_line
from attune_env.tables.names import quoted
from attune_rewards.bootstrap import MEANINGFUL, ROUNDING, Interval

if TYPE_CHECKING:
    from rich.console import JustifyMethod

DASH = "–"
_INTERVAL = re.compile(r" \[(-?[\d.]+), (-?[\d.]+)\]")
_NUMBER = re.compile(r"[-+]?[\d.,]+%?( \[-?[\d.]+, -?[\d.]+\])?†?( n=\d+)?", re.ASCII)
"""A cell that is a number, as tables write them: alone, or with its interval."""
_FORMULA = tuple('=+-@＝＋－＠"#')
"""First characters of a cell that a spreadsheet would run as a formula or take for the start of a quoted
field, or that a script would take for a comment line."""
_WORDS = re.compile(r"[^\W\d]{2}|^[✓≈✗]")
"""In a cell of text."""
_GAP = 3
"""Columns of the terminal between two columns of a table."""
_LONGEST = 2_000
"""Characters of a cell on a page."""

Cell = str | int | float | Interval | None
"""None is undefined."""


class Shown(NamedTuple):
    """A cell as a page shows it."""

    text: str
    interval: str = ""
    """`[low, high]`, below the mean."""
    few: bool = False
    """Whether the interval rests on too few units."""
    value: str = ""
    """The number to sort by; if empty, the text is sorted by."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and how its numbers are shown."""

    name: str
    """The heading, with the unit: `Composite (0-100)`."""
    field: str = ""
    """Its name in a CSV file; by default the heading in lower case with underscores."""
    places: int = 3
    scale: float = 1.0
    """Factor for display; a CSV file holds values as they are."""
    share: bool = False

    @property
    def key(self) -> str:
        """The name in a CSV file."""
        return self.field or "_".join("".join(c if c.isalnum() else " " for c in self.name.lower()).split())

    def text(self, cell: Cell) -> str:
        """The cell as text."""
        if cell is None:
            return DASH
        if isinstance(cell, str):
            return cell
        if isinstance(cell, Interval):
            return interval_text(cell, places=self.places, scale=self.scale)
        if self.share:
            return share_text(float(cell), min(self.places, 1))
        if isinstance(cell, int):
            return str(cell)
        return f"{round(cell * self.scale, self.places) + 0.0:.{self.places}f}"  # no -0.0

    def shown(self, cell: Cell) -> Shown:
        """The cell for a page."""
        if isinstance(cell, Interval):
            mean, _, interval = self.text(cell).removesuffix("†").partition(" ")
            low, _, high = interval.strip("[]").partition(", ")
            # an interval without width says nothing
            return Shown(mean, interval if low != high else "", cell.few, _unrounded(cell.mean))
        text = one_line(self.text(cell), _LONGEST)
        return Shown(text, value="" if isinstance(cell, str) else _unrounded(cell))


share = partial(Column, share=True)
points = partial(Column, places=1, scale=100)
P, HOLM = Column("p", places=4), Column("p, Holm", "p_holm", places=4)
"""The p value of a test, uncorrected and corrected."""


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


def _unrounded(number: int | float | None) -> str:
    if number is None:
        return ""
    return repr(float(number) if isinstance(number, float) else number)  # NumPy's floats are written as 0.5


def _csv(cell: Cell, is_interval: bool) -> list[str]:
    if isinstance(cell, Interval):
        return [*map(_unrounded, (cell.mean, cell.low, cell.high)), str(cell.n)]
    text = field_text(cell) if isinstance(cell, str) else _unrounded(cell)
    return [text, "", "", ""] if is_interval else [text]


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def field_text(text: str) -> str:
    """`text` as one field of a tab-separated line, safe to open in a spreadsheet; numbers stay numbers.

    Some texts come from other people's files, such as the name of a model: one that a spreadsheet would run
    or misread gets an apostrophe in front, which tells a spreadsheet that it is text.
    """
    clean = one_line(text)
    if clean.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(clean):
        return f"'{clean}"
    return clean


def interval_text(interval: Interval, *, places: int = 3, scale: float = 1.0) -> str:
    """`0.512 [0.480, 0.544]`; a dash if undefined, `†` if it rests on too few units.

    If 0 is outside the interval, a number other than 0 is never shown as 0: it gets as many decimals as it
    needs.
    """
    if interval.mean is None or interval.low is None or interval.high is None:
        return DASH
    outside = interval.low > ROUNDING or interval.high < -ROUNDING
    texts = []
    for value in (scale * interval.mean, scale * interval.low, scale * interval.high):
        digits = places
        if outside and abs(value) > ROUNDING and not round(abs(value), places):
            digits = -math.floor(math.log10(abs(value)))
        texts.append(f"{round(value, digits) + 0.0:.{digits}f}")  # no -0.0
    mean, low, high = texts
    return f"{mean} [{low}, {high}]" + ("†" if interval.few else "")


def share_text(value: float | None, places: int = 1) -> str:
    """A share in [0, 1] as a percentage, a dash where undefined.

    Only 0 reads 0% and only 1 reads 100%: other values become `<0.1%`, `>99.9%`.
    """
    if value is None:
        return DASH
    text, step = f"{100 * value:.{places}f}", 10.0**-places
    if ROUNDING < value < 1 - ROUNDING and float(text) in (0, 100):
        return f"<{step:.{places}f}%" if value < 0.5 else f">{100 - step:.{places}f}%"
    return f"{text}%"
