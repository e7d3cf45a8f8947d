"""`attune report -o`: the page, its Markdown twin, figures, tables and conversations, written to a folder."""

from __future__ import annotations

import base64
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from attune_data.errors import UnknownNameError, one_line
from attune_data.version import __version__
from attune_env.analyses import CHAPTERS, FRONT, Absent, Analysis, Chapter, Finding, Study
from attune_env.analyses.analysis import Draw
from attune_env.analyses.leaderboard import leaderboard_table
from attune_env.analyses.sources import Part
from attune_env.analyses.verdict import summary
from attune_env.figures.style import FORMATS, drawn
from attune_env.pages.assets import environment, joined
from attune_env.pages.conversation_html import index_page, page_names, pages
from attune_env.pages.facts import Fact, facts_of
from attune_env.pages.folder import check_destination, write_files
from attune_env.report.names import counted, mode_text
from attune_env.report.table import Table

MARK = f"attune report {__version__}"
PROCESSES = 2
_WIDTH = re.compile(r'<svg[^>]*? width="([\d.]+)pt"')
_LARGER = 1.2 * 4 / 3
"""Points to pixels, a little larger than in print: screens are further away than paper."""
Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Shows how far something is: what, out of how many; gives what is called when one is done."""


Drawn = dict[str, bytes]
"""Format -> content of a figure's file."""


