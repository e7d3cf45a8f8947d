"""A report as Markdown, with links to its figures: for repositories, reviews and issues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attune_data.errors import one_line
from attune_data.version import __version__
from attune_env.pages.page_view import FigureView, PartView, ReportView, SectionView
from attune_env.report.cells import DataTable

MARK = f"attune report {__version__}"
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|!~$&])")
"""Characters that Markdown may read as more than themselves."""
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto)(:)|\b(www)(\.)")
"""What some readers of Markdown turn into links without being asked."""


def escaped(text: str) -> str:
    """`text` on one line as Markdown shows it, character by character."""
    plain = _ACTIVE.sub(r"\\\1", one_line(text, 10_000))
    return _LINK.sub(lambda m: (m[1] or m[3]) + ("&#58;" if m[2] else "&#46;"), plain)


def report_markdown(view: ReportView) -> str:
    """The page as Markdown; figures and tables as relative links."""
    return "\n".join([*_lines(view), ""])


def absent_of(view: ReportView) -> list[tuple[str, str]]:
    """(title, what it would need) of all that is not in the report; of several parts, each is named."""
    several = len(view.parts) > 1
    return [
        (f"{part.label}: {title}" if several else title, reason)
        for part in view.parts
        for title, reason in part.absent
    ]


def _lines(view: ReportView) -> Iterator[str]:
    yield from (f"<!-- {MARK} -->", f"# {escaped(view.title)}", "")
    for part in view.parts:
        yield from _part(part, several=len(view.parts) > 1)
    absent = absent_of(view)
    if absent:
        yield from ("## Not in this report", "")
        yield from (f"- **{escaped(title)}**: {escaped(reason)}" for title, reason in absent)
        yield ""
    yield from ("## About these numbers", "")
    for part in view.parts:
        if len(view.parts) > 1:
            yield from (f"### {escaped(part.label)}", "")
        yield from (f"- **{escaped(head)}**: {escaped(text)}" for head, text in part.facts)
        yield ""
    yield from (f"Made by {_code(view.command)}",)


def _part(part: PartView, *, several: bool) -> Iterator[str]:
    if several:
        yield from (f"# {escaped(part.label)}", "")
    yield from (f"{escaped(part.about)}. Mode: {escaped(part.mode)}.", "")
    for chapter in part.chapters:
        yield from (f"## {escaped(chapter.title)}", "")
        for section in chapter.sections:
            yield from _section(section)


def _section(section: SectionView) -> Iterator[str]:
    yield from (f"### {escaped(section.title)}", "", escaped(section.reading), "")
    for figure in section.figures:
        yield from _figure(figure, section)
    if section.method:
        yield from (escaped(section.method), "")
    if section.notes:
        yield from (f"- {escaped(note)}" for note in section.notes)
        yield ""
    for view, data in zip(section.tables, section.data, strict=True):
        yield from _table(data, view.csv)
    yield from (f"Made again by {_code(section.command)}", "")


def _figure(figure: FigureView, section: SectionView) -> Iterator[str]:
    paths = figure.paths
    shown = paths.get("svg") or paths.get("png")
    if shown:
        yield from (f"![{escaped(section.title)}]({shown})", "")
    if len(paths) > (1 if shown else 0):
        links = ", ".join(f"[{kind.upper()}]({path})" for kind, path in paths.items())
        yield from (f"Files: {links}", "")


def _table(data: DataTable, csv: str) -> Iterator[str]:
    table = data.shown()
    yield from (f"**{escaped(table.title)}** ([CSV]({csv}))", "")
    yield _row(table.columns)
    left = {i for i, name in enumerate(table.columns) if i < table.keys or name in table.left}
    yield "|" + "|".join("---" if i in left else "---:" for i in range(len(table.columns))) + "|"
    yield from (_row(row) for row in table.rows)
    yield ""
    if table.notes:
        yield from (f"- {escaped(note)}" for note in table.notes)
        yield ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def _code(text: str) -> str:
    """Text between enough backticks that its own do not end it."""
    clean = one_line(text, 10_000)
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {clean} {fence}" if longest else f"`{clean}`"
