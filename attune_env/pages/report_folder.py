"""`attune report -o`: the page, its Markdown twin, figures, tables and conversations, written to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attune_data import garbage
from attune_env.analyses import CHAPTERS, Chapter
from attune_env.analyses.sources import Part
from attune_env.analyses.study import Study
from attune_env.pages.conversation_index import index_page, page_names, pages
from attune_env.pages.drawing import Drawing
from attune_env.pages.folder import check_destination, write_files
from attune_env.pages.report import Progress, Report, Wanted, add_figures, make_report, silent
from attune_env.pages.report_html import report_html
from attune_env.pages.report_markdown import absent_of, report_markdown
from attune_env.report.table import Table
from attune_env.report.tables import leaderboard

__all__ = ["Made", "Wanted", "check_destination", "write_report"]

Books = list[tuple[Study, str, dict[str, str]]]
"""Of each part with conversation pages: its study, the path of the list, conversation id -> file name."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written, to be said in a terminal."""

    leaderboards: Sequence[Table]
    missing: Sequence[str]
    """What is not in the report, and what it would need."""
    summary: str


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

    Raises what `check_destination` and `make_report` raise, before anything is written.
    """
    check_destination(folder, overwrite=overwrite)
    with garbage.settled(), Drawing(wanted.formats) as drawing:
        report = make_report(parts, wanted, drawing, chapters=chapters, progress=progress)
        books = _books(parts, report) if wanted.conversations and not wanted.only else []
        talks = [f"conversations/{name}" for _, index, names in books for name in (index, *names.values())]
        figures = [path for figure in report.figures for path in figure.paths.values()]
        names = {*report.files, *talks, *figures, "report.md", "report.html"}
        write_files(folder, names, _in_order(report, drawing, books, progress), overwrite=overwrite)
    return Made(
        _leaderboards(parts),
        [f"not in the report: {title}: {reason}" for title, reason in absent_of(report.view)],
        _summary(report, len(figures), len(talks) - len(books)),
    )


def _books(parts: Sequence[Part], report: Report) -> Books:
    """The conversation pages that can be made; the report's parts link to them."""
    books: Books = []
    for number, (part, view) in enumerate(zip(parts, report.view.parts, strict=True), 1):
        prefix = f"part{number}-" if len(parts) > 1 else ""
        if names := page_names(part.study, prefix):
            books.append((part.study, f"{prefix}index.html", names))
            view.conversations = f"conversations/{prefix}index.html"
    return books


def _in_order(
    report: Report, drawing: Drawing, books: Books, progress: Progress
) -> Iterator[tuple[str, bytes]]:
    """(path, content) of every file; the page comes last, so that it never links to what is not there yet."""
    yield from report.files.items()
    with progress("conversations", sum(len(names) for _, _, names in books)) as step:
        for study, index, names in books:
            for name, text in pages(study, names):
                yield f"conversations/{name}", text.encode()
                drawing.go_on()  # figures are drawn meanwhile
                step()
            yield f"conversations/{index}", index_page(study, names, "Conversation by conversation").encode()
    yield from add_figures(report, drawing, progress)
    yield "report.md", report_markdown(report.view).encode()
    yield "report.html", report_html(report.view).encode()


def _leaderboards(parts: Sequence[Part]) -> list[Table]:
    boards = []
    for part in parts:
        board = leaderboard(part.study.scores, resample=part.study.resample, seed=part.study.seed)
        board.title = f"{part.label}: {board.title}" if len(parts) > 1 else board.title
        boards.append(board)
    return boards


def _summary(report: Report, figures: int, talks: int) -> str:
    sections = sum(len(part.sections) for part in report.view.parts)
    told = f"{sections} analyses, {figures} figure files, {len(report.files)} tables"
    return f"{told}, {talks} conversations" if talks else told
