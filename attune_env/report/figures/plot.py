"""A figure drawn from one table, and what all kinds of figures draw alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from attune_env.report.figures.style import style
from attune_env.tables.cells import Cell
from attune_env.tables.labels import short_names
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_LINE: Final = 72
"""Most characters of a figure's label in one line."""
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
            between = "\n" if len(unit + note) > LONGEST_LINE else "; "
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


def draw_point(
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
    sure = is_sure(cell)

    def plot(values: Sequence[float], looks: str, **options: Any) -> None:
        places = [at] * len(values)
        axis.plot(*((places, values) if upright else (values, places)), looks, color=colour, **options)

    if isinstance(cell, Interval) and sure and bar and cell.low != cell.high:
        plot([scale * (end or 0.0) for end in (cell.low, cell.high)], "-", linewidth=1.6)
    face = colour if sure and not hollow else "white"
    plot([scale * (mean_of(cell) or 0.0)], "o", markersize=4.5, markerfacecolor=face)


def is_sure(cell: Cell) -> bool:
    """Whether a mean rests on enough units."""
    return not isinstance(cell, Interval) or cell.meaningful


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
