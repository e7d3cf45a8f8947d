"""`attune report -o`: the page, its Markdown twin, figures, tables and conversations, written to a folder."""

from __future__ import annotations

import base64
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from attune_data.errors import DataError, Problem, UnknownNameError, one_line
from attune_data.version import __version__
from attune_env.report import check_extra
from attune_env.report.analyses import CHAPTERS, FRONT, Absent, Analysis, Chapter, Finding, Study
from attune_env.report.analyses.analysis import Draw
from attune_env.report.analyses.sources import Part
from attune_env.report.analyses.summary import summary
from attune_env.report.figures.style import drawn
from attune_env.report.pages.assets import environment, joined
from attune_env.report.pages.conversation_html import index_page, page_names, pages
from attune_env.report.pages.folder import check_destination, write_files
from attune_env.report.pages.notes import DATA, Note, notes_of
from attune_env.tables.labels import counted, listed, mode_text
from attune_env.tables.table import Table

MARK = f"attune report {__version__}"
PROCESSES = 2
_WIDTH = re.compile(r'<svg[^>]*? width="([\d.]+)pt"')
_LARGER = 1.2 * 4 / 3
"""Points to pixels, a little larger than in print: screens are further away than paper."""
Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Shows progress: takes a label and a total, and gives the function to call after each item."""


Drawn = dict[str, bytes]


def silent(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
    """A `Progress` that shows nothing."""
    return nullcontext(lambda: None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested contents of a report."""

    formats: Sequence[str] = ("svg",)
    only: Sequence[str] = ()
    """Names of analyses; all of them if empty."""
    conversations: bool = True
    answer: Sequence[str] = ()
    """Sentences that open the report in place of the summary."""


class Made(NamedTuple):
    """The summary of what was written, for a terminal."""

    said: Sequence[str]
    """The sentences that open the report."""
    missing: Sequence[str]
    """The analyses that are not in the report, and what each would need."""
    summary: str


@dataclass(slots=True)
class Figure:
    """One figure of a page."""

    paths: dict[str, str]
    """Format -> its file, relative to the page."""
    draw: Draw
    data: str = ""
    """The SVG as base64, once it is drawn."""
    width: int = 0
    """Pixels."""


class Section(NamedTuple):
    """One analysis of a page."""

    name: str
    finding: Finding
    command: str
    figures: list[Figure]
    tables: dict[str, Table]


@dataclass(slots=True)
class PartView:
    """One study of a page."""

    part: Part
    prefix: str
    front: list[Section] = field(default_factory=list)
    chapters: list[tuple[str, list[Section]]] = field(default_factory=list)
    quiet: list[Section] = field(default_factory=list)
    """Analyses in which no difference is significant."""
    absent: list[tuple[str, str]] = field(default_factory=list)
    """(title, what it would need)"""
    summary: Sequence[str] = ()
    pages: Mapping[str, str] = field(default_factory=dict)
    """Conversation id -> the file of its page."""

    @property
    def label(self) -> str:
        """The names of its files."""
        return self.part.label

    @property
    def mode(self) -> str:
        """The mode that it covers."""
        return mode_text(self.part.study.mode)

    @property
    def notes(self) -> list[Note]:
        """The notes in its footer."""
        return notes_of(self.part.study)

    @property
    def data(self) -> str:
        """Its conversations in a few words."""
        name = self.part.study.data_name
        return one_line(DATA.get(name, name))

    @property
    def about(self) -> str:
        """Models, policies, conversations and data, in one line."""
        study = self.part.study
        here = [entry for entry in study.entries if entry["mode"] == study.mode]
        models = {entry["em_model"] for entry in here}
        policies = sum(name.startswith("builtin/") for name in models)
        kinds = [
            *([counted(len(models) - policies, "model")] if len(models) > policies else []),
            *([counted(policies, "built-in policy", "built-in policies")] if policies else []),
            counted(study.conversations_of(), "conversation"),
            counted(study.participants_of(), "participant"),
        ]
        fingerprint = one_line(study.scores["metadata"]["data"]["fingerprint"])
        return f"{', '.join(kinds)}; data: {self.data}, fingerprint {fingerprint}"

    @property
    def conversations(self) -> str:
        """Where its conversation pages begin, relative to the page; empty if there are none."""
        return f"conversations/{self.prefix}index.html" if self.pages else ""

    @property
    def sections(self) -> list[Section]:
        """All of them, in order."""
        return [*self.front, *(one for _, sections in self.chapters for one in sections), *self.quiet]


