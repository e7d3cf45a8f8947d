"""`attune score` and `attune report`: result files to scores, scores to tables."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attune_data.errors import DataError, Problem, SettingsError, one_line
from attune_env.cli.common import (
    SkipInvalid,
    WhereOption,
    find_codebook,
    left_out,
    progress_bar,
    read_data,
    selected,
    tell,
)

if TYPE_CHECKING:
    from attune_data import Conversations


class Scoring(StrEnum):
    """Which reading leads."""

    canonical = "canonical"
    strict = "strict"


class Overlap(StrEnum):
    """How Q1 overlap is counted."""

    jaccard = "jaccard"
    f1 = "f1"


class Resampled(StrEnum):
    """What the bootstrap draws."""

    auto = "auto"
    conversation = "conversation"
    participant = "participant"


def register(app: typer.Typer) -> None:
    """Adds the commands to the root."""
    app.command()(score)
    app.command()(report)


def score(
    results: Annotated[Path, typer.Option("--results", help="Folder of result files.")],
    ground_truth: Annotated[
        str,
        typer.Option(
            "--ground-truth", help='The annotated conversations (any source that loads, or "sample").'
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Scores file to write.")] = Path(
        "scores.json"
    ),
    scoring: Annotated[
        Scoring, typer.Option(help="The reading that tables lead with; both are always written.")
    ] = Scoring.canonical,
    q1_overlap: Annotated[
        Overlap, typer.Option(help="Q1: intersection/union (the README's) or set F1 (the public port's).")
    ] = Overlap.jaccard,
    reparse: Annotated[
        bool, typer.Option("--reparse", help="Read the raw replies again with this version's parser.")
    ] = False,
    codebook: Annotated[
        Path | None,
        typer.Option(
            help="With --reparse: the codebook of the run; by default the one beside the data, else ours."
        ),
    ] = None,
    where: WhereOption = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Score result files (the official runner's or ours) against the annotations.

    Example: attune score --results results --ground-truth "Test Samples/Sample200" --output scores.json
    """
    from attune_env.report.tables import leaderboard
    from attune_env.results import check_replaceable, read_results, score_results, write_json

    check_replaceable(output)
    everything = read_data(ground_truth, skip_invalid=skip_invalid)
    conversations = selected(everything, where)
    again = find_codebook(codebook, ground_truth) if reparse else None
    # a result of a conversation that was not chosen is no problem, one of an unknown conversation is
    found, problems, warnings = read_results(results, everything, reparse_with=again)
    tell(warnings)
    left_out(problems, skip=skip_invalid and bool(found))
    found = [result for result in found if result.record["conversationId"] in conversations.by_id]
    if where is not None and not found:
        raise DataError(
            Problem(str(results), "", f"no result for a conversation with {where}", "at least one",
                    "run them first, or choose others")
        )  # fmt: skip
    with progress_bar("scoring", len(found)) as step:
        scores = score_results(
            found,
            conversations,
            ground_truth=ground_truth,
            scoring=scoring.value,
            q1_overlap=q1_overlap.value,
            where=where,
            on_done=step,
        )
    write_json(output, scores)
    leaderboard(scores).print()
    unscored = len(conversations) - scores["metadata"]["n_conversations"]
    if unscored:
        print(f"{unscored} of {len(conversations)} conversations have no result", file=sys.stderr)
    print(f"wrote {output} ({len(found)} results)")
    print(f'next: attune report --scores "{output}"')


def report(
    scores: Annotated[Path, typer.Option("--scores", help="A scores file made by `attune score`.")],
    scoring: Annotated[
        Scoring | None,
        typer.Option(help="The reading that leads; by default the one the file was made with."),
    ] = None,
    resample: Annotated[
        Resampled, typer.Option(help="Units of the bootstrap; auto: participants where one owns several.")
    ] = Resampled.auto,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    where: WhereOption = None,
    ground_truth: Annotated[
        str | None,
        typer.Option(
            "--ground-truth",
            help="With --where: the annotated conversations, whose profiles are read; "
            "by default where the scores were made from.",
        ),
    ] = None,
) -> None:
    """Show a scores file as tables: leaderboard, turn-by-turn, conversation-wide, Composite.

    Example: attune report --scores scores.json

    Example: attune report --scores scores.json --where "diagnosis=ADHD"
    """
    from attune_env.report.tables import group_tables, leaderboard, samples_table
    from attune_env.results import narrowed, read_scores

    content = read_scores(scores)
    if where is not None:
        scored = content["metadata"].get("n_conversations")
        content, warnings = narrowed(content, _profiles(content, ground_truth), where)
        tell(warnings)
        left = content["metadata"]["n_conversations"]
        print(f"{left} of {scored} scored conversations have {one_line(where)}", file=sys.stderr)
    if scoring is not None:
        content["metadata"]["settings"]["scoring"] = scoring.value
    leaderboard(content, resample=resample.value, seed=seed).print()
    if (samples := samples_table(content)) is not None:
        samples.print()
    for table in group_tables(content, resample=resample.value, seed=seed):
        table.print()


def _profiles(scores: dict[str, Any], ground_truth: str | None) -> Conversations:
    """The conversations that a scores file was made with: it holds no profiles itself."""
    from attune_data import load
    from attune_env.results import recorded_source

    source = ground_truth or recorded_source(scores)
    try:
        return load(source, skip_invalid=True)  # what was left out then is left out again
    except DataError as error:
        if ground_truth is not None:
            raise
        raise SettingsError(
            f"{error}\n--where reads the profiles of the scored conversations: name these with --ground-truth"
        ) from error
