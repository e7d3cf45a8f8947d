"""`attune report | subset | stats`: show scores as tables, as a page with figures, or as a CSV file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attune_data.errors import SettingsError, one_line
from attune_env.cli import shared
from attune_env.cli.common import command_line, output_folder, progress_bar, tell
from attune_env.cli.options import argument, option

if TYPE_CHECKING:
    from attune_env.report.analyses import Chapter
    from attune_env.report.analyses.sources import Sources

HEAD = "model,kind,mode,metric,n,"
"""The beginning of a file written by this command."""
Values = list[str] | None
"""Values of one filter; a conversation with any of them is selected."""
_filter = partial(option, panel="Filters of the official tool")


def report(
    files: list[Path] | None = shared.SCORES_ARGUMENT,
    scores: list[Path] | None = shared.SCORES,
    compare: list[Path] | None = option("More scores files, shown next to the first."),
    output: Path | None = option("Folder for report.html, report.md, figures and tables.", None, "-o"),
    data: str | None = shared.RECORDED_DATA,
    results: Path | None = option(
        "Folder of result files; by default, the one that the scores were computed from.",
        None,
        "-r",
        metavar="FOLDER",
    ),
    mode: str | None = option("The mode to analyse; by default, the benchmark's primary mode."),
    side_by_side: bool = option("Use separate tables for scores that cannot share one.", False),
    scoring: shared.Scoring | None = option(
        "The scoring variant that ranks models; by default, the one that the file was made with."
    ),
    baseline: str = option(
        "Compare each model with this one, named as in the tables, instead of the best baseline.",
        "",
        metavar="MODEL",
    ),
    resample: shared.Resampled = shared.RESAMPLE,
    seed: int = shared.BOOTSTRAP_SEED,
    where: str | None = shared.WHERE,
    formats: list[shared.Format] | None = shared.FORMATS,
    only: list[str] | None = option(
        "With -o: only this analysis, named as in the page's commands; may be repeated.", metavar="NAME"
    ),
    conversations: bool = option(
        "With -o: write one page per conversation.", True, "--conversations/--no-conversations"
    ),
    overwrite: bool = shared.OVERWRITE_REPORT,
) -> None:
    """Show scores as tables; with -o, write a full report with a page, figures, tables and conversations.

    Example: attune report scores.json

    Example: attune report scores.json -o report

    Example: attune report scores.json --baseline builtin/asked

    Example: attune report a.json b.json --where "diagnosis=ADHD" -o report
    """
    from attune_env.report.analyses.leaderboard import printed_tables
    from attune_env.report.analyses.sources import Sources, read_parts
    from attune_env.report.analyses.summary import summary
    from attune_env.report.analyses.verdict import verdict_tables

    named = [*scores_named("report", files, scores), *(compare or ())]
    if output is None:
        for name, given in (("--formats", formats), ("--only", only)):
            if given:
                raise SettingsError(f"{name} needs -o FOLDER")
    else:
        from attune_env.report.pages.folder import check_destination
        from attune_env.report.pages.report import Wanted, write_report

        wanted = Wanted(formats_of(formats), tuple(dict.fromkeys(only or ())), conversations)
        check_destination(output_folder(output), overwrite=overwrite)
    asked = Sources(
        *(named, data, results, mode, scoring, where, side_by_side, resample, seed),
        scores_only=output is None,
        baseline=baseline,
    )
    parts, warnings = read_parts(asked, command_of(asked))
    tell(warnings)
    if where is not None:
        for part in parts:
            say_chosen(part.study.scores, part.scored, where)
    if output is None:
        for part in parts:
            prefix = f"{part.label}: " if len(parts) > 1 else ""
            for line in summary(part.study):
                print(one_line(f"{prefix}{line}"))
            print()
            compared = verdict_tables(part.study) if baseline else []
            for table in [*compared, *printed_tables(part.study, every=True)]:
                table.title = f"{prefix}{table.title}"
                table.print()
        return
    print("making the report: figures and pages take a while", file=sys.stderr)
    made = write_report(output, parts, wanted, overwrite=overwrite, progress=progress_bar)
    for line in made.said:
        print(one_line(line))
    for note in made.missing:
        print(one_line(note), file=sys.stderr)
    print(f"wrote {output}: {made.summary}")
    print(f"open {output / 'report.html'}")


def scores_named(command: str, files: Sequence[Path] | None, scores: Sequence[Path] | None) -> list[Path]:
    """The scores files given as arguments and as options; raises SettingsError if there are none."""
    named = [*(files or ()), *(scores or ())]
    if not named:
        raise SettingsError(f"name a scores file: attune {command} scores.json, or --scores scores.json")
    return named


def formats_of(formats: list[shared.Format] | None) -> tuple[str, ...]:
    """The requested formats without duplicates; by default svg."""
    return tuple(dict.fromkeys(map(str, formats or ("svg",))))


def say_chosen(scores: Mapping[str, Any], scored: int, where: str) -> None:
    """Report how many of the scored conversations are left."""
    left = scores["metadata"]["n_conversations"]
    print(f"{left} of {scored} scored conversations match {one_line(where)}", file=sys.stderr)


def command_of(asked: Sources, command: str = "report", **more: object) -> str:
    """The command that reproduces a report, except for the output folder."""
    return command_line(
        command,
        scores=asked.scores,
        data=asked.ground_truth,
        results=asked.results,
        mode=asked.mode,
        scoring=asked.scoring,
        baseline=asked.baseline or None,
        where=asked.where,
        resample=asked.resample if asked.resample != "auto" else None,
        seed=asked.seed or None,
        side_by_side=asked.side_by_side,
        **more,
    )


@dataclass(frozen=True)
class Filters:
    """Values of fields of the data, by the field's name."""

    diagnosis: Values = _filter('A diagnosis, or "any" or "none"; like all of these, it may be repeated.')
    category: Values = _filter("Category of the topic.")
    subtopic: Values = _filter("Subtopic.")
    topic: Values = _filter("Text of the topic.")
    attitude: Values = _filter("Attitude to the topic.")
    model: Values = _filter("The model that replied in the recorded conversation (OM).", None, "--om")
    gender: Values = _filter("Gender.")
    age_range: Values = _filter("Age range.")
    country: Values = _filter("Country.")
    education: Values = _filter("Education.")
    work_edu_background: Values = _filter("Field of work or study.")
    english_proficiency: Values = _filter("English proficiency.")
    profile_type: Values = _filter("Kind of profile.")
    participant: Values = _filter("Participant id.")
    provenance: Values = _filter("Provenance of the conversation.")