def write_report(
    folder: Path,
    parts: Sequence[Part],
    wanted: Wanted,
    *,
    chapters: Sequence[Chapter] = CHAPTERS,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Made:
    """Make the report of `parts` and write it to `folder`; the same inputs give the same bytes.

    Raises what `check_destination` raises, and UnknownNameError if `only` names no analysis, before
    anything is written.
    """
    check_extra()
    check_destination(folder, overwrite=overwrite)
    known = [analysis.name for _, analyses in chapters for analysis in analyses]
    for name in wanted.only:
        if name not in known:
            raise UnknownNameError("analysis", name, sorted(known))
    with progress("analyses", len(parts) * len(known)) as step:
        views = [
            _view(part, f"part{i}-" if len(parts) > 1 else "", wanted, chapters, step)
            for i, part in enumerate(parts, 1)
        ]
    sections = [section for view in views for section in view.sections]
    missing = [f"not in the report: {title}: {reason}" for view in views for title, reason in view.absent]
    if wanted.only and not sections:
        advice = "leave out --only to report what these inputs allow"
        lacking = [
            (view.label, f"too little for the analysis {title!r} ({reason})")
            for view in views
            for title, reason in view.absent
        ]
        raise DataError([Problem(label, "", found, "what it needs", advice) for label, found in lacking])
    figures = [figure for section in sections for figure in section.figures]
    tables = {path: table for section in sections for path, table in section.tables.items()}
    pictures = [path for figure in figures for path in figure.paths.values()]
    talks = [f"conversations/{name}" for view in views for name in view.pages.values()]
    lists = [view.conversations for view in views if view.pages]

    def files() -> Iterator[tuple[str, bytes]]:
        yield from ((path, table.csv_text().encode()) for path, table in tables.items())
        with _drawing([figure.draw for figure in figures], wanted.formats) as made:
            with progress("conversations", len(talks)) as step:
                for view in views:
                    for name, text in pages(view.part.study, view.pages):
                        yield f"conversations/{name}", text.encode()
                        step()
                    if view.pages:
                        yield view.conversations, index_page(view.part.study, view.pages).encode()
            with progress("figures", len(figures)) as step:
                for figure, content in zip(figures, made, strict=True):
                    yield from _finished(figure, content)
                    step()
        models = {model for part in parts for model, _ in part.study.models}
        data = sorted({view.data.partition(" (")[0] for view in views})
        shared = {
            "title": f"Report on {listed(data)} data"
            + (f": {one_line(min(models))}" if len(models) == 1 else ""),
            "parts_shown": views,
            "mark": MARK,
            "command": f"{parts[0].study.command} -o report",
            "script": joined("page.js"),
            "style": joined("style.css"),
        }
        for name in ("report.md", "report.html"):  # the page last: it never links to what is not there yet
            yield name, environment().get_template(name).render(**shared).encode()

    paths = {*tables, *talks, *lists, *pictures, "report.md", "report.html"}
    write_files(folder, paths, files(), overwrite=overwrite)
    answers = [f"{view.label}: {line}" if len(views) > 1 else line for view in views for line in view.summary]
    said = [
        counted(len(sections), "analysis", "analyses"),
        counted(len(pictures), "figure file"),
        counted(len(tables), "table"),
        *([counted(len(talks), "conversation")] if talks else []),
    ]
    return Made(answers, missing, ", ".join(said))


def _view(
    part: Part, prefix: str, wanted: Wanted, chapters: Sequence[Chapter], step: Callable[[], None]
) -> PartView:
    view = PartView(part, prefix, summary=wanted.answer)
    if not wanted.only and FRONT in chapters:
        view.summary = summary(part.study)
    for title, analyses in chapters:
        sections: list[Section] = []
        for analysis in analyses:
            if not wanted.only or analysis.name in wanted.only:
                try:
                    section = _section(part.study, analysis, prefix, wanted.formats)
                except Absent as reason:
                    view.absent.append((analysis.title, str(reason)))
                else:
                    (sections if section.finding.signal else view.quiet).append(section)
            step()
        if (title, analyses) == FRONT:
            view.front = sections
        elif sections:
            view.chapters.append((title, sections))
    if part.without and not wanted.only:
        view.absent.append(("Conversations", part.without))
    if wanted.conversations and not wanted.only:
        view.pages = page_names(part.study, prefix)
    return view


def _section(study: Study, analysis: Analysis, prefix: str, formats: Sequence[str]) -> Section:
    finding = analysis.run(study)
    alone = f"--only {analysis.name} -o {analysis.name}"
    figures = [
        Figure({kind: f"figures/{prefix}{name}.{kind}" for kind in formats}, draw)
        for name, draw in finding.draws.items()
    ]
    tables = {f"tables/{prefix}{name}.csv": table for name, table in finding.tables.items()}
    return Section(prefix + analysis.name, finding, f"{study.command} {alone}", figures, tables)


@contextmanager
def _drawing(draws: Sequence[Draw], formats: Sequence[str]) -> Iterator[Iterator[Drawn]]:
    """Draw figures in other processes where the system can fork, otherwise one by one as they are needed."""
    if sys.platform != "linux" or not draws:
        yield map(_draw, draws, repeat(formats))
        return
    pool = ProcessPoolExecutor(PROCESSES, get_context("fork"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forks beside numpy's idle threads
            found = pool.map(_draw, draws, repeat(formats))
        yield found
    finally:
        pool.shutdown(cancel_futures=True)


def _draw(draw: Draw, formats: Sequence[str]) -> Drawn:
    return drawn(draw(), formats)


def _finished(figure: Figure, files: Drawn) -> Iterator[tuple[str, bytes]]:
    """Its files; the page shows it from here on."""
    figure.data = base64.b64encode(files["svg"]).decode()
    found = _WIDTH.search(files["svg"].decode())
    figure.width = round(float(found[1]) * _LARGER) if found else 800
    yield from ((path, files[kind]) for kind, path in figure.paths.items())
