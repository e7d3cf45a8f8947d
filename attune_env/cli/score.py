"""`attune score`: result files to scores."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from attune_data.errors import DataError, Problem, SettingsError
from attune_env.cli.common import find_codebook, left_out, progress_bar, read_data, selected, tell
from attune_env.cli.options import (
    CodebookOption,
    DataOption,
    ResultsOption,
    SkipInvalid,
    WhereOption,
    option,
)


class Scoring(StrEnum):
    """The scoring mode that leads."""

    canonical = "canonical"
    strict = "strict"


def score(
    results: ResultsOption,
    data: DataOption,
    output: Annotated[Path, option("--output", "-o", help="Scores file to write.")] = Path("scores.json"),
    scoring: Annotated[
        Scoring,
        option("--scoring", help="The scoring mode that tables lead with; both are always written."),
    ] = Scoring.canonical,
    q1_overlap: Annotated[
        Literal["jaccard", "f1"],
        option("--q1-overlap", help="Q1: intersection/union (the README's) or set F1 (the public port's)."),
    ] = "jaccard",
    reparse: Annotated[
        bool, option("--reparse", help="Read the raw replies again with this version's parser.")
    ] = False,
    codebook: CodebookOption = None,
    bertscore: Annotated[
        Path | None,
        option(
            "--bertscore", metavar="FOLDER",
            help="Also BERTScores of the drafts, by the language model saved there; never downloaded.",
        ),
    ] = None,
    bertscore_layer: Annotated[
        int | None,
        option(
            "--bertscore-layer", min=1, help="Whose embeddings are compared; known for published names."
        ),
    ] = None,
    where: WhereOption = None,
    skip_invalid: SkipInvalid = False,
) -> None:  # fmt: skip
    """Score result files (the official runner's or ours) against the annotations.

    Example: attune score --results results --data "Test Samples/Sample200" --output scores.json
    """
    from attune_env.analyses.leaderboard import printed_tables
    from attune_env.results import check_replaceable, read_results, score_results, write_json

    check_replaceable(output)
    scorer = None
    if bertscore is not None:
        from attune_env.results.bertscore import BertScorer

        scorer = BertScorer(bertscore, layer=bertscore_layer)
    elif bertscore_layer is not None:
        raise SettingsError("--bertscore-layer is a layer of the model that --bertscore FOLDER names")
    everything = read_data(data, skip_invalid=skip_invalid)
    conversations = selected(everything, where)
    again = find_codebook(codebook, data) if reparse else None
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
            ground_truth=data,
            scoring=scoring.value,
            q1_overlap=q1_overlap,
            where=where,
            bertscore=scorer,
            on_done=step,
        )
    write_json(output, scores)
    printed_tables(scores)[0].print()
    unscored = len(conversations) - scores["metadata"]["n_conversations"]
    if unscored:
        print(f"{unscored} of {len(conversations)} conversations have no result", file=sys.stderr)
    print(f"wrote {output} ({len(found)} results)")
    print(f'next: attune report "{output}"')
