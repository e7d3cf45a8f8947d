"""`attune score` and `attune report`: result files to scores, scores to tables."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from attune_env.cli.common import SkipInvalid, find_codebook, left_out, progress_bar, tell


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
    skip_invalid: SkipInvalid = False,
) -> None:
    """Score result files (the official runner's or ours) against the annotations.

    Example: attune score --results results --ground-truth "Test Samples/Sample200" --output scores.json
    """
    from attune_data import load
    from attune_env.report.tables import leaderboard
    from attune_env.results import check_replaceable, read_results, score_results, write_json

    check_replaceable(output)
    conversations = load(ground_truth, skip_invalid=skip_invalid)
    left_out(conversations.left_out, skip=skip_invalid)
    again = find_codebook(codebook, ground_truth) if reparse else None
    found, problems, warnings = read_results(results, conversations, reparse_with=again)
    tell(warnings)
    left_out(problems, skip=skip_invalid and bool(found))
    with progress_bar("scoring", len(found)) as step:
        scores = score_results(
            found,
            conversations,
            ground_truth=ground_truth,
            scoring=scoring.value,
            q1_overlap=q1_overlap.value,
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
) -> None:
    """Show a scores file as tables: leaderboard, turn-by-turn, conversation-wide, Composite.

    Example: attune report --scores scores.json
    """
    from attune_env.report.tables import group_tables, leaderboard
    from attune_env.results import read_scores

    content = read_scores(scores)
    if scoring is not None:
        content["metadata"]["settings"]["scoring"] = scoring.value
    leaderboard(content, resample=resample.value, seed=seed).print()
    for table in group_tables(content, resample=resample.value, seed=seed):
        table.print()
