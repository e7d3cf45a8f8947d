"""`attune subset`: scores of conversations chosen by trait or topic, alone or against the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from attune_env.cli.common import output_folder, tell
from attune_env.cli.options import (
    BOOTSTRAP_SEED,
    NEEDED,
    OVERWRITE,
    RESAMPLE,
    Format,
    Resampled,
    Scoring,
    option,
)
from attune_env.cli.report import command_of, formats_of, say_chosen

if TYPE_CHECKING:
    from attune_env.analyses import Chapter

Values = list[str] | None
"""Of one filter; a conversation with any of them is meant."""


@dataclass(frozen=True)
class Filters:
    """Values of fields of the data, by the field's name."""

    diagnosis: Values = option('A diagnosis, or "any" or "none"; may be repeated.')
    category: Values = option("Category of the topic.")
    subtopic: Values = option("Subtopic.")
    topic: Values = option("The topic's own text.")
    attitude: Values = option("Attitude to the topic.")
    model: Values = option("The model that answered in the conversation.", None, "--om")
    gender: Values = option("Gender.")
    age_range: Values = option("Range of age.")
    country: Values = option("Country.")
    education: Values = option("Education.")
    work_edu_background: Values = option("Field of work or study.")
    english_proficiency: Values = option("Proficiency in English.")
    profile_type: Values = option("Kind of profile.")
    participant: Values = option("Participant id.")
    provenance: Values = option("Provenance mark.")


def subset(
    *,
    scores: list[Path] = option("A scores file made by `attune score`.", NEEDED, "-s"),
    data: str | None = option("The annotated conversations; by default as the scores file says.", None, "-d"),
    filters: Filters,
    where: str | None = option('Any field, numbers too: "who_5<13,turns>=4".', metavar="CONDITIONS"),
    compare: bool = option("Set them against the others, with intervals on the difference.", False),
    output: Path | None = option("Folder for a page and tables; without it nothing is written.", None, "-o"),
    mode: str | None = option("The mode; by default the primary one."),
    scoring: Scoring | None = option("The scoring variant that leads."),
    resample: Resampled = RESAMPLE,
    seed: int = BOOTSTRAP_SEED,
    formats: list[Format] | None = option("With -o: what figures are written as."),
    overwrite: bool = OVERWRITE,
) -> None:
    """Show the scores of the conversations that meet every filter given, alone or against the others.

    Example: attune subset -s scores.json -d "Test Samples/Sample200" --diagnosis ADHD --compare

    Example: attune subset -s scores.json --category Family --where "who_5<13" --compare -o family
    """
    from attune_env.analyses.leaderboard import EVERY_METRIC, LEADERS, printed_tables
    from attune_env.analyses.sources import Part, Sources, narrowed_study, read_parts
    from attune_env.analyses.subset import subset_contrast, where_of
    from attune_env.pages.folder import check_destination
    from attune_env.pages.report import Wanted, write_report

    chosen = where_of({field: values or () for field, values in vars(filters).items()}, where)
    if output is not None:
        check_destination(output_folder(output), overwrite=overwrite)
    asked = Sources(scores, data, None, mode, scoring, None, False, resample, seed, needs_data=True)
    (whole,), warnings = read_parts(asked, "attune subset")
    tell(warnings)
    command = command_of(replace(asked, where=str(chosen)), "subset", compare=compare)
    study = narrowed_study(whole.study, str(chosen), command)
    say_chosen(study.scores, whole.scored, str(chosen))
    tables = printed_tables(study.scores, resample=study.resample, seed=study.seed, every=not compare)
    chapters: list[Chapter] = [("The subset", (LEADERS, EVERY_METRIC))]
    if compare:
        found = subset_contrast(whole.study, chosen)
        tables = [*tables, *found.tables(whole.study)]
        chapters.insert(0, ("Against the others", (found,)))
    for table in tables:
        table.print()
    if output is not None:
        part, wanted = Part("subset", study), Wanted(formats_of(formats))
        made = write_report(output, [part], wanted, chapters=chapters, overwrite=overwrite)
        print(f"wrote {output}: {made.summary}")
