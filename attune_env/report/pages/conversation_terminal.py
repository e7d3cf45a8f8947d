"""A conversation as text: formatted in a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from attune_data.errors import one_line, printable
from attune_env.report.pages.conversation import ConversationView, Stretch
from attune_env.report.pages.grids import Grid
from attune_env.tables.labels import mode_text
from attune_env.tables.table import Table

LONGEST_TEXT: Final = 20_000
"""Characters of one text that a terminal shows."""
SIGNS: Final = {"": "", "hit": "✓ ", "near": "≈ ", "miss": "✗ "}


def print_conversation(view: ConversationView, *, saw: bool = False, replies: bool = False) -> None:
    """Print what was said, felt and predicted; with `saw` also prompts, with `replies` also raw replies."""
    _head(view.title, 1)
    mode = [f"Mode: {mode_text(view.mode)}"] if view.models else []
    for line in (*(f"{head}: {text}" for head, text in view.facts), *mode, *view.notes):
        _print(one_line(line, LONGEST_TEXT), "dim")
    _grid(view.scores, view)
    if saw and view.system:
        _text("The opening message, which models saw first", view.system)
    for stretch in view.stretches:
        _stretch(view, stretch, saw=saw, replies=replies)
    _grid(view.steps, view)


def _stretch(view: ConversationView, stretch: Stretch, *, saw: bool, replies: bool) -> None:
    _head(stretch.title, 2)
    for title, text in (*stretch.said, *stretch.others):
        _text(title, text)
    for number, text in stretch.drafts:
        _text(f"{view.models[number]} would have replied", text)
    for grid in stretch.grids:
        _grid(grid, view)
    for asked in stretch.asked:
        if saw:
            _text(f"{asked.name}: what models saw, after {asked.before}", asked.seen)
        for reply in asked.replies if replies else ():
            outcome = reply.outcome or "outcome not in the file"
            text = "(the file does not contain the reply)" if reply.text is None else reply.text
            _text(f"{asked.name}: {view.models[reply.model]} said ({outcome})", text)


def _print(text: str, style: str = "") -> None:
    """Print text that is already printable."""
    if sys.stdout.isatty():
        Console().print(Text(text, style=style))
    else:
        print(text)


def _head(text: str, level: int) -> None:
    if sys.stdout.isatty():
        title = Text(one_line(text), style="bold")
        Console().print(Rule(title, characters="═" if level == 1 else "─", style="dim"))
    else:
        print(f"{'#' * level} {one_line(text)}")


def _text(title: str, text: str) -> None:
    """A text with its line ends, under its title."""
    _print(f"{one_line(title)}:", "bold")
    for line in text[:LONGEST_TEXT].replace("\r\n", "\n").split("\n"):
        _print(f"  {printable(line.replace(chr(9), '    '))}")
    if len(text) > LONGEST_TEXT:
        _print(f"  … ({len(text) - LONGEST_TEXT:,} more characters)")


def _grid(grid: Grid, view: ConversationView) -> None:
    if not grid.rows:
        return
    near = any(cell.mark == "near" for _, cells in grid.rows for cell in cells)
    notes = ["≈: a near miss, one point off or a feeling close to the true one"] if near else []
    rows = [(*texts, *(f"{SIGNS[cell.mark]}{cell.text}" for cell in cells)) for texts, cells in grid.rows]
    notes += [grid.note] if grid.note else []
    Table(grid.title, (*grid.heads, *view.models), list(rows), notes, keys=len(grid.heads)).print()
