"""Values over ordered steps: thirds of a conversation, training steps, ranks in two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attune_env.figures.score_marks import STRETCH, Values
from attune_env.figures.style import BLUE, FAINT, ORANGE, name_text, style
from attune_env.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def courses(
    axis: Axes, steps: Sequence[str], lines: Values, pooled: Sequence[Interval], *, scale: float = 1.0
) -> None:
    """Values over ordered steps: a faint line a row of `lines`, the pooled mean with intervals on top.

    Args:
        axis: the panel.
        steps: names of the steps, left to right.
        lines: shape (lines, steps); NaN breaks a line.
        pooled: one interval a step.
        scale: multiplies values.
    """
    with style():
        for line in lines:
            axis.plot(range(len(steps)), scale * line, color=FAINT, linewidth=0.8, alpha=0.55, zorder=1)
        places = [i for i, one in enumerate(pooled) if one.mean is not None]
        axis.plot(places, [scale * (pooled[i].mean or 0.0) for i in places], color=BLUE, linewidth=1.8)
        for place in places:
            one = pooled[place]
            if one.meaningful and one.low is not None and one.high is not None:
                axis.plot([place, place], [scale * one.low, scale * one.high], color=BLUE, linewidth=1.6,
                          solid_capstyle="butt")  # fmt: skip
            axis.plot([place], [scale * (one.mean or 0.0)], "o", color=BLUE, markersize=4.5,
                      markerfacecolor=BLUE if one.meaningful else "white")  # fmt: skip
        axis.set_xticks(range(len(steps)), steps)
        axis.set_xlim(-0.25, len(steps) - 0.75)
        axis.grid(axis="y")


def steps(
    axis: Axes, at: Sequence[float], values: Sequence[Interval], *, colour: str, scale: float = 1.0
) -> None:
    """A line over numbered steps with an interval at each."""
    with style():
        known = [(x, one) for x, one in zip(at, values, strict=True) if one.mean is not None]
        axis.plot([x for x, _ in known], [scale * (one.mean or 0.0) for _, one in known], color=colour)
        for x, one in known:
            if one.meaningful and one.low is not None and one.high is not None:
                axis.plot([x, x], [scale * one.low, scale * one.high], color=colour, linewidth=1.5,
                          solid_capstyle="butt")  # fmt: skip
            axis.plot([x], [scale * (one.mean or 0.0)], "o", color=colour, markersize=4.5,
                      markerfacecolor=colour if one.meaningful else "white")  # fmt: skip
        axis.grid(axis="y")
        axis.margins(x=0.1)


def zone(
    axis: Axes, values: Sequence[Interval], references: Sequence[tuple[str, float, bool]], scale: float = 1.0
) -> None:
    """Fits the y axis to the intervals, with references as dashed lines, named at the right.

    References are (name, value, whether the axis must hold it); of the others those that lie near are drawn.
    """
    ends = [scale * end for one in values for end in (one.low, one.high) if end is not None]
    if not ends:
        return
    low, high = min(ends), max(ends)
    reach = STRETCH * ((high - low) or abs(high) or 1.0)
    near = [
        (name, scale * v) for name, v, held in references if held or low - reach <= scale * v <= high + reach
    ]
    with style():
        for name, y in near:
            axis.axhline(y, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
            axis.annotate(name, (1, y), (0, 1), xycoords=axis.get_yaxis_transform(), ha="right", va="bottom",
                          textcoords="offset points", color=FAINT, fontsize=7)  # fmt: skip
        low, high = min([low, *(y for _, y in near)]), max([high, *(y for _, y in near)])
        margin = 0.07 * ((high - low) or abs(high) or 1.0)
        axis.set_ylim(low - margin, high + margin)


def slopes(axis: Axes, heads: tuple[str, str], names: Sequence[str], firsts: Values, seconds: Values) -> None:
    """Ranks in two columns, joined by lines; whoever changes place is drawn in colour. 1 is at the top."""
    with style():
        at: dict[tuple[int, float], list[str]] = {}
        for name, first, second in zip(names, firsts, seconds, strict=True):
            colour = FAINT if first == second else BLUE if second < first else ORANGE
            axis.plot([0, 1], [first, second], "o-", color=colour, markersize=4.5, linewidth=1.4)
            at.setdefault((0, float(first)), []).append(name_text(name))
            at.setdefault((1, float(second)), []).append(name_text(name))
        for (x, y), shared in at.items():
            axis.annotate(f"{y:.0f}  {', '.join(shared)}", (x, y), (-8 if x == 0 else 8, 0),
                          textcoords="offset points", ha="right" if x == 0 else "left", va="center",
                          fontsize=8)  # fmt: skip
        axis.set_xticks([0, 1], list(map(name_text, heads)))
        axis.margins(x=0.04)
        axis.set_ylim(len(names) + 0.5, 0.5)
        axis.set_yticks([])  # the rank stands before the name
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)


def ladder(axis: Axes, means: Values, spreads: Values) -> None:
    """Ordered values as dots from left to right, each with a line of ± its spread."""
    with style():
        places = np.arange(len(means))
        axis.vlines(places, means - spreads, means + spreads, color=FAINT, alpha=0.4, linewidth=1.6, zorder=1)
        axis.plot(places, means, "o", color=BLUE, markersize=2.6 if len(means) > 60 else 4, zorder=2)
        axis.set_xticks([])
        axis.grid(axis="y")
