"""Show the progress of a run: live bars in a terminal, otherwise a plain line per conversation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from attune_data.errors import one_line
from attune_env.running.loop import Watcher

if TYPE_CHECKING:
    from rich.progress import Progress

    from attune_env.running.jobs import Job
    from attune_env.running.tally import Tally


class Lines(Watcher):
    """Prints a line on standard error for each conversation that ends."""

    def finished(self, job: Job, tally: Tally) -> None:
        """Print which conversation ended, how, and what the run has used so far."""
        self.said(conversation_line(job, tally))

    def said(self, message: str) -> None:
        """Prints a message."""
        with suppress(OSError, ValueError):  # standard error is closed, but the run should continue
            print(one_line(message), file=sys.stderr, flush=True)


class Bars(Watcher):
    """Shows two bars on standard error, for conversations and calls, with the counts of the run."""

    def __init__(self, progress: Progress, label: str) -> None:
        self.progress = progress
        self.conversations = progress.add_task(one_line(label, 40), total=None, numbers="")
        self.calls = progress.add_task("calls", total=None, numbers="")

    def moved(self, tally: Tally) -> None:
        """Moves the bars."""
        left = "" if tally.seconds_left is None else f"{duration(tally.seconds_left)} left"
        self.progress.update(
            self.conversations,
            completed=tally.conversations_done + tally.conversations_failed,
            total=tally.conversations,
            numbers=f"{left}  {rates(tally)}",
        )
        self.progress.update(
            self.calls, completed=tally.calls_done, total=tally.calls, numbers=amounts(tally)
        )

    def finished(self, job: Job, tally: Tally) -> None:
        """Advance the bars; prints which conversation is skipped."""
        self.moved(tally)
        if job.failed:
            self.said(conversation_line(job, tally))

    def said(self, message: str) -> None:
        """Print a message above the bars."""
        from rich.text import Text

        self.progress.console.print(Text(one_line(message)))


@contextmanager
def watcher(label: str) -> Iterator[Watcher]:
    """Bars in a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[numbers]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bars(progress, label)


def conversation_line(job: Job, tally: Tally) -> str:
    """`3/20 c-3 default: complete; 63/420 calls, …`."""
    over = tally.conversations_done + tally.conversations_failed
    which = f"{over}/{tally.conversations} {job.conversation_id} {job.names[2]}"
    which += f" sample {job.sample}" if job.sample > 1 else ""
    end = f"skipped, {job.failed[0]}: {job.failed[1]}" if job.failed else "complete"
    time = f", {duration(tally.seconds_left)} left" if tally.seconds_left else ""
    return f"{which}: {end}; {tally.calls_done}/{tally.calls} calls, {amounts(tally)}, {rates(tally)}{time}"


def amounts(tally: Tally) -> str:
    """Tokens and cost so far."""
    usage = tally.usage
    cost = "cost not known" if usage.cost is None else f"${usage.cost:.4f}"
    return f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {cost}"


def rates(tally: Tally) -> str:
    """The shares of failed attempts and of readable answers."""
    from attune_env.tables.cells import share_text

    return f"errors {share_text(tally.error_rate)}, parsed {share_text(tally.parse_rate)}"


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
