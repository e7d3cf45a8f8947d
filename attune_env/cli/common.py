"""Functions that the commands share: read data, show progress, list problems one per line."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from attune_data.errors import DataError, Problem, one_line

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_data.format.codebook import Codebook


def read_data(
    path: str, *, skip_invalid: bool = False, where: str | None = None, in_memory: bool = True
) -> Conversations:
    """Load the conversations of a path that meet the conditions; reports what is left out."""
    from attune_data import load

    conversations = load(path, skip_invalid=skip_invalid, in_memory=in_memory)
    left_out(conversations.left_out)
    return selected(conversations, where)


def selected(conversations: Conversations, where: str | None) -> Conversations:
    """Select the conversations that meet the conditions, if there are any; reports how many are left."""
    if where is None:
        return conversations
    from attune_data.selection import select

    chosen = select(conversations, where)
    print(f"{len(chosen)} of {len(conversations)} conversations match {one_line(where)}", file=sys.stderr)
    return chosen


def tell(problems: Sequence[Problem]) -> None:
    """Print problems on standard error, one per line."""
    for problem in problems:
        print(f"{problem.severity}: {problem}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a value as JSON, as escapes where a terminal would act on characters or could not show them."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=sys.stdout.isatty() or not utf8, indent=1))


def left_out(problems: Sequence[Problem], *, skip: bool = True) -> None:
    """Print which files are left out, one problem per line; raises an error unless they may be skipped."""
    if problems and not skip:
        raise DataError(problems)
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    if problems:
        print(f"files left out: {len({p.file for p in problems})}", file=sys.stderr)


@contextmanager
def stoppable(
    told: str = "stopped; completed work is kept: run the same command again to continue",
) -> Iterator[None]:
    """Exit on Ctrl-C with code 130, saying what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        print(told, file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def progress_bar(label: str, total: int, *, lines: bool = False) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error during the block; yields the function that advances it.

    Without a terminal there is no bar, but a line for each step if `lines` is set.
    """
    if not sys.stderr.isatty() or total < 2:
        done = count(1)

        def line() -> None:
            print(f"{label}: {next(done)} of {total}", file=sys.stderr, flush=True)

        yield line if lines else lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)


def output_folder(path: Path) -> Path:
    """The path of an output folder; raises DataError if it is a file."""
    if path.exists() and not path.is_dir():
        raise DataError(Problem(str(path), "", "a file", "a folder for the results", "choose another -o"))
    return path


def command_line(*words: str, **options: object) -> str:
    """Format a command; None and False leave an option out, True makes it a flag, a list repeats it."""
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one is not False:
                words += (f"--{name.replace('_', '-')}", *([] if one is True else [str(one)]))
    return shell_line(["attune", *words])


def shell_line(words: Iterable[str]) -> str:
    r"""Words as one line to paste into a shell, which gets them back as they are; all of it is printable.

    >>> print(shell_line(["ls", "my data", "d$(touch x)", "a\x1b[31m"]))
    ls 'my data' 'd$(touch x)' $'a\x1b[31m'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    """A word in the quotes in which bash and zsh read escapes; others would keep control characters."""

    def shown(character: str) -> str:
        if character.isprintable():
            return f"\\{character}" if character in "\\'" else character
        lost = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
        return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", lost))

    return f"$'{''.join(map(shown, word))}'"


def find_codebook(given: Path | None, data: str) -> Codebook:
    """The codebook given, otherwise the official one next to the data, otherwise ours; prints which."""
    from attune_data.format.codebook import Codebook, load_official
    from attune_data.source.source import codebook_for

    path = codebook_for(data, given)
    book = Codebook.own() if path is None else load_official(path)
    own = "attune-env's wording; the official wording comes with the benchmark's data"
    wording = own if path is None else f"the wording of {book.name}"
    print(f"the questions are in {wording}", file=sys.stderr)
    if book.missing:
        missing = ", ".join(book.missing)
        print(f"missing from {path}, so in attune-env's wording: {missing}", file=sys.stderr)
    return book


def numbers_of(conversations: Conversations) -> dict[str, int]:
    """Conversation id -> N of its file, otherwise its position, from 1."""
    from attune_data.selection.subsets import numbered

    kept = {identity: number for number, identity in numbered(conversations).items()}
    return kept or {c.conversation_id: number for number, c in enumerate(conversations, 1)}
