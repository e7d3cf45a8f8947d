"""Pieces of the figures about single answers: dots beside a mark of what needs no reading, arrows, cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from attune_data.errors import one_line
from attune_env.figures.score_marks import rows_of
from attune_env.figures.style import BLUE, GRID, INK, ORANGE, SKY, style
from attune_env.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONG = 58
"""Characters of a question on an axis."""
Values = npt.NDArray[np.float64]


def dots_with_marks(
    axis: Axes,
    labels: Sequence[str],
    intervals: Sequence[Interval],
    marks: Values | None,
    single: Values | None = None,
    *,
    named: tuple[str, str] | None = None,
    scale: float = 1.0,
    title: str = "",
) -> None:
    """One row a label: a dot with its interval, an upright mark of another value, the range of single models.

    Args:
        axis: the panel.
        labels: rows, from the top.
        intervals: one a row.
        marks: (rows), what the dot is compared with; NaN is not drawn, None: nothing is.
        single: (models, rows) whose range is a faint bar behind.
        named: what dot and mark are, written above the panel in their colours.
        scale: multiplies values.
        title: of the panel.
    """
    with style():
        long_rows(axis, labels)
        known = [row for row, one in enumerate(intervals) if one.mean is not None]
        sure = [row for row in known if intervals[row].meaningful]
        means = scale * np.array([intervals[row].mean or 0.0 for row in range(len(intervals))])
        if single is not None and sure:
            part = scale * single[:, sure]
            several = (~np.isnan(part)).sum(axis=0) > 1
            rows = np.array(sure)[several]
            axis.hlines(rows, np.nanmin(part[:, several], axis=0), np.nanmax(part[:, several], axis=0),
                        color=GRID, linewidth=5, zorder=1)  # fmt: skip
        low = scale * np.array([intervals[row].low or 0.0 for row in sure])
        high = scale * np.array([intervals[row].high or 0.0 for row in sure])
        axis.hlines(sure, low, high, color=BLUE, linewidth=1.6, zorder=3)
        axis.plot(means[sure], sure, "o", color=BLUE, markersize=4, zorder=4)
        few = [row for row in known if row not in sure]
        axis.plot(means[few], few, "o", color=BLUE, markersize=4, zorder=4, markerfacecolor="white")
        axis.locator_params(axis="x", nbins=5)  # the ends of neighbouring panels do not meet
        if marks is not None:
            here = np.flatnonzero(~np.isnan(marks))
            axis.plot(
                scale * marks[here], here, "|", color=ORANGE, markersize=9, markeredgewidth=1.6, zorder=2
            )
        if named is not None:
            _heads(axis, (f"● {named[0]}", BLUE), (f"| {named[1]}", ORANGE))
        if title:
            axis.set_title(title, pad=16)


def long_rows(axis: Axes, labels: Sequence[str]) -> None:
    """Rows whose labels are sentences: small, and cut later than names are."""
    rows_of(axis, labels)
    cut = [one_line(text, LONG) for text in labels]
    axis.set_yticks(range(len(labels)), cut, fontsize=7, color=INK)


def signed_matrix(
    axis: Axes, values: Values, rows: Sequence[str], columns: Sequence[str], *, title: str = ""
) -> None:
    """Differences as whole numbers in cells, orange above and violet below zero; NaN stays empty."""
    from attune_env.figures.marks import matrix
    from attune_env.figures.style import DIVERGING

    whole = np.round(values) + 0.0  # no "-0"
    spread = max(10.0, float(np.nanmax(np.abs(whole), initial=0.0)))
    matrix(axis, whole, rows, columns, low=-spread, high=spread, colours=DIVERGING, places=0)
    with style():
        axis.set_yticks(range(len(rows)), [one_line(text, LONG) for text in rows], fontsize=7, color=INK)
        axis.tick_params(axis="x", labelsize=8)
        _inside(axis)
        if title:
            axis.set_title(title)


def share_matrix(
    axis: Axes, parts: Values, rows: Sequence[str], columns: Sequence[str], *, apart: tuple[int, int]
) -> None:
    """Shares as whole per cent in cells, the diagonal framed; cells below half a per cent stay empty.

    White lines set the rows and columns from `apart` on off from the rest.
    """
    from attune_env.figures.marks import matrix

    whole = np.where(np.round(100 * parts) > 0, np.round(100 * parts), np.nan)
    high = max(1.0, float(np.nanmax(whole, initial=1.0)))
    matrix(axis, whole, rows, columns, low=0, high=high, colours="Blues", places=0)
    with style():
        axis.set_facecolor("#f6f8fa")
        axis.axhline(apart[0] - 0.5, color="white", linewidth=3, zorder=1.5)
        axis.axvline(apart[1] - 0.5, color="white", linewidth=3, zorder=1.5)
        for place in range(min(apart)):
            axis.plot([place - 0.5, place + 0.5, place + 0.5, place - 0.5, place - 0.5],
                      [place - 0.5, place - 0.5, place + 0.5, place + 0.5, place - 0.5],
                      color=INK, linewidth=0.8)  # fmt: skip
        axis.tick_params(labelsize=8)
        _inside(axis)


def arrows(
    axis: Axes,
    names: Sequence[str],
    points: Values,
    errors: Sequence[tuple[Interval, Interval]],
    *,
    least: int,
    left: bool,
    title: str,
) -> None:
    """Named points in the valence-arousal plane, each with an arrow along its mean error.

    Args:
        axis: the panel.
        names: of the points.
        points: (points, 2).
        errors: of each point the error along both axes; the interval is a thin cross at the arrow's tip.
        least: an arrow of fewer pairs is not drawn.
        left: names stand at the panel's left edge, else at its right.
        title: of the panel.
    """
    with style():
        reach = [points]
        for point, (x, y) in zip(points, errors, strict=True):
            if x.mean is None or y.mean is None or x.n < least:
                continue
            tip = point + np.array([x.mean, y.mean])
            reach.append(tip[None])
            axis.annotate("", tip, point, zorder=3, arrowprops={
                "arrowstyle": "-|>", "color": BLUE, "linewidth": 1.2, "shrinkA": 2, "shrinkB": 0,
                "mutation_scale": 8})  # fmt: skip
            for along, one in ((0, x), (1, y)):
                if one.meaningful and one.low is not None and one.high is not None:
                    ends = np.repeat(tip[:, None], 2, axis=1)
                    ends[along] = point[along] + one.low, point[along] + one.high
                    reach.append(ends.T)
                    axis.plot(*ends, color=SKY, linewidth=1.0, zorder=2)
        axis.plot(*points.T, "o", color=INK, markersize=3.5, zorder=4)
        every = np.concatenate(reach)
        low, high = every[:, 0].min(), every[:, 0].max()
        room = 0.42 * (high - low)
        axis.set_xlim(low - (room if left else 0.02), high + (0.02 if left else room))
        _edge_names(axis, names, points, left=left)
        _inside(axis)
        axis.set_title(title)
        axis.grid()


def _edge_names(axis: Axes, names: Sequence[str], points: Values, *, left: bool) -> None:
    """Names in a column at the panel's edge, in the order of height, each with a thin line to its point."""
    order = np.argsort(points[:, 1], kind="stable")
    heights = np.linspace(0.04, 0.96, len(order))
    for height, place in zip(heights, order, strict=True):
        axis.annotate(
            names[place], tuple(points[place]), (0.02 if left else 0.98, height), textcoords="axes fraction",
            fontsize=8, ha="left" if left else "right", va="center", color=INK,
            arrowprops={"arrowstyle": "-", "color": GRID, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3},
        )  # fmt: skip


