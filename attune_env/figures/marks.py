"""The pieces that figures are made of: means with intervals, matrices, reference lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from attune_env.figures.style import BLUE, FAINT, INK, SEQUENTIAL, name_text, style
from attune_env.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def interval_dots(
    axis: Axes,
    labels: Sequence[str],
    intervals: Sequence[Interval],
    *,
    colour: str = BLUE,
    dim: Collection[int] = (),
    scale: float = 1.0,
    offset: float = 0.0,
    label: str | None = None,
) -> None:
    """One row a label, from the top: a dot at the mean, a line over the interval, nothing where undefined.

    Rows in `dim` are references and drawn faint; an interval of fewer than five units is an open dot
    without a line. Call again with another `offset` (in rows) and `colour` for a second series.
    """
    with style():
        for row, interval in enumerate(intervals):
            if interval.mean is None or interval.low is None or interval.high is None:
                continue
            ink = FAINT if row in dim else colour
            y = row + offset
            if interval.meaningful:
                axis.plot([scale * interval.low, scale * interval.high], [y, y], color=ink, linewidth=1.6,
                          solid_capstyle="butt")  # fmt: skip
            face = ink if interval.meaningful else "white"
            axis.plot([scale * interval.mean], [y], "o", color=ink, markerfacecolor=face, markersize=4.5,
                      label=label if row == 0 else None)  # fmt: skip
        axis.set_yticks(range(len(labels)), [name_text(text) for text in labels])
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.grid(axis="x")
        axis.tick_params(axis="y", length=0)
        axis.spines["left"].set_visible(False)


def reference_line(
    axis: Axes, value: float, text: str, *, vertical: bool = True, above: bool = False
) -> None:
    """A dashed line across the panel at a null, a ceiling or chance, named at its end.

    `above`: over faint bars, not behind them.
    """
    order = 1.5 if above else 0.0
    with style():
        if vertical:
            axis.axvline(value, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=order)
            axis.text(value, 1.0, text, color=FAINT, fontsize=7.5, ha="center", va="bottom",
                      transform=axis.get_xaxis_transform())  # fmt: skip
        else:
            axis.axhline(value, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=order)
            axis.text(1.0, value, text, color=FAINT, fontsize=7.5, ha="right", va="bottom",
                      transform=axis.get_yaxis_transform())  # fmt: skip


def matrix(
    axis: Axes,
    values: npt.NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    low: float,
    high: float,
    colours: str = SEQUENTIAL,
    places: int = 2,
    faint: npt.NDArray[np.bool_] | None = None,
) -> None:
    """A matrix of numbers as coloured cells with the numbers in them; NaN stays empty.

    `faint` marks the cells whose interval holds the null: their numbers are drawn lighter.
    """
    import matplotlib

    with style():
        shade = matplotlib.colormaps[colours]
        axis.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        for row, column in np.argwhere(~np.isnan(values)):
            value = values[row, column]
            red, green, blue, _ = shade((value - low) / (high - low))
            dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
            weight = 0.55 if faint is not None and faint[row, column] else 1.0
            text = f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")  # no -0.0
            axis.text(column, row, text, ha="center", va="center", fontsize=7,
                      color="#ffffff" if dark else "#111111", alpha=weight)  # fmt: skip
        axis.set_xticks(range(len(columns)), [name_text(text) for text in columns], rotation=40, ha="right",
                        rotation_mode="anchor", color=INK)  # fmt: skip
        axis.set_yticks(range(len(rows)), [name_text(text) for text in rows], color=INK)
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
