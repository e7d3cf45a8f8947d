"""A conversation in a terminal: rich where there is one, plain lines everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from attune_data.errors import one_line, printable
from attune_env.pages.conversation import ConversationView, Stretch, Written
from attune_env.pages.conversation_grids import Cell, Grid
from attune_env.report.table import Table
from attune_env.report.tables import mode_text

LONGEST: Final = 20_000
"""Characters of one text that a terminal shows."""
QUESTION: Final = 44
"""Characters of a question beside the answers, in a terminal."""


def print_conversation(view: ConversationView, *, saw: bool = False, replies: bool = False) -> None:
    """Prints what was said, felt and predicted; with `saw` prompts, with `replies` raw replies too."""
    writer = _Writer()
    writer.head(view.title, 1)
    for head, text in view.facts:
        writer.line(f"{head}: {text}")
    if view.models:
        writer.line(f"Mode: {mode_text(view.mode)}")
    for note in view.notes:
        writer.line(note)
    if saw and view.system:
        writer.text(Written("The opening message that models saw before everything", view.system))
    for stretch in view.stretches:
        writer.head(stretch.title, 2)
        for one in stretch.said:
            writer.text(one)
        _answers(writer, view, stretch)
        if saw or replies:
            _asked(writer, view, stretch, saw=saw, replies=replies)
    for grid in (view.scores, view.steps):
        writer.grid(grid, view.models)


def _answers(writer: _Writer, view: ConversationView, stretch: Stretch) -> None:
    for one in stretch.others:
        writer.text(one)
    for number, text in stretch.drafts:
        writer.text(Written(f"{view.models[number]} would have replied", text))
    for grid in stretch.grids:
        writer.grid(grid, view.models)


def _asked(writer: _Writer, view: ConversationView, stretch: Stretch, *, saw: bool, replies: bool) -> None:
    for asked in stretch.asked:
        if saw:
            writer.text(Written(f"{asked.name}: what models saw, after {asked.before}", asked.seen))
        for reply in asked.replies if replies else ():
            outcome = reply.outcome or "outcome not in the file"
            text = "(the file does not keep the reply)" if reply.text is None else reply.text
            writer.text(Written(f"{asked.name}: {view.models[reply.model]} said ({outcome})", text))


class _Writer:
    """Writes to standard output; every text is made printable first."""

    def __init__(self) -> None:
        self.rich = sys.stdout.isatty()

    def head(self, text: str, level: int) -> None:
        if self.rich:
            from rich.console import Console
            from rich.rule import Rule
            from rich.text import Text

            Console().print(
                Rule(Text(one_line(text), style="bold"), characters="═" if level == 1 else "─", style="dim")
            )
            return
        print(f"{'#' * level} {one_line(text)}")

    def line(self, text: str) -> None:
        if self.rich:
            from rich.console import Console
            from rich.text import Text

            Console().print(Text(one_line(text, LONGEST), style="dim"))
            return
        print(one_line(text, LONGEST))

    def text(self, written: Written) -> None:
        """A text with its line ends, under its title."""
        lines = _lines(written.text)
        if self.rich:
            from rich.console import Console
            from rich.padding import Padding
            from rich.text import Text

            console = Console()
            console.print(Text(one_line(written.title), style="bold"))
            console.print(Padding(Text("\n".join(lines)), (0, 0, 1, 2)))
            return
        print(f"{one_line(written.title)}:")
        for line in lines:
            print(f"  {line}")

    def grid(self, grid: Grid, models: Sequence[str]) -> None:
        if not grid.rows:
            return
        table = Table(grid.title, (*grid.heads, *models), keys=len(grid.heads), left=tuple(models))
        above: tuple[str, ...] = ()
        for texts, cells in grid.rows:
            if self.rich:
                shown = [one_line(text, QUESTION) for text in texts]
            else:  # a line for a program says everything
                shown = [*above[:2], *texts[2:]] if texts[:2] == ("", "") else list(texts)
                above = tuple(shown)
            table.rows.append((*shown, *map(_cell, cells)))
        if grid.note:
            table.notes.append(grid.note)
        table.print()


def _lines(text: str) -> list[str]:
    cut = text[:LONGEST].replace("\r\n", "\n").split("\n")
    lines = [printable(line.replace("\t", "    ")) for line in cut]
    if len(text) > LONGEST:
        lines.append(f"… ({len(text) - LONGEST:,} more characters)")
    return lines


def _cell(cell: Cell) -> str:
    sign = "" if cell.right is None else "✓ " if cell.right else "✗ "
    return f"{sign}{cell.text}"
