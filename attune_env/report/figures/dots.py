"""Means with intervals as dots: a panel per column, a row per row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from attune_env.report.figures.plot import Plot, axis_labels, draw_point, is_sure, mean_of
from attune_env.report.figures.style import BLUE, FAINT, INK, ORANGE, name_text, panels
from attune_env.statistics.comparisons import ALPHA
from attune_env.tables.cells import Cell, Column
from attune_env.tables.labels import role_of
from attune_env.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, FRAME = 0.23, 1.0
"""Height in inches of a row, and of title, axis and label."""
MOST_ROWS: Final = 40
"""Most rows of a figure; tables have all of them."""
LEAST_WIDTH: Final = 1e-9
ORACLE: Final = "builtin/oracle"


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
    """Range of the x axes; a value outside is written at the edge, with an arrow and its dot."""

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
                [(names[i], table.column(key)[i], mean_of(marks[i])) for i in chosen[:MOST_ROWS]],
                *({place for place, i in enumerate(chosen[:MOST_ROWS]) if i in those} for those in kinds),
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
            draw_point(axis, row, cell, scale, colour, bar=bar, hollow=hollow)
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
                    dot = "●" if is_sure(cell) and row not in panel.hollow else "○"
                    end, text, side = (
                        (low, f"◂{dot} {value:.2g}", "left")
                        if value < low
                        else (high, f"{value:.2g} {dot}▸", "right")
                    )
                    axis.annotate(text, (end, row), fontsize=7.5, color=BLUE, va="center", ha=side)
        elif (ends := axis.get_xlim())[1] - ends[0] < LEAST_WIDTH:  # only rounding
            axis.set_xlim(ends[0] - 1, ends[1] + 1)
        axis.set_yticks(range(len(panel.rows)), [name_text(row[0]) if labelled else "" for row in panel.rows])
        axis.set_ylim(len(panel.rows) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.locator_params(axis="x", nbins=5)
        axis.grid(axis="x")
        axis.spines["left"].set_visible(False)
        axis.set_title(name_text(panel.title.partition(" (")[0]))
