"""`attune subset`: scores of conversations chosen by trait or topic, alone or against the others."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_data.errors import one_line
from attune_env.cli.common import output_folder, tell
from attune_env.cli.options import Overwrite
from attune_env.cli.report import Format, Resampled, ResampleOption, SeedOption, command_line, formats_of
from attune_env.cli.score import Scoring

if TYPE_CHECKING:
    from attune_env.analyses import Analysis, Chapter, Study
    from attune_env.pages.report import Wanted
    from attune_env.results.scores import Reading

Values = list[str] | None
"""Of one filter; a conversation with any of them is meant."""


def register(app: typer.Typer) -> None:
    """Adds the command to the root."""
    app.command()(subset)


def subset(
    scores: Annotated[
        list[Path], typer.Option("--scores", "-s", help="A scores file made by `attune score`.")
    ],
    data: Annotated[
        str | None,
        typer.Option("--data", "-d", help="The annotated conversations; by default as the scores file says."),
    ] = None,
    diagnosis: Annotated[
        Values, typer.Option("--diagnosis", help='A diagnosis, or "any" or "none"; may be repeated.')
    ] = None,
    category: Annotated[Values, typer.Option("--category", help="Category of the topic.")] = None,
    subtopic: Annotated[Values, typer.Option("--subtopic", help="Subtopic.")] = None,
    topic: Annotated[Values, typer.Option("--topic", help="The topic's own text.")] = None,
    attitude: Annotated[Values, typer.Option("--attitude", help="Attitude to the topic.")] = None,
    om: Annotated[Values, typer.Option("--om", help="The model that answered in the conversation.")] = None,
    gender: Annotated[Values, typer.Option("--gender", help="Gender.")] = None,
    age_range: Annotated[Values, typer.Option("--age-range", help="Range of age.")] = None,
    country: Annotated[Values, typer.Option("--country", help="Country.")] = None,
    education: Annotated[Values, typer.Option("--education", help="Education.")] = None,
    work: Annotated[Values, typer.Option("--work-edu-background", help="Field of work or study.")] = None,
    english: Annotated[Values, typer.Option("--english-proficiency", help="Proficiency in English.")] = None,
    profile_type: Annotated[Values, typer.Option("--profile-type", help="Kind of profile.")] = None,
    participant: Annotated[Values, typer.Option("--participant", help="Participant id.")] = None,
    provenance: Annotated[Values, typer.Option("--provenance", help="Provenance mark.")] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="CONDITIONS", help='Any field, numbers too: "who_5<13,turns>=4".'),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Set them against the others, with intervals on the difference.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for a page and tables; without it nothing is written."),
    ] = None,
    mode: Annotated[str | None, typer.Option(help="The mode; by default the primary one.")] = None,
    scoring: Annotated[Scoring | None, typer.Option(help="The scoring variant that leads.")] = None,
    resample: ResampleOption = Resampled.auto,
    seed: SeedOption = 0,
    formats: Annotated[
        list[Format] | None, typer.Option("--formats", help="With -o: what figures are written as.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show the scores of the conversations that meet every filter given, alone or against the others.

    Example: attune subset -s scores.json -d "Test Samples/Sample200" --diagnosis ADHD --compare

    Example: attune subset -s scores.json --category Family --where "who_5<13" --compare -o family
    """
    from attune_env.analyses.leaderboard import printed_tables
    from attune_env.analyses.sources import Sources, narrowed_study, read_parts
    from attune_env.analyses.subset import subset_contrast, where_of
    from attune_env.pages.folder import check_destination
    from attune_env.pages.report import Wanted

    flags = {
        "diagnosis": diagnosis, "category": category, "subtopic": subtopic, "topic": topic,
        "attitude": attitude, "model": om, "gender": gender, "age_range": age_range, "country": country,
        "education": education, "work_edu_background": work, "english_proficiency": english,
        "profile_type": profile_type, "participant": participant, "provenance": provenance,
    }  # fmt: skip
    chosen = where_of({field: values or () for field, values in flags.items()}, where)
    wanted = Wanted(formats_of(formats))
    if output is not None:
        check_destination(output_folder(output), overwrite=overwrite)
    variant: Reading | None = scoring.value if scoring else None
    asked = Sources(scores, data, None, mode, variant, None, False, resample.value, seed, needs_data=True)
    (whole,), warnings = read_parts(asked, "attune subset")
    tell(warnings)
    command = command_line(replace(asked, where=str(chosen)), ("attune", "subset"), ground_truth="--data")
    study = narrowed_study(whole.study, str(chosen), command + (" --compare" if compare else ""))
    kept = study.scores["metadata"]["n_conversations"]
    print(one_line(f"{kept} of {whole.scored} scored conversations have {chosen}"), file=sys.stderr)
    found = subset_contrast(whole.study, chosen) if compare else None
    shown = printed_tables(study.scores, resample=study.resample, seed=study.seed, every=not compare)
    for table in [*shown, *(found.tables(whole.study) if found is not None else ())]:
        table.print()
    if output is not None:
        _write(output, study, found, wanted, overwrite=overwrite)


def _write(output: Path, study: Study, found: Analysis | None, wanted: Wanted, *, overwrite: bool) -> None:
    """The folder of a report about the subset."""
    from attune_env.analyses.leaderboard import EVERY_METRIC, LEADERS
    from attune_env.analyses.sources import Part
    from attune_env.pages.report import write_report

    chapters: list[Chapter] = [("The subset", (LEADERS, EVERY_METRIC))]
    if found is not None:
        chapters.insert(0, ("Against the others", (found,)))
    made = write_report(output, [Part("subset", study)], wanted, chapters=chapters, overwrite=overwrite)
    print(f"wrote {output}: {made.summary}")
