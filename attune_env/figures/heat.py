"""Matrices of numbers as coloured cells, drawn from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attune_env.figures.plots import ROW, axis_labels, mean_of
from attune_env.figures.style import name_text, panels, style
from attune_env.report.table import Cell, Table
from attune_env.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def heat(
    tables: Mapping[str, Table],
    table: str,
    rows: str,
    columns: str,
    value: str,
    *,
    across: Sequence[str] = (),
    where: tuple[str, str] = ("", ""),
    range_: tuple[float, float] | None = None,
    unit: str = "",
) -> Figure:
    """A matrix of numbers as coloured cells: a row per value of one column, a column per value of another.

    Args:
        tables: of the analysis.
        table: the one that is drawn.
        rows: column that names the rows.
        columns: column that names the columns.
        value: column of the numbers; in bold where an interval excludes 0.
        across: instead of `columns` and `value`: columns that stand side by side.
        where: (column, value): only these rows of the table.
        range_: of the colours; by default as far below 0 as above.
        unit: what the numbers are.
    """
    source = tables[table]
    if where[0]:
        kept = [
            row for row, found in zip(source.rows, source.column(where[0]), strict=True) if found == where[1]
        ]
        source = Table(source.title, source.heads, kept)
    cells: dict[tuple[str, str], Cell] = {}
    names = source.column(rows)
    if across:
        heads = [source.heads[source.place(key)] for key in across]
        for head in heads:
            cells |= {
                (str(name), head.name): c for name, c in zip(names, source.column(head.key), strict=True)
            }
    else:
        heads = [source.heads[source.place(value)]]
        triples = zip(names, source.column(columns), source.column(value), strict=True)
        cells = {(str(name), str(other)): cell for name, other, cell in triples}
    labels = [list(dict.fromkeys(pair[i] for pair in cells)) for i in (0, 1)]
    scale, places = (
        (100.0, 0) if heads[0].share else (heads[0].scale, 0 if heads[0].scale == 100 else heads[0].places)
    )
    found = {pair: scale * mean for pair, cell in cells.items() if (mean := mean_of(cell)) is not None}
    reach = max(map(abs, found.values()), default=1.0) or 1.0
    low, high = range_ or (-reach, reach)
    if labels[1] and labels[1][0] in labels[0]:  # the same things in both: in the same order
        labels[1].sort(key=lambda name: labels[0].index(name) if name in labels[0] else len(labels[0]))
    short = [axis_labels(key, one) for one, key in zip(labels, (rows, columns), strict=True)]
    longest = [max((len(name_text(text)) for text in one), default=0) for one in short]
    figure, (axis,) = panels(
        width=max(5.0, 1.0 + 0.065 * longest[0] + 0.36 * len(labels[1])),
        height=1.4 + ROW * len(labels[0]) + 0.05 * longest[1],
    )
    _cells(axis, labels, short, found, cells, (low, high), places)
    with style():
        figure.supxlabel(unit, fontsize=9)
    return figure


def _cells(
    axis: Axes,
    labels: Sequence[Sequence[str]],
    shown: Sequence[Sequence[str]],
    found: Mapping[tuple[str, str], float],
    cells: Mapping[tuple[str, str], Cell],
    ends: tuple[float, float],
    places: int,
) -> None:
    import matplotlib

    low, high = ends
    colours = matplotlib.colormaps["PuOr_r" if low < 0 else "Blues"]
    values = np.full((len(labels[0]), len(labels[1])), np.nan)
    with style():
        for (row, column), number in found.items():
            at = labels[0].index(row), labels[1].index(column)
            values[at] = number
            red, green, blue, _ = colours((number - low) / ((high - low) or 1.0))
            cell = cells[row, column]
            axis.text(
                at[1], at[0], f"{round(number, places) + 0.0:.{places}f}".replace("-", "−"), ha="center",
                va="center", fontsize=7, in_layout=False,
                color="white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45 else "#111111",
                fontweight="bold" if isinstance(cell, Interval) and cell.leaves_out_zero else "normal",
            )  # fmt: skip
        axis.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        axis.set_xticks(range(len(shown[1])), [name_text(text) for text in shown[1]], rotation=40, ha="right",
                        rotation_mode="anchor")  # fmt: skip
        axis.set_yticks(range(len(shown[0])), [name_text(text) for text in shown[0]])
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
