"""What a report page shows, before it is a page: sections with their figures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attune_env.pages.facts import Fact
from attune_env.pages.tables import TableView
from attune_env.report.cells import DataTable


@dataclass(slots=True)
class FigureView:
    """One figure; what it looks like is filled in once it is drawn."""

    name: str
    title: str
    """What it shows, for those who cannot see it."""
    paths: Mapping[str, str]
    """Format -> its file, relative to the page."""
    svg: str = ""
    """Markup for the page."""


@dataclass(frozen=True, slots=True)
class SectionView:
    """One analysis."""

    name: str
    """Its anchor."""
    title: str
    reading: str
    method: str
    notes: Sequence[str]
    command: str
    """What remakes it alone."""
    figures: Sequence[FigureView]
    tables: Sequence[TableView]
    data: Sequence[DataTable]
    """The same tables as values."""
    main: bool = True
    """Whether it is about the mode that the report is about."""
    unfolded: bool = False
    """Whether its tables are shown at once, though there is a figure."""


@dataclass(frozen=True, slots=True)
class ChapterView:
    """Sections under one heading."""

    name: str
    title: str
    sections: Sequence[SectionView]


@dataclass(slots=True)
class PartView:
    """One study."""

    label: str
    """What it is made of; shown where there are several."""
    mode: str
    about: str
    """One line: models, conversations, data."""
    chapters: Sequence[ChapterView]
    absent: Sequence[tuple[str, str]]
    """(title, what it would need)."""
    facts: Sequence[Fact]
    conversations: str = ""
    """Where its conversation pages begin, relative to the page; empty where there are none."""

    @property
    def sections(self) -> list[SectionView]:
        """All of them, in order."""
        return [section for chapter in self.chapters for section in chapter.sections]

    @property
    def findings(self) -> list[SectionView]:
        """Those whose sentence stands in the overview: of the mode that the report is about."""
        return [section for section in self.sections if section.main]


@dataclass(slots=True)
class ReportView:
    """The whole page."""

    title: str
    command: str
    parts: list[PartView] = field(default_factory=list)