def pairs_of_dots(
    axis: Axes,
    labels: Sequence[str],
    firsts: Sequence[Interval],
    seconds: Sequence[Interval],
    names: tuple[str, str],
    *,
    title: str = "",
) -> None:
    """Two dots with intervals a row, a little apart: a diamond for the first, a circle for the second."""
    with style():
        rows_of(axis, labels)
        for series, colour, shape, offset in ((firsts, ORANGE, "D", -0.16), (seconds, BLUE, "o", 0.16)):
            for row, one in enumerate(series):
                if one.mean is None or one.low is None or one.high is None:
                    continue
                if one.meaningful:
                    axis.plot([one.low, one.high], [row + offset] * 2, color=colour, linewidth=1.3)
                axis.plot([one.mean], [row + offset], shape, color=colour, markersize=3.5,
                          markerfacecolor=colour if one.meaningful else "white")  # fmt: skip
        _heads(axis, (f"◆ {names[0]}", ORANGE), (f"● {names[1]}", BLUE))
        axis.set_title(title, pad=16)


def _heads(axis: Axes, left: tuple[str, str], right: tuple[str, str]) -> None:
    """What two marks are, each (text, colour), above the panel's corners."""
    for x, (text, colour), side in ((0.0, left, "left"), (1.0, right, "right")):
        axis.annotate(text, (x, 1), (0, 3), xycoords="axes fraction", textcoords="offset points", ha=side,
                      va="bottom", fontsize=7.5, color=colour)  # fmt: skip


def same_reach(
    axes: Sequence[Axes], intervals: Sequence[Interval], *, scale: float = 1.0, also: Sequence[float] = ()
) -> None:
    """One x range for panels that are to be compared: all intervals, the values in `also`, a small margin."""
    ends = [scale * end for one in intervals for end in (one.low, one.high, one.mean) if end is not None]
    ends += [value for value in also if not np.isnan(value)]
    if ends:
        margin = 0.05 * ((max(ends) - min(ends)) or 1.0)
        for axis in axes:
            axis.set_xlim(min(ends) - margin, max(ends) + margin)


def _inside(axis: Axes) -> None:
    """Leaves the texts that stand inside a panel out of the layout, which measures each of them else."""
    for text in axis.texts:
        text.set_in_layout(False)
