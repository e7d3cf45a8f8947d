"""`attune score`: result files to scores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from attune_data.errors import DataError, Problem, SettingsError
from attune_env.cli import shared
from attune_env.cli.common import (
    command_line,
    find_codebook,
    left_out,
    progress_bar,
    read_data,
    selected,
    tell,
)
from attune_env.cli.options import option


def score(
    results: Path = shared.RESULTS,
    data: str = shared.DATA,
    output: Path = option("Scores file to write.", Path("scores.json"), "-o"),
    scoring: shared.Scoring = option(
        "The scoring variant that ranks the leaderboard; both are always written.", "canonical"
    ),
    q1_overlap: Literal["jaccard", "f1"] = option(
        "Overlap for Q1: intersection/union (as in the benchmark's README) or set F1 (as in the public "
        "port).",
        "jaccard",
    ),
    reparse: bool = option("Parse the raw replies again with this version's parser.", False),
    codebook: Path | None = shared.CODEBOOK,
    bertscore: Path | None = option(
        "Also compute BERTScores of the drafts with the language model in this folder, without downloads.",
        metavar="FOLDER",
    ),
    bertscore_layer: int | None = option(
        "Layer whose embeddings are compared; by default, the one that BERTScore's authors found best for "
        "the published model of the folder's name.",
        min=1,
    ),
    where: str | None = shared.WHERE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Score result files (from the official runner or ours) against the annotations.

    Example: attune score --results results --data "Test Samples/Sample200" --output scores.json
    """
    from attune_env.report.analyses import Study
    from attune_env.report.analyses.leaderboard import leaderboard_table
    from attune_env.results import check_replaceable, read_results, score_results, write_json
    from attune_env.tables.labels import role_of

    check_replaceable(output)
    scorer = None
    if bertscore is not None:
        from attune_env.results.bertscore import BertScorer

        scorer = BertScorer(bertscore, layer=bertscore_layer)
    elif bertscore_layer is not None:
        raise SettingsError("--bertscore-layer needs --bertscore FOLDER, the model with that layer")
    everything = read_data(data, skip_invalid=skip_invalid)
    conversations = selected(everything, where)
    again = find_codebook(codebook, data) if reparse else None
    # results of conversations that were not chosen are fine, those of unknown conversations are not
    found, problems, warnings = read_results(results, everything, reparse_with=again)
    tell(warnings)
    left_out(problems, skip=skip_invalid and bool(found))
    found = [result for result in found if result.record["conversationId"] in conversations.by_id]
    if where is not None and not found:
        missing = f"no result for a conversation that matches {where}"
        advice = "run them first, or choose others"
        raise DataError(Problem(str(results), "", missing, "at least one", advice))
    with progress_bar("scoring", len(found)) as step:
        scores = score_results(
            found,
            conversations,
            ground_truth=data,
            scoring=scoring,
            q1_overlap=q1_overlap,
            where=where,
            bertscore=scorer,
            folder=str(results),
            on_done=step,
        )
    write_json(output, scores)
    leaderboard_table(Study(scores)).print()
    unscored = len(conversations) - scores["metadata"]["n_conversations"]
    if unscored:
        print(f"{unscored} of {len(conversations)} conversations have no results", file=sys.stderr)
    if not any(role_of(model) == "baseline" for model in scores["metadata"]["models"]):
        advice = command_line("run", "builtin", "all", data, output=results)
        print(f"no baseline to compare with; to add them: {advice}", file=sys.stderr)
    print(f"wrote {output} ({len(found)} results)")
    print(f"next: {command_line('report', str(output), '-o', 'report')}")
