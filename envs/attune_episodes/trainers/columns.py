"""Training rows under the column names of verl and SkyRL. Needs neither of the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attune_episodes.score import LIVE
from attune_episodes.trainers.rewards import check_rows

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

REQUEST: Final = "attune-request"
"""Id of SkyRL's environment for a row of one request."""
CONVERSATION: Final = "attune-conversation"
"""Id of SkyRL's environment for a row of a whole conversation."""
LIVE_CONVERSATION: Final = "attune-live"
"""Id of SkyRL's environment for a row of a live conversation."""
FACTS: Final = ("id", "conversation_id", "participant_id", "stage", "weight", "reward", "provenance")
"""Columns that travel in `extra_info`, those of them that a row has."""


def to_verl(rows: Dataset | IterableDataset) -> Dataset | IterableDataset:
    """Give rows verl's columns: data_source, prompt, ability, reward_model, extra_info.

    The rows are of `training_dataset`; `to_verl(rows).to_parquet("train.parquet")` writes the file that verl
    reads. Raises DataError for rows without a truth, TypeError for a list of rows.
    """
    return _renamed(rows, "reward_model", "style")


def to_skyrl(rows: Dataset | IterableDataset) -> Dataset | IterableDataset:
    """Give rows SkyRL's columns: data_source, prompt, env_class, reward_spec, extra_info.

    The rows are of `training_dataset`, a request or a reply each; or of `conversation_rows` or `live_rows`,
    for the environments that play a whole conversation. Raises DataError for rows without a truth, TypeError
    for a list of rows.
    """
    return _renamed(rows, "reward_spec", "method")


def _renamed(rows: Dataset | IterableDataset, reward: str, kind: str) -> Dataset | IterableDataset:
    """Rows whose truth lies in the column `reward`, beside `{kind: "rule"}`."""
    if not hasattr(rows, "map"):
        raise TypeError(f"rows are a Dataset; Dataset.from_list(rows) makes one of a {type(rows).__name__}")
    columns = rows.column_names or list(next(iter(rows)))  # a stream forgets its columns in `map`
    whole = "task" in columns
    if not whole:
        check_rows(rows)

    def renamed(row: Mapping[str, Any], index: int) -> dict[str, Any]:
        stage, env = ("conversation", CONVERSATION) if whole else (row["stage"], REQUEST)
        if whole and row["reward"] == LIVE:
            stage, env = LIVE, LIVE_CONVERSATION
        return {
            "data_source": f"attune/{stage}",
            "prompt": row["prompt"],
            **({"ability": stage} if reward == "reward_model" else {}),
            **({"env_class": env} if reward == "reward_spec" else {}),
            reward: {kind: "rule", "ground_truth": row["task" if whole else "truth"]},
            "extra_info": {"index": index} | {name: row[name] for name in FACTS if name in row},
        }

    return rows.map(renamed, with_indices=True, remove_columns=columns)
