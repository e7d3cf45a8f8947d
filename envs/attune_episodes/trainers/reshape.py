"""Training rows under the column names of other trainers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem
from attune_episodes.trainers.rewards import check_rows

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

FACTS: Final = ("id", "conversation_id", "participant_id", "stage", "weight", "reward", "provenance")
"""Columns that travel with a row whatever the trainer calls the others."""


def facts(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    """What a row says of itself, and its place among the rows."""
    return {"index": index, **{name: row[name] for name in FACTS}}


def fact_types() -> dict[str, Any]:
    """The types of `facts`, as `datasets` names them."""
    from datasets import Value

    kinds = dict.fromkeys(FACTS, Value("string")) | {"weight": Value("float64")}
    return {"index": Value("int64"), **kinds}


def reshaped(
    rows: Dataset | IterableDataset,
    make: Callable[[Mapping[str, Any], int], dict[str, Any]],
    types: Mapping[str, Any],
) -> Dataset | IterableDataset:
    """The rows as `make` has them, in columns of these types.

    Raises DataError where a column is missing, TypeError for a list of rows.
    """
    if not hasattr(rows, "map"):
        raise TypeError(f"rows are a Dataset; Dataset.from_list(rows) makes one of a {type(rows).__name__}")
    check_rows(rows)

    from datasets import Features

    columns = rows.column_names or list(next(iter(rows)))  # a stream forgets its columns in `map`
    missing = [name for name in ("prompt", *FACTS) if name not in columns]
    if missing:
        raise DataError(
            Problem("rows", "", f"no column {', '.join(missing)}", "the rows of training_dataset",
                    "convert before columns are removed")
        )  # fmt: skip
    return rows.map(make, with_indices=True, remove_columns=columns, features=Features(types))
