"""An analysis: a question, the tables that answer it, figures drawn from these, and how to read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from attune_env.report.analyses.study import Study
from attune_env.report.figures.plot import Plot
from attune_env.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[], "Figure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """An analysis applied to a study."""

    analysis: Analysis
    question: str
    caption: str
    """Those of the analysis, filled in for this study."""
    tables: Mapping[str, Table]
    draws: Mapping[str, Draw]
    """File name of a figure without ending -> what draws it; needs matplotlib."""
    signal: bool
    """Whether any difference is significant; a page folds analyses without one into a line."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis of a report."""

    name: str
    """Short, lower case with hyphens: `--only NAME`, names of figures, anchors."""
    title: str
    question: str
    caption: str
    """How the numbers were computed and how to read them; names in braces are those of `Study.words`."""
    tables: Callable[[Study], Sequence[Table]]
    """Raises `Absent` if the inputs do not allow it."""
    plots: Mapping[str, Plot] = field(default_factory=dict)
    """File name of a figure without ending -> the figure."""
    signal: str = ""
    """Column of differences: if no interval in it excludes 0, nothing is significant."""
    against: str = ""
    """The question where a baseline was chosen, if it is another one; with names as in the caption."""
    chapter: str = ""
    """Its chapter in the report, one of `analyses.TITLES`."""
    place: float = math.inf
    """Its place in the chapter; without one, it is among the last."""
    inputs: str = "–"
    """Its inputs besides scores, described in words."""

    def run(self, study: Study) -> Finding:
        """Apply it to a study; raises `Absent` if the inputs do not allow it."""
        tables = {table.name: table for table in self.tables(study)}
        draws = {name: partial(plot, tables) for name, plot in self.plots.items() if plot.shows(tables)}
        differences = [
            cell
            for table in tables.values()
            if self.signal in [head.key for head in table.heads]
            for cell in table.intervals(self.signal)
        ]
        signal = not self.signal or any(cell.leaves_out_zero for cell in differences)
        question = (self.against if study.baseline else "") or self.question
        question, caption = (text.format_map(study.words) for text in (question, self.caption))
        return Finding(self, question, caption, tables, draws, signal)
