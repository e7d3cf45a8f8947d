"""Matrices of numbers as coloured cells, drawn from a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from attune_env.report.figures.dots import ROW
from attune_env.report.figures.plot import Plot, axis_labels, mean_of
from attune_env.report.figures.style import name_text, panels
from attune_env.tables.cells import Cell
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heat(Plot):
    """A matrix with a row per value of one column and a column per value of another; bold if significant."""

    rows: str
    """Column that names the rows."""
    columns: str | Sequence[str]
    """Column that names the columns; or several columns of numbers, shown side by side."""
    value: str = ""
    """Column of the numbers, if `columns` is a single one."""
    _: KW_ONLY
    range_: tuple[float, float] | None = None
    """Range of the colours; by default symmetric about 0."""

    def has_numbers(self, table: Table) -> bool:
        """Whether a cell is filled."""
        keys = (self.value,) if isinstance(self.columns, str) else self.columns
        return any(mean_of(cell) is not None for key in keys for cell in table.column(key))

    def draw(self, table: Table) -> tuple[Figure, str]:
        """The matrix, in the order of the table."""
        names = [str(name) for name in table.column(self.rows)]
        cells: dict[tuple[str, str], Cell]
        if isinstance(self.columns, str):
            head = table.heads[table.place(self.value)]
            others = [str(name) for name in table.column(self.columns)]
            cells = dict(zip(zip(names, others, strict=True), table.column(head.key), strict=True))
        else:
            heads = [table.heads[table.place(key)] for key in self.columns]
            head = heads[0]
            cells = {
                (name, one.name): cell
                for one in heads
                for name, cell in zip(names, table.column(one.key), strict=True)
            }
        down, across = (list(dict.fromkeys(pair[i] for pair in cells)) for i in (0, 1))
        if across and across[0] in down:  # rows and columns name the same things, so use the same order
            across.sort(key=lambda name: down.index(name) if name in down else len(down))
        keys = self.rows, self.columns if isinstance(self.columns, str) else ""
        labels = [
            [name_text(text) for text in axis_labels(key, one)]
            for key, one in zip(keys, (down, across), strict=True)
        ]
        longest = [max(map(len, texts), default=0) for texts in labels]
        figure, (axis,) = panels(
            width=max(5.0, 1.0 + 0.065 * longest[0] + 0.36 * len(across)),
            height=1.4 + ROW * len(down) + 0.05 * longest[1],
        )
        scale = 100.0 if head.share else head.scale
        places = 0 if scale == 100 else head.places
        values = np.full((len(down), len(across)), np.nan)
        for (name, other), cell in cells.items():
            if (mean := mean_of(cell)) is not None:
                values[down.index(name), across.index(other)] = scale * mean
        reach = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
        low, high = self.range_ or (-reach, reach)
        shown = values if values.size else [[np.nan]]
        colours = "PuOr_r" if low < 0 else "Blues"
        image = axis.imshow(shown, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        for (row, column), number in np.ndenumerate(values):
            if np.isnan(number):
                continue
            text = f"{round(float(number), places) + 0.0:.{places}f}".replace("-", "−")
            red, green, blue, _ = image.cmap((number - low) / ((high - low) or 1.0))
            cell = cells[down[row], across[column]]
            axis.text(
                column, row, text, ha="center", va="center", fontsize=7, in_layout=False,
                color="white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45 else "#111111",
                fontweight="bold" if isinstance(cell, Interval) and cell.leaves_out_zero else "normal",
            )  # fmt: skip
        axis.set_xticks(range(len(across)), labels[1], rotation=40, ha="right", rotation_mode="anchor")
        axis.set_yticks(range(len(down)), labels[0])
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
        return figure, ""
