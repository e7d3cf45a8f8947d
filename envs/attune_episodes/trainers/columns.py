"""Training rows under the column names of verl and SkyRL. Needs neither of the two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from attune_episodes.trainers.rewards import check_rows

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

REQUEST: Final = "attune-request"
"""Id of SkyRL's environment for a row of one request."""
CONVERSATION: Final = "attune-conversation"
"""Id of SkyRL's environment for a row of a whole conversation."""
FACTS: Final = ("id", "conversation_id", "participant_id", "stage", "weight", "reward", "provenance")
"""Columns that travel in `extra_info`, those of them that a row has."""
Json = dict[str, Any]


def to_verl(rows: Dataset | IterableDataset) -> Dataset | IterableDataset:
    """Give rows verl's columns: data_source, prompt, ability, reward_model, extra_info.

    `to_verl(rows).to_parquet("train.parquet")` writes the file that verl reads.

    Args:
        rows: of `training_dataset`.

    Raises DataError for rows without a truth, TypeError for a list of rows.
    """

    def verl(row: Mapping[str, Any]) -> Json:
        return {
            "data_source": f"attune/{row['stage']}",
            "prompt": row["prompt"],
            "ability": row["stage"],
            "reward_model": {"style": "rule", "ground_truth": row["truth"]},
        }

    return _renamed(rows, verl)


def to_skyrl(rows: Dataset | IterableDataset) -> Dataset | IterableDataset:
    """Give rows SkyRL's columns: data_source, prompt, env_class, reward_spec, extra_info.

    Args:
        rows: of `training_dataset`, a request each; or of `conversation_rows`, for the environment that
            plays a whole conversation.

    Raises DataError for rows without a truth, TypeError for a list of rows.
    """

    def skyrl(row: Mapping[str, Any]) -> Json:
        whole = "task" in row
        return {
            "data_source": f"attune/{'conversation' if whole else row['stage']}",
            "prompt": row["prompt"],
            "env_class": CONVERSATION if whole else REQUEST,
            "reward_spec": {"method": "rule", "ground_truth": row["task" if whole else "truth"]},
        }

    return _renamed(rows, skyrl)


def _renamed(
    rows: Dataset | IterableDataset, make: Callable[[Mapping[str, Any]], Json]
) -> Dataset | IterableDataset:
    if not hasattr(rows, "map"):
        raise TypeError(f"rows are a Dataset; Dataset.from_list(rows) makes one of a {type(rows).__name__}")
    columns = rows.column_names or list(next(iter(rows)))  # a stream forgets its columns in `map`
    if "task" not in columns:
        check_rows(rows)

    def renamed(row: Mapping[str, Any], index: int) -> Json:
        return make(row) | {"extra_info": {"index": index} | {n: row[n] for n in FACTS if n in row}}

    return rows.map(renamed, with_indices=True, remove_columns=columns)