def subset(
    *,
    files: list[Path] | None = shared.SCORES_ARGUMENT,
    scores: list[Path] | None = shared.SCORES,
    where: str | None = option(
        'The conversations to look at, by any field: "diagnosis=ADHD|Anxiety", "who_5<13,turns>=4".',
        metavar="CONDITIONS",
    ),
    data: str | None = shared.RECORDED_DATA,
    compare: bool = option(
        "Also compare the subset with all others by every metric, with intervals for the differences.", False
    ),
    output: Path | None = option("Folder for a page and tables; without it, nothing is written.", None, "-o"),
    mode: str | None = option("The mode; by default, the primary one."),
    scoring: shared.Scoring | None = option("The scoring variant that ranks models."),
    resample: shared.Resampled = shared.RESAMPLE,
    seed: int = shared.BOOTSTRAP_SEED,
    formats: list[shared.Format] | None = shared.FORMATS,
    overwrite: bool = shared.OVERWRITE_REPORT,
    filters: Filters,
) -> None:
    """Say how models score on some conversations, and whether that differs from the others.

    Example: attune subset scores.json --where diagnosis=ADHD

    Example: attune subset scores.json --where "category=Family,who_5<13" --compare -o family
    """
    from attune_env.report.analyses.leaderboard import EVERY_METRIC, LEADERS, printed_tables
    from attune_env.report.analyses.sources import Part, Sources, narrowed_study, read_parts
    from attune_env.report.analyses.subset import subset_answer, subset_contrast, where_of
    from attune_env.report.pages.folder import check_destination
    from attune_env.report.pages.report import Wanted, write_report

    named = scores_named("subset", files, scores)
    chosen = where_of({field: values or () for field, values in vars(filters).items()}, where)
    if output is not None:
        check_destination(output_folder(output), overwrite=overwrite)
    asked = Sources(named, data, None, mode, scoring, None, False, resample, seed, needs_data=True)
    (whole,), warnings = read_parts(asked, "attune subset")
    tell(warnings)
    command = command_of(replace(asked, where=str(chosen)), "subset", compare=compare)
    study = narrowed_study(whole.study, str(chosen), command)
    say_chosen(study.scores, whole.scored, str(chosen))
    tables = printed_tables(study, every=not compare)
    chapters: list[Chapter] = [("The subset", (LEADERS, EVERY_METRIC))]
    if compare:
        found = subset_contrast(whole.study, chosen)
        tables = [*tables, *found.tables(whole.study)]
        chapters.insert(0, ("Against the others", (found,)))
    answer = subset_answer(whole.study, chosen)
    for sentence in answer:
        print(sentence)
    print()
    for table in tables:
        table.print()
    if output is not None:
        part, wanted = Part("subset", study), Wanted(formats_of(formats), answer=answer)
        made = write_report(output, [part], wanted, chapters=chapters, overwrite=overwrite)
        print(f"wrote {output}: {made.summary}")


def stats(
    path: Path | None = argument("A scores file made by `attune score`.", "SCORES", None),
    scores: Path | None = shared.SCORES,
    output: Path | None = option("CSV file to write, with one row per model and metric.", None, "-o"),
    every: bool = option("Show every metric in the file, not only those in a report.", False, "--all"),
    overwrite: bool = shared.OVERWRITE_FILE,
) -> None:
    """Summarise each model's scores by metric: n, mean (also with unscored as 0), deviation, quartiles.

    Example: attune stats scores.json

    Example: attune stats scores.json --all -o stats.csv
    """
    from attune_env.report.analyses.model_stats import model_stats, stats_csv
    from attune_env.results import read_scores
    from attune_env.results.files import write_text
    from attune_env.tables.markdown import check_replaceable

    if (path is None) == (scores is None):
        raise SettingsError("name one scores file: attune stats scores.json, or --scores scores.json")
    if output is not None:
        if output.suffix.lower() != ".csv":
            raise SettingsError(f"{output}: the name of the file must end in .csv")
        check_replaceable(output, HEAD, "-o", overwrite=overwrite)
    content = read_scores(path or scores or Path())
    tables = model_stats(content, every=every)
    for table in tables:
        table.print()
    if output is not None:
        write_text(output, stats_csv(content, tables))
        print(f"wrote {output}")
