"""Show the progress of a run: live bars in a terminal, a plain line per conversation elsewhere."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from attune_data.errors import one_line
from attune_env.running.loop import Watcher

if TYPE_CHECKING:
    from attune_env.running.jobs import Job
    from attune_env.running.tally import Tally


class Lines(Watcher):
    """One line on standard error for each conversation that ends."""

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def finished(self, job: Job, tally: Tally) -> None:
        """Says which conversation ended, how, and what the run has taken so far."""
        self.said(conversation_line(job, tally))

    def said(self, message: str) -> None:
        """Prints a message."""
        with suppress(OSError, ValueError):  # nobody reads it any more: no reason to stop a run
            print(one_line(message), file=sys.stderr, flush=True)


class Bars(Watcher):
    """Two bars on standard error, conversations and calls, with the numbers of the run beside them."""

    def __init__(self, label: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[numbers]}", markup=False),
        )
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.conversations = self.progress.add_task(one_line(label, 40), total=None, numbers="")
        self.calls = self.progress.add_task("calls", total=None, numbers="")

    def __enter__(self) -> Bars:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def moved(self, tally: Tally) -> None:
        """Moves the bars."""
        over = tally.conversations_done + tally.conversations_failed
        left = tally.seconds_left
        times = f"{duration(left)} left" if left is not None else ""
        self.progress.update(
            self.conversations, completed=over, total=tally.conversations, numbers=f"{times}  {rates(tally)}"
        )
        self.progress.update(
            self.calls, completed=tally.calls_done, total=tally.calls, numbers=amounts(tally)
        )

    def finished(self, job: Job, tally: Tally) -> None:
        """Moves the bars; says which conversation is skipped."""
        self.moved(tally)
        if job.failed:
            self.said(conversation_line(job, tally))

    def said(self, message: str) -> None:
        """Prints a message above the bars."""
        from rich.text import Text

        self.progress.console.print(Text(one_line(message)))


def watcher(label: str) -> Lines | Bars:
    """Bars in a terminal, lines elsewhere; to be entered."""
    return Bars(label) if sys.stderr.isatty() else Lines()


def conversation_line(job: Job, tally: Tally) -> str:
    """`3/20 c-3 default: complete; 63/420 calls, …`."""
    over = tally.conversations_done + tally.conversations_failed
    which = f"{over}/{tally.conversations} {job.conversation_id} {job.names[2]}"
    which += f" sample {job.sample}" if job.sample > 1 else ""
    end = f"skipped, {job.failed[0]}: {job.failed[1]}" if job.failed else "complete"
    left = tally.seconds_left
    time = f", {duration(left)} left" if left else ""
    return f"{which}: {end}; {tally.calls_done}/{tally.calls} calls, {amounts(tally)}, {rates(tally)}{time}"


def amounts(tally: Tally) -> str:
    """Tokens and cost so far."""
    usage = tally.usage
    return f"{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {dollars(usage.cost)}"


def rates(tally: Tally) -> str:
    """The share of attempts that failed and of answers that could be read."""
    return f"errors {_share(tally.error_rate)}, parsed {_share(tally.parse_rate)}"


def dollars(cost: float | None) -> str:
    """A cost, or that it is not known."""
    return "cost not known" if cost is None else f"${cost:.4f}"


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
