"""`attune report`: scores as tables in a terminal, and as a folder with a page, figures and tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attune_data.errors import SettingsError, one_line
from attune_env.cli.common import command_line, output_folder, progress_bar, tell
from attune_env.cli.options import (
    BOOTSTRAP_SEED,
    OVERWRITE,
    RESAMPLE,
    WHERE,
    Format,
    Resampled,
    Scoring,
    argument,
    option,
)

if TYPE_CHECKING:
    from attune_env.analyses.sources import Sources


def report(
    *,
    files: list[Path] | None = argument(
        "Scores files made by `attune score`; several make one report.", "SCORES", None
    ),
    scores: list[Path] | None = option("The same, as an option.", None, "-s"),
    compare: list[Path] | None = option("More scores files, to stand beside them."),
    output: Path | None = option("Folder for report.html, report.md, figures and tables.", None, "-o"),
    data: str | None = option("The annotated conversations; by default where the scores were made from."),
    results: Path | None = option("Folder of result files; by default where the scores were made from."),
    mode: str | None = option("The mode that analyses are about; by default the benchmark's primary one."),
    side_by_side: bool = option("Show scores that do not belong in one table in tables of their own.", False),
    scoring: Scoring | None = option(
        "The scoring variant that leads; by default the one the file was made with."
    ),
    resample: Resampled = RESAMPLE,
    seed: int = BOOTSTRAP_SEED,
    where: str | None = WHERE,
    formats: list[Format] | None = option("What figures are written as; by default all."),
    only: list[str] | None = option("With -o: only this analysis, by its name in the page.", metavar="NAME"),
    conversations: bool = option(
        "With -o: one page per conversation.", True, "--conversations/--no-conversations"
    ),
    overwrite: bool = OVERWRITE,
) -> None:
    """Show scores as tables; with -o write the whole report: a page, figures, tables, conversations.

    Example: attune report scores.json

    Example: attune report scores.json -o report

    Example: attune report a.json b.json --where "diagnosis=ADHD" -o report
    """
    from attune_env.analyses.leaderboard import printed_tables
    from attune_env.analyses.sources import Sources, read_parts

    named = [*(files or ()), *(scores or ()), *(compare or ())]
    if not named:
        raise SettingsError("name a scores file: attune report scores.json, or --scores scores.json")
    if output is None:
        if given := [name for name, value in (("--formats", formats), ("--only", only)) if value]:
            raise SettingsError(f"{', '.join(given)}: for what is written; say where to with -o FOLDER")
    else:
        from attune_env.pages.folder import check_destination
        from attune_env.pages.report import Wanted, write_report

        wanted = Wanted(formats_of(formats), tuple(dict.fromkeys(only or ())), conversations)
        check_destination(output_folder(output), overwrite=overwrite)
    asked = Sources(
        *(named, data, results, mode, scoring, where, side_by_side, resample, seed),
        scores_only=output is None,
    )
    parts, warnings = read_parts(asked, command_of(asked))
    tell(warnings)
    if where is not None:
        for part in parts:
            say_chosen(part.study.scores, part.scored, where)
    if output is None:
        for part in parts:
            study = part.study
            for table in printed_tables(study.scores, resample=study.resample, seed=study.seed, every=True):
                if len(parts) > 1:
                    table.title = f"{part.label}: {table.title}"
                table.print()
        return
    made = write_report(output, parts, wanted, overwrite=overwrite, progress=progress_bar)
    for table in made.leaderboards:
        table.print()
    for note in made.missing:
        print(one_line(note), file=sys.stderr)
    print(f"wrote {output}: {made.summary}")
    print(f"open {output / 'report.html'}")


def formats_of(formats: list[Format] | None) -> tuple[str, ...]:
    """The formats asked for, each once; all of them by default."""
    return tuple(dict.fromkeys(map(str, formats or Format)))


def say_chosen(scores: Mapping[str, Any], scored: int, where: str) -> None:
    """Says how many of the scored conversations are left."""
    left = scores["metadata"]["n_conversations"]
    print(f"{left} of {scored} scored conversations have {one_line(where)}", file=sys.stderr)


def command_of(asked: Sources, command: str = "report", **more: object) -> str:
    """The command that reproduces a report, but for where it is written to."""
    return command_line(
        command,
        scores=asked.scores,
        data=asked.ground_truth,
        results=asked.results,
        mode=asked.mode,
        scoring=asked.scoring,
        where=asked.where,
        resample=asked.resample if asked.resample != "auto" else None,
        seed=asked.seed or None,
        side_by_side=asked.side_by_side,
        **more,
    )
