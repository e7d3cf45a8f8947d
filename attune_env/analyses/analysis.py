"""What one analysis gives: a sentence, tables, and a figure that is drawn only when it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from attune_env.report.cells import DataTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Needs = Literal["scores", "conversations", "results"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One finding, ready to be shown."""

    name: str
    """Short, lower case with hyphens: names files and anchors (`perspective-gap`)."""
    title: str
    reading: str
    """One sentence that says what is to be seen here, with its figures and units."""
    tables: tuple[DataTable, ...]
    figures: tuple[tuple[str, Callable[[], Figure]], ...] = ()
    """(file name without ending, what draws it); needs matplotlib."""
    method: str = ""
    """How it was computed, in a sentence or two: units, resampling, corrections, limits."""
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Absent:
    """An analysis that these inputs do not allow, and what it would need."""

    name: str
    title: str
    reason: str
    """For example: the scores hold one model; give --results FOLDER."""
