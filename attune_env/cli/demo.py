"""`attune demo`: every built-in policy over the bundled sample, and a report of it."""

from __future__ import annotations

from pathlib import Path

from attune_env.cli import shared
from attune_env.cli.common import command_line
from attune_env.cli.evaluate import check_places, play_and_report
from attune_env.cli.options import option


def demo(output: Path = option("Folder to write to.", Path("results/demo"), "-o")) -> None:
    """Run every built-in policy over the sample, show the leaderboard and write a report.

    Needs the extra `report`, but no key and no network. Writes result files, scores.json and a folder
    `report`.

    Example: attune demo -o results/demo
    """
    from attune_data import load

    sample = load("sample")
    check_places(output)
    play_and_report(output, sample, sample, "sample", shared.Selection())
    command = command_line("evaluate", "custom", "MODEL", "sample", base_url="URL", output=output)
    print(f"next, evaluate your own model: {command}")
