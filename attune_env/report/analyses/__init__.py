"""Analyses of what a model can and cannot read: each has a question, tables, figures and a caption.

Each module that assigns `ANALYSES` adds these to a report, at the chapter and place that they state.
"""

from typing import Final

from attune_data.errors import UnknownNameError
from attune_data.registry import by_name, collected
from attune_env.report.analyses.analysis import Analysis, Finding
from attune_env.report.analyses.study import Absent, Study

Chapter = tuple[str, tuple[Analysis, ...]]

TITLES: Final = (
    "The answer",
    "Models against each other",
    "Answer by answer",
    "Participants and conversations",
    "Modes, cost and training",
    "What the numbers rest on",
)
"""The titles of the chapters of a report, in order."""


def _chapters() -> tuple[Chapter, ...]:
    listed: dict[str, Analysis] = by_name(
        "analysis",
        (
            (module.__name__, analysis.name, analysis)
            for module in collected(__name__, "ANALYSES")
            for analysis in module.ANALYSES
        ),
    )
    chapters: dict[str, list[Analysis]] = {title: [] for title in TITLES}
    for analysis in sorted(listed.values(), key=lambda one: one.place):
        if analysis.chapter not in chapters:
            raise UnknownNameError(f"chapter (of analysis {analysis.name!r})", analysis.chapter, TITLES)
        chapters[analysis.chapter].append(analysis)
    return tuple((title, tuple(analyses)) for title, analyses in chapters.items())


CHAPTERS: Final = _chapters()
FRONT: Final = CHAPTERS[0]
ANALYSES: Final = tuple(analysis for _, analyses in CHAPTERS for analysis in analyses)

__all__ = ["ANALYSES", "CHAPTERS", "FRONT", "Absent", "Analysis", "Chapter", "Finding", "Study"]
