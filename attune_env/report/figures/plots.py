"""Means with intervals, as dots or as lines, drawn from a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from attune_env.report.figures.style import BLUE, FAINT, INK, ORANGE, PALETTE, name_text, panels, style
from attune_env.statistics.comparisons import ALPHA
from attune_env.tables.names import role_of, short_names
from attune_env.tables.table import Cell, Column, Table
from attune_rewards.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, FRAME = 0.23, 1.0
"""Height in inches of a row, and of title, axis and label."""
MOST: Final = 40
"""Most rows of a figure; tables have all of them."""
LEAST_WIDTH: Final = 1e-9
LONG: Final = 72
"""Most characters of a figure's label in one line."""
ORACLE: Final = "builtin/oracle"
MODELS: Final = ("model", "against", "first", "second")
"""Columns that contain names of models."""


@dataclass(frozen=True)
class Plot(ABC):
    """A figure drawn from one table of an analysis; columns are named as in CSV files."""

    table: str
    _: KW_ONLY
    where: tuple[str, str | None] | None = None
    """(column, value): draw only these rows; with None, those with the first row's value."""
    unit: str = ""
    """Label of the numbers; `{}` stands for the value in `where`."""

    def __call__(self, tables: Mapping[str, Table]) -> Figure:
        """Draw it; needs matplotlib, and that `shows` something."""
        table, value = self._chosen(tables)
        unit = self.unit.format(value)
        with style():
            figure, note = self.draw(table)
            between = "\n" if len(unit + note) > LONG else "; "
            figure.supxlabel(between.join(filter(None, (unit, note))), fontsize=9)
        return figure

    def shows(self, tables: Mapping[str, Table]) -> bool:
        """Whether the tables hold a number to draw."""
        return self.table in tables and self.has_numbers(self._chosen(tables)[0])

    def _chosen(self, tables: Mapping[str, Table]) -> tuple[Table, Cell]:
        """The table with the rows to draw, and the value in `where` that they share."""
        table = tables[self.table]
        if self.where is None:
            return table, None
        held = table.column(self.where[0])
        value = next(iter(held), None) if self.where[1] is None else self.where[1]
        kept = [i for i, one in enumerate(held) if one == value]
        dim = {place for place, i in enumerate(kept) if i in table.dim}
        return replace(table, columns=table.heads, rows=[table.rows[i] for i in kept], dim=dim), value

    @abstractmethod
    def has_numbers(self, table: Table) -> bool:
        """Whether any number of the table would be drawn."""

    @abstractmethod
    def draw(self, table: Table) -> tuple[Figure, str]:
        """The figure, and the part of its label besides the unit."""


class Panel(NamedTuple):
    """One panel of dots."""

    title: str
    column: Column
    rows: list[tuple[str, Cell, float | None]]
    """(label, cell, mark)"""
    faint: set[int]
    baselines: set[int]
    hollow: set[int]
    """Rows whose difference from the mark is not significant."""

    @property
    def best(self) -> float | None:
        """The highest mean of a baseline, if there are also other rows."""
        held = [mean for row in self.baselines if (mean := mean_of(self.rows[row][1])) is not None]
        return max(held, default=None) if len(self.baselines) < len(self.rows) else None


