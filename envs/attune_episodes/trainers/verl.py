"""verl: `compute_score`, a custom reward function, and `to_verl`, the columns of its parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.extras import warn_if_untested
from attune_episodes.trainers.completion import text_of
from attune_episodes.trainers.reshape import fact_types, facts, reshaped
from attune_episodes.training.scoring import score_truth
from attune_rewards.reward import OK
from attune_rewards.tree import LEAF

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

SOURCE: Final = "attune"
"""`data_source` of our rows is this, a slash and the stage: verl reports validation by data source."""
PARTS: Final = (*LEAF, "format")
TESTED: Final = ("0.9", "0.10")
"""The tests were run with the versions of verl from the first up to, without, the second."""
# here, since verl loads this file and calls nothing else of it before the first reply
warn_if_untested("verl", *TESTED)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **others: object,
) -> dict[str, float | None]:
    """What a response earns, as verl's reward managers call a custom reward function.

    Args:
        data_source: not used.
        solution_str: the response.
        ground_truth: the row's `truth`.
        extra_info: not used.
        others: whatever else a manager hands over; not used.

    Returns:
        `score`, the row's reward; `parsed`, 1.0 or 0.0; and every part's score in [0, 1], None where the row
        does not ask for it. The keys are always the same, as verl wants them.

    Raises DataError for a ground truth that is none of ours. Nothing that a model writes raises.
    """
    if not isinstance(ground_truth, str):
        raise DataError(
            Problem("rows", "ground_truth", show(ground_truth), "the truth of the row", "see to_verl(rows)")
        )
    scored = score_truth(ground_truth, text_of(solution_str))
    parsed = 1.0 if scored.reason == OK else 0.0
    return {"score": scored.value, "parsed": parsed, **{name: scored.parts.get(name) for name in PARTS}}


def to_verl(rows: Dataset | IterableDataset) -> Dataset | IterableDataset:
    """Rows in verl's columns: data_source, prompt, ability, reward_model, extra_info.

    `to_verl(rows).to_parquet("train.parquet")` makes a file of them.

    Args:
        rows: of `training_dataset` or `to_dataset`.

    Raises DataError for rows without a truth.
    """
    text = fact_types()["stage"]
    types = {
        "data_source": text,
        "prompt": [{"role": text, "content": text}],
        "ability": text,
        "reward_model": {"style": text, "ground_truth": text},
        "extra_info": fact_types(),
    }
    return reshaped(rows, _row, types)


def _row(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {
        "data_source": f"{SOURCE}/{row['stage']}",
        "prompt": row["prompt"],
        "ability": row["stage"],
        "reward_model": {"style": "rule", "ground_truth": row["truth"]},
        "extra_info": facts(row, index),
    }
