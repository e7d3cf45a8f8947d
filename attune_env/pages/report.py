"""From studies to a report: every analysis run, its figures drawn, its tables for pages and programs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from attune_data.errors import UnknownNameError, one_line
from attune_env.analyses import CHAPTERS, Absent, Analyse, Analysis, Chapter, Study
from attune_env.analyses.by_score.leaderboard import leaderboard, metric_groups
from attune_env.analyses.by_score.wording import counted
from attune_env.analyses.sources import Part
from attune_env.pages.drawing import Draw, Drawing
from attune_env.pages.facts import facts_of
from attune_env.pages.inline_svg import inline_svg
from attune_env.pages.page_view import ChapterView, FigureView, PartView, ReportView, SectionView
from attune_env.pages.tables import TableView, table_view
from attune_env.report.cells import DataTable
from attune_env.report.tables import mode_text
from attune_env.results.files import safe_name

FORMATS = ("svg", "png", "pdf")
Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Shows how far something is: what, out of how many; gives what is called when one is done."""
UNFOLDED = ("leaderboard", "metrics", "subset")
"""Analyses whose tables are what people come for."""
OTHER_MODES: tuple[Analyse, ...] = (leaderboard, metric_groups)
"""What is shown of modes besides the one that the report is about."""


def silent(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
    """A `Progress` that shows nothing."""
    return nullcontext(lambda: None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a report is to hold.

    Args:
        formats: what figures are written as.
        only: names of analyses; all of them if empty.
        conversations: whether there is to be a page a conversation.
    """

    formats: Sequence[str] = FORMATS
    only: Sequence[str] = ()
    conversations: bool = True


@dataclass(slots=True)
class Report:
    """A report that is made and not yet written."""

    view: ReportView
    files: dict[str, bytes] = field(default_factory=dict)
    """Path in the report's folder -> content, of figures and tables."""
    names: set[str] = field(default_factory=set)
    """Names of analyses, those that were not wanted too."""
    taken: set[str] = field(default_factory=set)
    """Paths of figures and tables, in lower case."""
    figures: list[FigureView] = field(default_factory=list)
    """In the order in which they are drawn."""


def make_report(
    parts: Sequence[Part],
    wanted: Wanted,
    drawing: Drawing,
    *,
    chapters: Sequence[Chapter] = CHAPTERS,
    progress: Progress = silent,
) -> Report:
    """Runs the analyses of `chapters` on each part; raises UnknownNameError where `only` names none.

    Its figures are added to `drawing`: `add_figures` puts them in their place.
    """
    command = parts[0].study.command
    models = {model for part in parts for model, _ in part.study.keys}
    title = "AttuneBench report" if len(models) != 1 else f"AttuneBench report: {one_line(min(models))}"
    report = Report(ReportView(title, f"{command} -o report"))
    total = len(parts) * sum(len(functions) for _, functions in chapters)
    with progress("analyses", total) as step:
        for number, part in enumerate(parts, 1):
            maker = _Maker(report, wanted, f"part{number}-" if len(parts) > 1 else "", drawing, step)
            report.view.parts.append(maker.part(part, chapters))
    for name in wanted.only:
        if name not in report.names:
            raise UnknownNameError("analysis", name, sorted(report.names))
    return report


def add_figures(report: Report, drawing: Drawing, progress: Progress = silent) -> Iterator[tuple[str, bytes]]:
    """(path, content) of each figure file; afterwards the report's view shows the figures."""
    with progress("figures", len(drawing)) as step:
        for figure, files in zip(report.figures, drawing.finished(), strict=True):
            for kind, content in files:
                if kind == "svg":
                    figure.svg = inline_svg(content.decode(), f"figure-{figure.name}", figure.title)
                if kind in drawing.formats:
                    yield figure.paths[kind], content
            step()


class _Maker:
    """Makes what one part shows, and collects its files."""

    def __init__(
        self, report: Report, wanted: Wanted, prefix: str, drawing: Drawing, on_done: Callable[[], None]
    ) -> None:
        self.report, self.wanted, self.prefix = report, wanted, prefix
        self.drawing, self.on_done = drawing, on_done

    def part(self, part: Part, chapters: Sequence[Chapter]) -> PartView:
        study = part.study
        absent: list[tuple[str, str]] = []
        made = []
        for title, functions in chapters:
            sections = list(self._sections(study, functions, absent))
            if sections:
                made.append(ChapterView(self._chapter(title), title, sections))
        made += self._other_modes(study)
        if part.without:
            absent.append(("Conversations", part.without))
        return PartView(part.label, mode_text(study.mode), _about(study), made, absent, facts_of(study))

    def _sections(
        self, study: Study, functions: Sequence[Analyse], absent: list[tuple[str, str]]
    ) -> Iterator[SectionView]:
        for function in functions:
            self.drawing.go_on()
            found = function(study)
            self.report.names.add(found.name)
            if not self.wanted.only or found.name in self.wanted.only:
                if isinstance(found, Absent):
                    absent.append((found.title, found.reason))
                else:
                    yield self._section(study, found)
            self.on_done()

    def _other_modes(self, study: Study) -> Iterator[ChapterView]:
        """Leaderboard and metrics of every other mode, without figures and marked as not primary."""
        modes = sorted({entry["mode"] for entry in study.entries} - {study.mode})
        if self.wanted.only:
            return
        sections = []
        for mode in modes:
            other = replace(study, mode=mode)
            for function in OTHER_MODES:
                found = function(other)
                if isinstance(found, Analysis):
                    tables = tuple(replace(t, name=f"{t.name}_{safe_name(mode)}") for t in found.tables)
                    name, title = f"{found.name}-{safe_name(mode)}", f"{found.title}, {mode_text(mode)}"
                    plain = replace(found, name=name, title=title, tables=tables, figures=())
                    command = f"{study.command} --mode {shlex.quote(mode)}"
                    sections.append(self._section(replace(other, command=command), plain, found.name))
        if sections:
            yield ChapterView(self._chapter("Other modes"), "Other modes", sections)

    def _chapter(self, title: str) -> str:
        """A chapter's anchor: an analysis may be called the same."""
        return f"{self.prefix}chapter-{title.lower().replace(' ', '-')}"

    def _section(self, study: Study, found: Analysis, name: str = "") -> SectionView:
        tables = [self._table(table) for table in found.tables]
        alone = shlex.join(["--only", name or found.name, "-o", name or found.name])
        return SectionView(
            self.prefix + found.name,
            one_line(found.title),
            one_line(found.reading, 10_000),
            one_line(found.method, 10_000),
            [one_line(note, 10_000) for note in found.notes],
            f"{study.command} {alone}",
            [self._figure(stem, found, draw) for stem, draw in found.figures],
            tables,
            found.tables,
            main=not name,
            unfolded=found.name in UNFOLDED,
        )

    def _table(self, table: DataTable) -> TableView:
        path = self._free("tables", self.prefix + table.name, "csv")
        self.report.files[path] = table.csv_text().encode()
        return table_view(table, path, f"table-{path.removeprefix('tables/').removesuffix('.csv')}")

    def _figure(self, stem: str, found: Analysis, draw: Draw) -> FigureView:
        path = self._free("figures", self.prefix + stem, "svg").removesuffix(".svg")
        paths = {kind: f"{path}.{kind}" for kind in self.wanted.formats}
        view = FigureView(path.removeprefix("figures/"), one_line(found.reading, 10_000), paths)
        self.report.figures.append(view)
        self.drawing.add(draw)
        return view

    def _free(self, folder: str, name: str, ending: str) -> str:
        """A path that no other figure or table of the report has."""
        clean = safe_name(name)
        path, number = f"{folder}/{clean}.{ending}", 2
        while path.casefold() in self.report.taken:  # some file systems do not see case
            path, number = f"{folder}/{clean}-{number}.{ending}", number + 1
        self.report.taken.add(path.casefold())
        return path


def _about(study: Study) -> str:
    metadata = study.scores["metadata"]
    here = [entry for entry in study.entries if entry["mode"] == study.mode]
    models = {entry["em_model"] for entry in here}
    policies = sum(name.startswith("builtin/") for name in models)
    talks = len({entry["conversationId"] for entry in here})
    data = metadata["data"]
    kinds = ((len(models) - policies, "model"), (policies, "built-in policy"), (talks, "conversation"))
    told = ", ".join(counted(number, kind) for number, kind in kinds if number)
    return f"{told}; data: {one_line(data['provenance'])}, fingerprint {one_line(data['fingerprint'])}"
