"""Convert training rows to the columns of verl and SkyRL, without needing either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attune_episodes.training.rewards import check_rows
from attune_rewards.reward.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

REQUEST: Final = "attune-request"
"""Id of SkyRL's environment for the rows."""
FACTS: Final = ("id", "conversation_id", "participant_id", "stage", "weight", "reward", "provenance")
"""Columns that are put into `extra_info` if a row has them."""


def to_verl(
    rows: Dataset | IterableDataset, *, spec: RewardSpec | str | None = None
) -> Dataset | IterableDataset:
    """Give rows verl's columns: data_source, prompt, ability, reward_model, extra_info.

    The rows are of `training_dataset`; `to_verl(rows).to_parquet("train.parquet")` writes the file that verl
    reads. `spec` is the reward of the rows, needed only if it has parts of your own. Raises DataError for
    rows without a truth, TypeError for a list of rows.
    """
    return _renamed(rows, spec, "reward_model", "style")


def to_skyrl(
    rows: Dataset | IterableDataset, *, spec: RewardSpec | str | None = None
) -> Dataset | IterableDataset:
    """Give rows SkyRL's columns: data_source, prompt, env_class, reward_spec, extra_info.

    The rows are of `training_dataset`; `spec` is as for `to_verl`. Raises DataError for rows without a truth,
    TypeError for a list of rows.
    """
    return _renamed(rows, spec, "reward_spec", "method")


def _renamed(
    rows: Dataset | IterableDataset, spec: RewardSpec | str | None, reward: str, kind: str
) -> Dataset | IterableDataset:
    """Move the rows' truth into the column `reward`, next to `{kind: "rule"}`."""
    if not hasattr(rows, "map"):
        raise TypeError(f"rows is a {type(rows).__name__}; make a Dataset with Dataset.from_list(rows)")
    columns = rows.column_names or list(next(iter(rows)))  # a stream loses its column names in `map`
    check_rows(rows, spec)

    def renamed(row: Mapping[str, Any], index: int) -> dict[str, Any]:
        return {
            "data_source": f"attune/{row['stage']}",
            "prompt": row["prompt"],
            **({"ability": row["stage"]} if reward == "reward_model" else {"env_class": REQUEST}),
            reward: {kind: "rule", "ground_truth": row["truth"]},
            "extra_info": {"index": index} | {name: row[name] for name in FACTS if name in row},
        }

    return rows.map(renamed, with_indices=True, remove_columns=columns)
