"""Means with intervals as lines along an ordered axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from attune_env.report.figures.plot import Plot, draw_point, mean_of
from attune_env.report.figures.style import PALETTE, name_text, panels
from attune_env.tables.cells import Cell, Column
from attune_env.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        draw_point(axis, at, cell, scale, colour, upright=True)