@dataclass(frozen=True)
class Dots(Plot):
    """One panel per column, with a dot at the mean and a line over the interval for each row of the table.

    The oracle has no row, since it would compress all others. The best baseline is a dashed line.
    """

    columns: Sequence[str]
    """Columns shown in the panels; those that the table lacks are left out."""
    _: KW_ONLY
    split: str = ""
    """Column whose values become panels instead, all showing the first of `columns`."""
    label: str = ""
    """Column that names the rows; by default the first."""
    mark: str = ""
    """Column of a value for comparison, drawn as a vertical mark."""
    test: str = ""
    """Column of the p value of the difference from the mark; dots are hollow where it is not significant."""
    line: float | None = None
    """Value for comparison, drawn across each panel."""
    across: int = 4
    limits: tuple[float, float] | None = None
    """Range of the x axes; an arrow marks values outside."""

    def has_numbers(self, table: Table) -> bool:
        """Whether a panel is left."""
        return bool(self._filled(table))

    def draw(self, table: Table) -> tuple[Figure, str]:
        """The panels that contain a number."""
        made = self._filled(table)
        across = min(self.across, len(made))
        down = -(-len(made) // across)
        height = down * (FRAME + ROW * max(len(panel.rows) for panel in made))
        longest = max(len(name_text(row[0])) for panel in made for row in panel.rows)
        best = self.line is None and not self.mark and any(panel.best is not None for panel in made)
        width = 0.6 + 0.065 * longest + 1.9 * across
        figure, axes = panels(down, across, width=max(width, 5.0), height=max(1.9, height))
        for number, (axis, panel) in enumerate(zip(axes, made, strict=False)):
            self._dots(axis, panel, labelled=number % across == 0, best=panel.best if best else None)
        for axis in axes[len(made) :]:
            axis.set_visible(False)
        mark = f"| {table.heads[table.place(self.mark)].name}" if self.mark else ""
        mark += "; filled: significantly different from it" if self.test else ""
        return figure, "dashed: the best baseline" if best else mark

    def columns_of(self, table: Table) -> Sequence[str]:
        """The columns of the panels."""
        return self.columns

    def _filled(self, table: Table) -> list[Panel]:
        return [
            panel
            for panel in self._panels(table)
            if any(mean_of(cell) is not None for _, cell, _ in panel.rows)
        ]

    def _panels(self, table: Table) -> list[Panel]:
        first = table.heads[0].key
        key = self.label or first
        names = axis_labels(key, [str(text) for text in table.column(key)])
        rows = [i for i, name in enumerate(table.column(first)) if name != ORACLE]
        base = {i for i in rows if role_of(str(table.column(first)[i])) == "baseline"}
        marks = table.column(self.mark) if self.mark else [None] * len(names)
        tests = [mean_of(p) for p in table.column(self.test)] if self.test else [0.0] * len(names)
        unsure = {i for i in rows if (p := tests[i]) is None or p >= ALPHA}
        kinds = table.dim, base, unsure
        if self.split:
            values = table.column(self.split)
            distinct = list(dict.fromkeys(str(values[i]) for i in rows))
            groups = [
                (title, self.columns[0], [i for i in rows if str(values[i]) == value])
                for title, value in zip(axis_labels(self.split, distinct), distinct, strict=True)
            ]
        else:
            kept = [head for key in self.columns_of(table) for head in table.heads if head.key == key]
            groups = [(head.name, head.key, rows) for head in kept]
        return [
            Panel(
                title,
                table.heads[table.place(key)],
                [(names[i], table.column(key)[i], mean_of(marks[i])) for i in chosen[:MOST]],
                *({place for place, i in enumerate(chosen[:MOST]) if i in those} for those in kinds),
            )
            for title, key, chosen in groups
        ]

    def _dots(self, axis: Axes, panel: Panel, *, labelled: bool, best: float | None) -> None:
        """Draws one panel."""
        scale = 100.0 if panel.column.share else panel.column.scale
        low, high = self.limits or (-float("inf"), float("inf"))
        for row, (_, cell, mark) in enumerate(panel.rows):
            if (mean := mean_of(cell)) is None:
                continue
            colour = FAINT if row in panel.faint else BLUE
            bar, hollow = low <= scale * mean <= high, row in panel.hollow
            _point(axis, row, cell, scale, colour, bar=bar, hollow=hollow)
            if mark is not None:
                axis.plot([scale * mark], [row], "|", color=ORANGE, markersize=9, markeredgewidth=1.8)
        if self.line is not None:
            axis.axvline(self.line, color=INK, linewidth=0.8, zorder=0)
        if best is not None:
            axis.axvline(scale * best, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        if self.limits is not None:
            axis.set_xlim(low, high)
            for row, (_, cell, _) in enumerate(panel.rows):
                value = (mean_of(cell) or 0.0) * scale
                if not low <= value <= high:
                    end, arrow, side = (low, "◂", "left") if value < low else (high, "▸", "right")
                    axis.annotate(f"{arrow} {value:.2g}", (end, row), fontsize=7.5, color=BLUE, va="center",
                                  ha=side)  # fmt: skip
        elif (ends := axis.get_xlim())[1] - ends[0] < LEAST_WIDTH:  # only rounding
            axis.set_xlim(ends[0] - 1, ends[1] + 1)
        axis.set_yticks(range(len(panel.rows)), [name_text(row[0]) if labelled else "" for row in panel.rows])
        axis.set_ylim(len(panel.rows) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.locator_params(axis="x", nbins=5)
        axis.grid(axis="x")
        axis.spines["left"].set_visible(False)
        axis.set_title(name_text(panel.title.partition(" (")[0]))


@dataclass(frozen=True)
class Lines(Plot):
    """Means with intervals as lines along an ordered axis.

    With `x`, there is a panel per column with a line per value of `series` over the numbers in column `x`;
    without it, one panel with a line per row over `columns`.
    """

    columns: Sequence[str]
    """Those that the table lacks are left out."""
    _: KW_ONLY
    x: str = ""
    series: str = ""

    def has_numbers(self, table: Table) -> bool:
        """Whether a line has a point."""
        return any(
            mean_of(cell) is not None for head in self._heads(table) for cell in table.column(head.key)
        )

    def _heads(self, table: Table) -> list[Column]:
        return [head for key in self.columns for head in table.heads if head.key == key]

    def draw(self, table: Table) -> tuple[Figure, str]:
        """One panel, or one per column."""
        heads = self._heads(table)
        cells = [table.column(head.key) for head in heads]
        if self.x:
            names = [str(name) for name in table.column(self.series)]
            steps = [float(mean_of(cell) or 0.0) for cell in table.column(self.x)]
            charts = [
                (head, [
                    (name, [(at, cell) for at, cell, other in zip(steps, column, names, strict=True)
                            if other == name])
                    for name in dict.fromkeys(names)
                ])
                for head, column in zip(heads, cells, strict=True)
            ]  # fmt: skip
        else:
            rows = zip(table.rows, zip(*cells, strict=True), strict=True)
            charts = [(heads[0], [(str(row[0]), list(enumerate(of_row))) for row, of_row in rows])]
        width = 2.4 + 2.0 * len(charts) + (0 if self.x else 2.4)
        figure, axes = panels(1, len(charts), width=width, height=2.8)
        for axis, (head, shown) in zip(axes, charts, strict=True):
            for (name, points), colour in zip(shown, PALETTE, strict=False):
                _line(axis, points, colour, head.scale, name)
            axis.set_title(head.name if self.x else "")
            axis.grid(axis="y")
            axis.margins(x=0.1)
            if not self.x:
                axis.set_xticks(range(len(heads)), [head.name for head in heads])
        if len(charts[0][1]) > 1:
            axes[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
        return figure, ""


def _line(axis: Axes, points: Sequence[tuple[float, Cell]], colour: str, scale: float, name: str) -> None:
    known = [(at, cell, mean) for at, cell in points if (mean := mean_of(cell)) is not None]
    axis.plot([at for at, _, _ in known], [scale * mean for _, _, mean in known], color=colour,
              label=name_text(name))  # fmt: skip
    for at, cell, _ in known:
        _point(axis, at, cell, scale, colour, upright=True)


def _point(
    axis: Axes,
    at: float,
    cell: Cell,
    scale: float,
    colour: str,
    *,
    upright: bool = False,
    bar: bool = True,
    hollow: bool = False,
) -> None:
    """Draw a mean as a dot and its interval as a bar, at row or column `at`.

    The dot is hollow with too few units too.
    """
    sure = not isinstance(cell, Interval) or cell.meaningful

    def plot(values: Sequence[float], looks: str, **options: Any) -> None:
        places = [at] * len(values)
        axis.plot(*((places, values) if upright else (values, places)), looks, color=colour, **options)

    if isinstance(cell, Interval) and sure and bar and cell.low != cell.high:
        plot([scale * (end or 0.0) for end in (cell.low, cell.high)], "-", linewidth=1.6)
    face = colour if sure and not hollow else "white"
    plot([scale * (mean_of(cell) or 0.0)], "o", markersize=4.5, markerfacecolor=face)


def axis_labels(key: str, names: Sequence[str]) -> list[str]:
    """Labels for an axis: short names of models; sentences without their common beginning."""
    distinct = list(dict.fromkeys(names))
    words = [name.split() for name in distinct]
    same = len(list(takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))))
    short = [" ".join(one[same:]) for one in words] if same > 1 and len(words) > 1 else distinct
    short = short_names(distinct) if key in MODELS else short
    return [short[distinct.index(name)] for name in names]


def mean_of(cell: Cell) -> float | None:
    """The number in a cell; the mean of an interval."""
    if isinstance(cell, Interval):
        return cell.mean
    return float(cell) if isinstance(cell, (int, float)) else None