def silent(what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
    """A `Progress` that shows nothing."""
    return nullcontext(lambda: None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested contents of a report.

    Args:
        formats: what figures are written as.
        only: names of analyses; all of them if empty.
        conversations: whether there is to be a page per conversation.
    """

    formats: Sequence[str] = FORMATS
    only: Sequence[str] = ()
    conversations: bool = True


@dataclass(frozen=True, slots=True)
class Made:
    """The summary of what was written, for a terminal."""

    leaderboards: Sequence[Table]
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


@dataclass(slots=True)
class Section:
    """One analysis of a page."""

    name: str
    """Its anchor."""
    finding: Finding
    command: str
    """The command that reproduces it alone."""
    figures: list[Figure]
    tables: list[tuple[str, Table]]
    """(path of the CSV file, table)"""


@dataclass(slots=True)
class PartView:
    """One study of a page."""

    prefix: str
    label: str
    mode: str
    about: str
    facts: Sequence[Fact]
    summary: Sequence[str] = ()
    front: list[Section] = field(default_factory=list)
    chapters: list[tuple[str, list[Section]]] = field(default_factory=list)
    quiet: list[Section] = field(default_factory=list)
    """Analyses in which no difference is significant."""
    absent: list[tuple[str, str]] = field(default_factory=list)
    """(title, what it would need)"""
    conversations: str = ""
    """Where its conversation pages begin, relative to the page; empty where there are none."""

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
    """Makes the report of `parts` and writes it to `folder`; the same inputs give the same bytes.

    Raises what `check_destination` raises, and UnknownNameError where `only` names no analysis, before
    anything is written.
    """
    check_destination(folder, overwrite=overwrite)
    known = [analysis.name for _, analyses in chapters for analysis in analyses]
    for name in wanted.only:
        if name not in known:
            raise UnknownNameError("analysis", name, sorted(known))
    total = len(parts) * len(known)
    with progress("analyses", total) as step:
        views = [
            _part(part, f"part{i}-" if len(parts) > 1 else "", wanted, chapters, step)
            for i, part in enumerate(parts, 1)
        ]
    books: list[tuple[Study, str, dict[str, str]]] = []
    for part, view in zip(parts, views, strict=True):
        names = page_names(part.study, view.prefix) if wanted.conversations and not wanted.only else {}
        if names:
            view.conversations = f"conversations/{view.prefix}index.html"
            books.append((part.study, view.conversations, names))
    sections = [section for view in views for section in view.sections]
    figures = [figure for section in sections for figure in section.figures]
    tables = {path: table for section in sections for path, table in section.tables}
    talks = [
        path for _, index, names in books for path in (index, *(f"conversations/{n}" for n in names.values()))
    ]
    paths = [path for figure in figures for path in figure.paths.values()]

    def files() -> Iterator[tuple[str, bytes]]:
        yield from ((path, table.csv_text().encode()) for path, table in tables.items())
        with _drawing(figures, wanted.formats) as futures:
            yield from _conversations(books, progress)
            with progress("figures", len(figures)) as step:
                for figure, future in zip(figures, futures, strict=True):
                    yield from _finished(figure, future.result())
                    step()
        title = "AttuneBench report"
        models = {model for part in parts for model, _ in part.study.keys}
        title += f": {one_line(min(models))}" if len(models) == 1 else ""
        shared = {
            "title": title,
            "parts_shown": views,
            "mark": MARK,
            "command": f"{parts[0].study.command} -o report",
        }
        yield "report.md", environment().get_template("report.md").render(**shared).encode()
        script, style = joined("page.js"), joined("style.css")
        page = environment().get_template("report.html").render(**shared, script=script, style=style)
        yield "report.html", page.encode()  # the last, so that it never links to what is not there yet

    write_files(folder, {*tables, *talks, *paths, "report.md", "report.html"}, files(), overwrite=overwrite)
    boards = [leaderboard_table(part.study) for part in parts]
    for board, part in zip(boards, parts, strict=True):
        board.title = f"{part.label}: {board.title}" if len(parts) > 1 else board.title
    missing = [f"not in the report: {title}: {reason}" for view in views for title, reason in view.absent]
    said = f"{len(sections)} analyses, {len(paths)} figure files, {len(tables)} tables"
    pages_made = len(talks) - len(books)
    return Made(boards, missing, f"{said}, {counted(pages_made, 'conversation')}" if pages_made else said)


def _part(
    part: Part, prefix: str, wanted: Wanted, chapters: Sequence[Chapter], step: Callable[[], None]
) -> PartView:
    study = part.study
    view = PartView(prefix, part.label, mode_text(study.mode), _about(study), facts_of(study))
    if not wanted.only and FRONT in chapters:
        view.summary = summary(study)
    for title, analyses in chapters:
        sections: list[Section] = []
        for analysis in analyses:
            if not wanted.only or analysis.name in wanted.only:
                try:
                    section = _section(study, analysis, prefix, wanted.formats)
                except Absent as reason:
                    view.absent.append((analysis.title, str(reason)))
                else:
                    (sections if section.finding.signal else view.quiet).append(section)
            step()
        if (title, analyses) == FRONT:
            view.front = sections
        elif sections:
            view.chapters.append((title, sections))
    if part.without:
        view.absent.append(("Conversations", part.without))
    return view


def _section(study: Study, analysis: Analysis, prefix: str, formats: Sequence[str]) -> Section:
    finding = analysis.run(study)
    alone = shlex.join(["--only", analysis.name, "-o", analysis.name])
    figures = [
        Figure({kind: f"figures/{prefix}{name}.{kind}" for kind in formats}, draw)
        for name, draw in finding.draws.items()
    ]
    tables = [(f"tables/{prefix}{name}.csv", table) for name, table in finding.tables.items()]
    return Section(prefix + analysis.name, finding, f"{study.command} {alone}", figures, tables)


def _about(study: Study) -> str:
    """Models, policies, conversations and data, in a line."""
    here = [entry for entry in study.entries if entry["mode"] == study.mode]
    models = {entry["em_model"] for entry in here}
    policies = sum(name.startswith("builtin/") for name in models)
    talks = len({entry["conversationId"] for entry in here})
    data = study.scores["metadata"]["data"]
    kinds = [
        *([counted(len(models) - policies, "model")] if len(models) > policies else []),
        *([counted(policies, "built-in policy", "built-in policies")] if policies else []),
        counted(talks, "conversation"),
    ]
    facts = one_line(data["provenance"]), one_line(data["fingerprint"])
    return f"{', '.join(kinds)}; data: {facts[0]}, fingerprint {facts[1]}"


def _conversations(
    books: Sequence[tuple[Study, str, dict[str, str]]], progress: Progress
) -> Iterator[tuple[str, bytes]]:
    with progress("conversations", sum(len(names) for _, _, names in books)) as step:
        for study, index, names in books:
            for name, text in pages(study, names):
                yield f"conversations/{name}", text.encode()
                step()
            yield index, index_page(study, names, "Conversation by conversation").encode()


@contextmanager
def _drawing(figures: Sequence[Figure], formats: Sequence[str]) -> Iterator[Iterable[Future[Drawn]]]:
    """Draws figures in other processes where the system can fork, else one by one when asked for."""
    if sys.platform != "linux" or not figures:
        yield (_later(figure.draw, formats) for figure in figures)
        return
    pool = ProcessPoolExecutor(PROCESSES, get_context("fork"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forks beside numpy's idle threads
            futures = [pool.submit(_draw, figure.draw, formats) for figure in figures]
        yield futures
    finally:
        pool.shutdown(cancel_futures=True)


def _draw(draw: Draw, formats: Sequence[str]) -> Drawn:
    return drawn(draw(), formats)


def _later(draw: Draw, formats: Sequence[str]) -> Future[Drawn]:
    future: Future[Drawn] = Future()
    future.set_result(_draw(draw, formats))
    return future


def _finished(figure: Figure, files: Drawn) -> Iterator[tuple[str, bytes]]:
    """Its files; the page shows it from here on."""
    figure.data = base64.b64encode(files["svg"]).decode()
    found = _WIDTH.search(files["svg"].decode())
    figure.width = round(float(found[1]) * _LARGER) if found else 800
    yield from ((path, files[kind]) for kind, path in figure.paths.items())
