"""The end of a run against a server: what was done, what is missing, and the command that continues it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from attune_data.errors import one_line
from attune_env.cli.common import command_line

if TYPE_CHECKING:
    from attune_env.running.served import EndpointReport


def score_command(results: Path, data: str, where: str | None, command: str = "score") -> str:
    """The command to run next."""
    output = "scores.json" if command == "score" else None
    return command_line(*command.split(), results=results, data=data, where=where or None, output=output)


def end(report: EndpointReport, done: str, next_command: str, command: str) -> None:
    """Report a run: what was done (`done`), the cost, what is missing, and the command that continues it.

    Exits with an error code if the run is incomplete, or if most answers fail for one reason; after a
    complete one, prints `next_command`.
    """
    code, go_on = outcome(report, done, command)
    if go_on:
        print(go_on, file=sys.stderr)
    else:
        print(f"next: {next_command}")
    if code:
        raise typer.Exit(code)


def outcome(report: EndpointReport, done: str, command: str, others: str = "") -> tuple[int, str]:
    """Print what a run did and what went wrong; the exit code, and how to continue if it is incomplete.

    `others` says what to do about answers that cannot be read. Exits at once, with the code of the signal, if
    the run was interrupted.
    """
    from attune_env.cli.watching import amounts, duration, rates
    from attune_env.running.loop import Interrupted, Unwritten
    from attune_env.running.troubles import OTHERS, main_trouble, mixed_trouble
    from attune_env.tables.labels import counted

    tally, stopped, failed = report.tally, report.stopped, report.failed
    others = others or OTHERS
    print(done)
    if tally.new:
        repeats = counted(tally.asked_again, "repeat")
        again = f" and {repeats} of unusable answers" if tally.asked_again else ""
        calls = f"{counted(tally.new, 'call')}{again}"
        print(f"{calls}, {amounts(tally)}, {rates(tally)}, {duration(tally.seconds)}")
    if failed:
        reasons = one_line("; ".join(list(dict.fromkeys(entry["reason"] for entry in failed))[:3]), 500)
        skipped = f"conversations skipped: {len(failed)}, listed in {report.skipped_file}"
        print(f"error: {skipped}; {reasons}", file=sys.stderr)
    trouble = main_trouble(tally.troubles, tally.last, others)
    if trouble is not None:
        print(f"error: {trouble}", file=sys.stderr)
    elif (mixed := mixed_trouble(tally.troubles, others)) is not None:
        print(f"warning: {mixed}", file=sys.stderr)
    kept = "every answer" + " that could be written" * isinstance(stopped, Unwritten) + " is kept"
    go_on = f"{kept if tally.calls_done else 'no request was answered'}. Continue with: {command}"
    if isinstance(stopped, Interrupted):
        print(f"stopped; {go_on}", file=sys.stderr)
        raise typer.Exit(stopped.code)
    if stopped is not None:
        print(f"error: {stopped}", file=sys.stderr)
    incomplete = stopped is not None or bool(failed)
    return int(incomplete or trouble is not None), go_on if incomplete else ""
