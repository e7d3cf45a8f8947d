"""Pieces of the figures about scores: frames, titles, references outside a panel, pairs, shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from attune_env.figures.style import BLUE, FAINT, GRID, INK, ORANGE, name_text, style
from attune_env.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = npt.NDArray[np.float64]
ROW = 0.21
"""Inches a row of a dot plot wants."""
FRAME = 0.9
"""Inches that title, axis and label of a panel want."""
EDGE = 0.2
"""A name this near to a panel's edge (as a share of its width) stands inside of its line, not across it."""
STRETCH = 0.75
"""A reference is drawn where it widens the panel by no more than this share; else it is named at the edge."""


def row_height(rows: int, least: float = 1.9) -> float:
    """Inches of a figure with that many rows in each panel."""
    return max(least, FRAME + ROW * rows)


def frame(
    axis: Axes,
    intervals: Sequence[Interval],
    references: Sequence[tuple[str, float, bool]] = (),
    scale: float = 1.0,
) -> None:
    """Fits the x axis to the intervals and draws references as dashed lines, named above.

    References are (name, value, whether the axis must hold it). One that need not be held and is far from the
    data would squeeze it; it is named at the edge it lies behind, with its value.
    """
    known = [
        scale * end
        for one in intervals
        for end in ((one.low, one.high) if one.meaningful else (one.mean,))
        if end is not None
    ]
    if not known:
        return
    low, high = min(known), max(known)
    width = (high - low) or abs(high) or 1.0
    inside = []
    for name, value, held in sorted(references, key=lambda one: one[1]):
        x = scale * value
        if held or low - STRETCH * width <= x <= high + STRETCH * width:
            inside.append((name, x))
    low, high = min([low, *(x for _, x in inside)]), max([high, *(x for _, x in inside)])
    margin = 0.06 * ((high - low) or abs(high) or 1.0)
    axis.set_xlim(low - margin, high + margin)
    outside = [(name, scale * value) for name, value, _ in references if (name, scale * value) not in inside]
    below = [f"{name} {x:.3g}" for name, x in outside if x < low]
    above = [f"{name} {x:.3g}" for name, x in outside if x > high]
    low, high = axis.get_xlim()
    with style():
        taken: list[float] = []
        for name, x in inside:
            axis.axvline(x, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
            place = (x - low) / (high - low)
            near = any(abs(place - other) < 0.3 for other in taken)
            taken.append(place)
            side = "left" if place < EDGE else "right" if place > 1 - EDGE else "center"
            axis.annotate(name, (x, 1), (0, 10 if near else 2), xycoords=axis.get_xaxis_transform(),
                          textcoords="offset points", ha=side, va="bottom", color=FAINT, fontsize=7,
                          annotation_clip=False)  # fmt: skip
        for texts, x, side, words in ((below, 0.0, "left", "← {}"), (above, 1.0, "right", "{} →")):
            if texts:
                near = any(abs(other - x) < 0.6 for other in taken)
                axis.annotate(
                    words.format(", ".join(texts)), (x, 1), (0, 10 if near else 2), ha=side, va="bottom",
                    xycoords="axes fraction", textcoords="offset points", color=FAINT, fontsize=7,
                    annotation_clip=False,
                )  # fmt: skip


def titled(axis: Axes, text: str, *, names_above: bool = False) -> None:
    """The panel's title; `names_above` leaves room for the names of references."""
    with style():
        axis.set_title(text, pad=20 if names_above else 6)


def footed(figure: Figure, text: str) -> None:
    """One label of the x axes of all panels, with the unit."""
    with style():
        figure.supxlabel(text, fontsize=9)


def unused(axes: Sequence[Axes], used: int, columns: int) -> None:
    """Takes out the panels of a grid beyond the first `used`, and gives those above them their x labels."""
    for axis in axes[used:]:
        axis.set_visible(False)
    for axis in axes[max(used - columns, 0) : used]:
        axis.tick_params(axis="x", labelbottom=True)


def zero_line(axis: Axes) -> None:
    """A thin line at no difference, always inside the panel."""
    low, high = axis.get_xlim()
    axis.axvline(0.0, color=INK, linewidth=0.9, zorder=1.5)
    margin = 0.03 * (high - low)
    axis.set_xlim(min(low, -margin), max(high, margin))


def rows_of(axis: Axes, labels: Sequence[str], *, shown: bool = True) -> None:
    """One row a label, from the top, for panels whose marks are drawn by hand."""
    with style():
        axis.set_yticks(range(len(labels)), [name_text(text) if shown else "" for text in labels])
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x")
        axis.spines["left"].set_visible(False)


def dumbbells(
    axis: Axes,
    labels: Sequence[str],
    firsts: Sequence[float | None],
    seconds: Sequence[float | None],
    names: tuple[str, str],
    *,
    scale: float = 1.0,
) -> None:
    """One row a label: two dots and the line between; the two names stand above the first drawn pair."""
    with style():
        rows_of(axis, labels)
        named = False
        for row, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
            if first is None or second is None:
                continue
            a, b = scale * first, scale * second
            axis.plot([a, b], [row, row], color=GRID, linewidth=2.5, zorder=1, solid_capstyle="round")
            axis.plot([a], [row], "o", color=BLUE, markersize=5)
            axis.plot([b], [row], "D", color=ORANGE, markersize=4.5)
            if not named:
                named = True
                for x, name, colour, side in (
                    (a, names[0], BLUE, "left" if a >= b else "right"),
                    (b, names[1], ORANGE, "left" if b > a else "right"),
                ):
                    axis.annotate(name, (x, row), (7 if side == "left" else -7, 0),
                                  textcoords="offset points", ha=side, va="center", fontsize=7.5,
                                  color=colour)  # fmt: skip
        axis.margins(x=0.22)


def cloud(
    axis: Axes,
    x: Sequence[Interval],
    y: Sequence[Interval],
    *,
    scale_x: float = 1.0,
    scale_y: float = 1.0,
    dim: Sequence[int] = (),
) -> None:
    """One dot a pair of means, with the interval of each as a thin line; those in `dim` are faint."""
    with style():
        for number, (a, b) in enumerate(zip(x, y, strict=True)):
            if a.mean is None or b.mean is None:
                continue
            colour = FAINT if number in dim else BLUE
            place = (scale_x * a.mean, scale_y * b.mean)
            if a.meaningful and a.low is not None and a.high is not None:
                axis.plot([scale_x * a.low, scale_x * a.high], [place[1]] * 2, color=colour, linewidth=0.7,
                          alpha=0.5, zorder=1)  # fmt: skip
            if b.meaningful and b.low is not None and b.high is not None:
                axis.plot([place[0]] * 2, [scale_y * b.low, scale_y * b.high], color=colour, linewidth=0.7,
                          alpha=0.5, zorder=1)  # fmt: skip
            axis.plot(*[[v] for v in place], "o", color=colour, markersize=4, zorder=2)
        axis.grid()


def stacked(
    axis: Axes, labels: Sequence[str], parts: Values, names: Sequence[str], colours: Sequence[str]
) -> None:
    """One bar a row from 0 to 100 %, its parts written in them; the parts are named above the first row."""
    with style():
        rows_of(axis, labels)
        left = np.zeros(len(labels))
        for number, (name, colour) in enumerate(zip(names, colours, strict=True)):
            share, middle = 100 * parts[:, number], left + 50 * parts[:, number]
            known = ~np.isnan(share)
            axis.barh(np.flatnonzero(known), share[known], left=left[known], height=0.72, color=colour,
                      edgecolor="white", linewidth=0.8)  # fmt: skip
            for row in np.flatnonzero(known):
                if share[row] >= 6:
                    axis.text(middle[row], float(row), f"{share[row]:.0f}", ha="center", va="center",
                              fontsize=7.5, color="white")  # fmt: skip
            first = int(np.flatnonzero(known)[0]) if known.any() else -1
            if first >= 0:
                axis.annotate(name, ((number + 0.5) / len(names), 1), (0, 4), xycoords="axes fraction",
                              textcoords="offset points", ha="center", va="bottom", fontsize=8.5,
                              color=colour, fontweight="bold")  # fmt: skip
            left = left + np.where(known, share, 0)
        axis.set_xlim(0, 100)
        axis.grid(visible=False)


def shares(
    axis: Axes, labels: Sequence[str], counts: Sequence[tuple[int, int, int]], names: tuple[str, str]
) -> None:
    """One row a label: two counts of a total as dots on a scale of 0 to 100 %, the numbers beside them.

    Args:
        axis: the panel.
        labels: rows, from the top.
        counts: (first count, second count, total) a row.
        names: of the two counts, named above the panel in their colours.
    """
    with style():
        rows_of(axis, labels)
        for row, (first, second, total) in enumerate(counts):
            if not total:
                continue
            a, b = 100 * first / total, 100 * second / total
            axis.plot([0, max(a, b)], [row, row], color=GRID, linewidth=1.2, zorder=1)
            axis.plot([a], [row], "o", color=BLUE, markersize=5)
            axis.plot([b], [row], "D", color=ORANGE, markersize=4, markerfacecolor="white")
            axis.annotate(f"{first} / {second} of {total}", (max(a, b), row), (8, 0), ha="left", va="center",
                          textcoords="offset points", fontsize=7.5)  # fmt: skip
        for x, name, colour, side in ((0.0, names[0], BLUE, "left"), (1.0, names[1], ORANGE, "right")):
            axis.annotate(name, (x, 1), (0, 3), xycoords="axes fraction", textcoords="offset points",
                          ha=side, va="bottom", fontsize=8, color=colour)  # fmt: skip
        axis.set_xlim(-2, 130)
        axis.set_xticks(range(0, 101, 25))


def keyed(axis: Axes, names: Sequence[tuple[str, str]]) -> None:
    """Names of series in their colours above the panel, under its title: (name, colour)."""
    with style():
        for number, (name, colour) in enumerate(names):
            x = number / max(len(names) - 1, 1)
            axis.annotate(name, (x, 1), (0, 3), xycoords="axes fraction", textcoords="offset points",
                          ha=("left", "center", "right")[round(2 * x)], va="bottom", fontsize=8,
                          color=colour, annotation_clip=False)  # fmt: skip
