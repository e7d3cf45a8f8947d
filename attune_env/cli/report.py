"""`attune report`: scores as tables in a terminal, and as a folder with a page, figures and tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_data.errors import SettingsError, one_line
from attune_env.cli.common import output_folder, progress_bar, tell
from attune_env.cli.options import Overwrite, WhereOption
from attune_env.cli.score import Scoring

if TYPE_CHECKING:
    from attune_env.analyses.sources import Part, Sources


class Resampled(StrEnum):
    """The units that the bootstrap draws."""

    auto = "auto"
    conversation = "conversation"
    participant = "participant"


class Format(StrEnum):
    """The file formats of figures."""

    svg = "svg"
    png = "png"
    pdf = "pdf"


ResampleOption = Annotated[
    Resampled, typer.Option(help="Units of the bootstrap; auto: participants where one owns several.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of the bootstrap.")]


def register(app: typer.Typer) -> None:
    """Adds the command to the root."""
    app.command()(report)


def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SCORES", help="Scores files made by `attune score`; several make one report."
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None, typer.Option("--scores", "-s", help="The same, as an option.")
    ] = None,
    compare: Annotated[
        list[Path] | None, typer.Option("--compare", help="More scores files, to stand beside them.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for report.html, report.md, figures and tables."),
    ] = None,
    ground_truth: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="The annotated conversations; by default where the scores were made from.",
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Folder of result files; by default where the scores were made from."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(help="The mode that analyses are about; by default the benchmark's primary one."),
    ] = None,
    side_by_side: Annotated[
        bool,
        typer.Option(
            "--side-by-side", help="Show scores that do not belong in one table in tables of their own."
        ),
    ] = False,
    scoring: Annotated[
        Scoring | None,
        typer.Option(help="The scoring variant that leads; by default the one the file was made with."),
    ] = None,
    resample: ResampleOption = Resampled.auto,
    seed: SeedOption = 0,
    where: WhereOption = None,
    formats: Annotated[
        list[Format] | None, typer.Option("--formats", help="What figures are written as; by default all.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="With -o: only this analysis, by its name in the page."),
    ] = None,
    conversations: Annotated[
        bool, typer.Option("--conversations/--no-conversations", help="With -o: one page per conversation.")
    ] = True,
    overwrite: Overwrite = False,
) -> None:
    """Show scores as tables; with -o write the whole report: a page, figures, tables, conversations.

    Example: attune report scores.json

    Example: attune report scores.json -o report

    Example: attune report a.json b.json --where "diagnosis=ADHD" -o report
    """
    from attune_env.analyses.sources import Sources, read_parts

    named = [*(files or ()), *(scores or ()), *(compare or ())]
    if not named:
        raise SettingsError("name a scores file: attune report scores.json, or --scores scores.json")
    asked = Sources(
        named,
        ground_truth,
        results,
        mode,
        scoring.value if scoring else None,
        where,
        side_by_side,
        resample.value,
        seed,
        scores_only=output is None,
    )
    if output is None:
        if given := [name for name, value in (("--formats", formats), ("--only", only)) if value]:
            raise SettingsError(f"{', '.join(given)}: for what is written; say where to with -o FOLDER")
        parts, warnings = read_parts(asked, "attune report")
        tell(warnings)
        _print_tables(parts, asked.where)
        return
    from attune_env.pages.folder import check_destination
    from attune_env.pages.report import Wanted, write_report

    wanted = Wanted(formats_of(formats), tuple(dict.fromkeys(only or ())), conversations)
    check_destination(output_folder(output), overwrite=overwrite)
    parts, warnings = read_parts(asked, command_line(asked))
    tell(warnings)
    _say_chosen(parts, asked.where)
    made = write_report(output, parts, wanted, overwrite=overwrite, progress=progress_bar)
    for table in made.leaderboards:
        table.print()
    for note in made.missing:
        print(one_line(note), file=sys.stderr)
    print(f"wrote {output}: {made.summary}")
    print(f"open {output / 'report.html'}")


def formats_of(formats: Sequence[Format] | None) -> tuple[str, ...]:
    """The formats asked for, each once; all of them by default."""
    return tuple(dict.fromkeys(one.value for one in formats or Format))


def command_line(
    asked: Sources, command: Sequence[str] = ("attune", "report"), ground_truth: str = "--data"
) -> str:
    """The command that makes the same again, but for where it is written to.

    `ground_truth` is what the command calls that option.
    """
    words = [*command]
    options: list[tuple[str, object]] = [
        *(("--scores", path) for path in asked.scores),
        (ground_truth, asked.ground_truth),
        ("--results", asked.results),
        ("--mode", asked.mode),
        ("--scoring", asked.scoring),
        ("--where", asked.where),
        ("--resample", asked.resample if asked.resample != "auto" else None),
        ("--seed", asked.seed or None),
    ]
    for option, value in options:
        if value is not None:
            words += [option, str(value)]
    return shlex.join([*words, *(["--side-by-side"] if asked.side_by_side else [])])


def _say_chosen(parts: Sequence[Part], where: str | None) -> None:
    if where is None:
        return
    for part in parts:
        left = part.study.scores["metadata"]["n_conversations"]
        print(f"{left} of {part.scored} scored conversations have {one_line(where)}", file=sys.stderr)


def _print_tables(parts: Sequence[Part], where: str | None) -> None:
    from attune_env.analyses.leaderboard import printed_tables

    _say_chosen(parts, where)
    for part in parts:
        study = part.study
        for table in printed_tables(study.scores, resample=study.resample, seed=study.seed, every=True):
            if len(parts) > 1:
                table.title = f"{part.label}: {table.title}"
            table.print()
