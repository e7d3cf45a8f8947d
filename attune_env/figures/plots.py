"""Means with intervals, as dots or as lines over steps, drawn from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from attune_env.figures.style import BLUE, FAINT, INK, ORANGE, PALETTE, name_text, panels, style
from attune_env.report.names import short_names
from attune_env.report.table import Cell, Column, Table
from attune_env.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panel = tuple[str, Column, list[tuple[str, Cell]], set[int], list[float | None]]
"""Title, column, (label, cell) per row, faint rows, marks."""
ROW, FRAME = 0.23, 1.0
"""Inches of a row, and of title, axis and label."""
MOST = 40
"""Rows of a figure; tables hold all."""
LEAST_WIDTH = 1e-9
CEILING = "builtin/oracle"
MODELS = ("model", "against", "first", "second")
"""Columns that hold names of models."""


def dots(
    tables: Mapping[str, Table],
    table: str,
    columns: Sequence[str],
    *,
    split: str = "",
    label: str = "",
    mark: str = "",
    line: float | None = None,
    across: int = 4,
    unit: str = "",
    limits: tuple[float, float] | None = None,
) -> Figure:
    """One panel per column: a row per row of the table, a dot at the mean, a line over its interval.

    Args:
        tables: of the analysis.
        table: the one that is drawn.
        columns: what the panels show, by name in CSV files.
        split: column that makes panels instead: one for each of its values, of the first of `columns`.
        label: column that names the rows; by default the first.
        mark: column of a value to compare with, drawn as an upright mark.
        line: value to compare with, drawn across each panel.
        across: panels side by side.
        unit: what the x axes hold.
        limits: of the x axes; an arrow marks what lies outside.

    The ceiling has no row: it would squeeze all others. The best baseline is a dashed line.
    """
    source = tables[table]
    made = [
        panel
        for panel in _panels(source, columns, split, label, mark)
        if any(mean_of(cell) is not None for _, cell in panel[2])
    ]
    across = min(across, max(len(made), 1))
    down = -(-len(made) // across)
    height = down * (FRAME + ROW * max((len(panel[2]) for panel in made), default=1))
    longest = max((len(name_text(text)) for panel in made for text, _ in panel[2]), default=0)
    best = line is None and not mark and any(_best(panel) is not None for panel in made)
    width = 0.6 + 0.065 * longest + 1.9 * across
    figure, axes = panels(down, across, width=max(width, 5.0), height=max(1.9, height))
    for number, (axis, panel) in enumerate(zip(axes, made, strict=False)):
        _dots(axis, panel, line, limits, labelled=number % across == 0, best=best)
    for axis in axes[len(made) :]:
        axis.set_visible(False)
    notes = [
        unit,
        *(["dashed: the best baseline"] if best else []),
        *([f"| {_named(source, mark)}"] * bool(mark)),
    ]
    with style():
        figure.supxlabel("; ".join(note for note in notes if note), fontsize=9)
    return figure


def _named(table: Table, key: str) -> str:
    return table.heads[table.place(key)].name if key else ""


def _panels(table: Table, columns: Sequence[str], split: str, label: str, mark: str) -> list[Panel]:
    key = label or table.heads[0].key
    names = axis_labels(key, [str(text) for text in table.column(key)])
    rows = [i for i, first in enumerate(table.column(table.heads[0].key)) if first != CEILING]
    marks = table.column(mark) if mark else [None] * len(names)
    groups: list[tuple[str, str, list[int]]]
    if split:
        values = [str(value) for value in table.column(split)]
        distinct = list(dict.fromkeys(values[i] for i in rows))
        titles = axis_labels(split, distinct)
        groups = [
            (title, columns[0], [i for i in rows if values[i] == value])
            for title, value in zip(titles, distinct, strict=True)
        ]
    else:
        kept = [key for key in columns if key in [head.key for head in table.heads]]
        groups = [(_named(table, key), key, rows) for key in kept]
    return [
        (
            title,
            table.heads[table.place(key)],
            [(names[i], table.column(key)[i]) for i in chosen[:MOST]],
            {place for place, i in enumerate(chosen[:MOST]) if i in table.dim},
            [mean_of(marks[i]) for i in chosen[:MOST]],
        )
        for title, key, chosen in groups
    ]


def axis_labels(key: str, names: Sequence[str]) -> list[str]:
    """Texts for an axis: short names of models; sentences without the words that all begin with."""
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


def _dots(
    axis: Axes,
    panel: Panel,
    line: float | None,
    limits: tuple[float, float] | None,
    *,
    labelled: bool,
    best: bool,
) -> None:
    """Draws one panel."""
    title, column, rows, faint, marks = panel
    scale = 100.0 if column.share else column.scale
    with style():
        for row, (_, cell) in enumerate(rows):
            colour = FAINT if row in faint else BLUE
            mean = mean_of(cell)
            if mean is None:
                continue
            sure = not isinstance(cell, Interval) or cell.meaningful
            inside = limits is None or limits[0] <= scale * mean <= limits[1]
            ends = (cell.low, cell.high) if isinstance(cell, Interval) and sure and inside else ()
            if None not in ends and len(set(ends)) == 2:
                axis.plot([scale * (end or 0.0) for end in ends], [row, row], color=colour, linewidth=1.6)
            axis.plot(
                [scale * mean], [row], "o", color=colour, markersize=4.5,
                markerfacecolor=colour if sure else "white",
            )  # fmt: skip
            if (value := marks[row]) is not None:
                axis.plot([scale * value], [row], "|", color=ORANGE, markersize=9, markeredgewidth=1.8)
        if line is not None:
            axis.axvline(line, color=INK, linewidth=0.8, zorder=0)
        if best and (top := _best(panel)) is not None:
            axis.axvline(scale * top, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        if limits is not None:
            axis.set_xlim(*limits)
            _outside(axis, [(mean_of(cell) or 0.0) * scale for _, cell in rows], limits)
        elif (ends := axis.get_xlim())[1] - ends[0] < LEAST_WIDTH:  # nothing but rounding
            axis.set_xlim(ends[0] - 1, ends[1] + 1)
        axis.set_yticks(range(len(rows)), [name_text(text) if labelled else "" for text, _ in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.locator_params(axis="x", nbins=5)
        axis.grid(axis="x")
        axis.spines["left"].set_visible(False)
        axis.set_title(name_text(title.partition(" (")[0]))


def _best(panel: Panel) -> float | None:
    """The highest mean of a baseline, where there are other rows too."""
    _, _, rows, faint, _ = panel
    held = [mean for row in faint if (mean := mean_of(rows[row][1])) is not None]
    return max(held, default=None) if len(faint) < len(rows) else None


def _outside(axis: Axes, values: Sequence[float], limits: tuple[float, float]) -> None:
    for row, value in enumerate(values):
        for end, beyond, arrow in ((limits[0], value < limits[0], "◂"), (limits[1], value > limits[1], "▸")):
            if beyond:
                axis.annotate(f"{arrow} {value:.2g}", (end, row), fontsize=7.5, color=BLUE, va="center",
                              ha="left" if arrow == "◂" else "right")  # fmt: skip


def lines(
    tables: Mapping[str, Table],
    table: str,
    columns: Sequence[str],
    *,
    x: str = "",
    series: str = "",
    unit: str = "",
) -> Figure:
    """Means with intervals over ordered steps.

    With `x`, a panel per column, a line per value of `series` over the numbers in column `x`. Without it,
    one panel: a line per row over `columns`.
    """
    source = tables[table]
    if x:
        names = [str(name) for name in source.column(series)] if series else [""] * len(source.rows)
        steps = [float(mean_of(cell) or 0.0) for cell in source.column(x)]
        charts = [
            (_named(source, key), source.heads[source.place(key)].scale, [
                (name, [(steps[i], source.column(key)[i]) for i in range(len(names)) if names[i] == name])
                for name in dict.fromkeys(names)
            ])
            for key in columns
        ]  # fmt: skip
    else:
        places = [source.place(key) for key in columns]
        drawn = [
            (str(row[0]), [(float(step), row[place]) for step, place in enumerate(places)])
            for row in source.rows
        ]
        charts = [("", source.heads[places[0]].scale, drawn)]
    figure, axes = panels(1, len(charts), width=2.4 + 2.0 * len(charts) + (2.4 if not x else 0), height=2.8)
    for axis, (title, scale, shown) in zip(axes, charts, strict=True):
        for (name, points), colour in zip(shown, PALETTE, strict=False):
            _line(axis, points, colour, scale, name)
        with style():
            axis.set_title(title)
            axis.grid(axis="y")
            axis.margins(x=0.1)
            if not x:
                axis.set_xticks(range(len(columns)), [_named(source, key) for key in columns])
    with style():
        if len(charts[0][2]) > 1:
            axes[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
        figure.supxlabel(unit, fontsize=9)
    return figure


def _line(axis: Axes, points: Sequence[tuple[float, Cell]], colour: str, scale: float, name: str) -> None:
    known = [(at, cell, mean) for at, cell in points if (mean := mean_of(cell)) is not None]
    with style():
        axis.plot([at for at, _, _ in known], [scale * mean for _, _, mean in known], color=colour,
                  label=name_text(name))  # fmt: skip
        for at, cell, mean in known:
            sure = isinstance(cell, Interval) and cell.meaningful
            if sure and isinstance(cell, Interval) and cell.low is not None and cell.high is not None:
                axis.plot([at, at], [scale * cell.low, scale * cell.high], color=colour, linewidth=1.4)
            axis.plot([at], [scale * mean], "o", color=colour, markersize=4.5,
                      markerfacecolor=colour if sure else "white")  # fmt: skip
