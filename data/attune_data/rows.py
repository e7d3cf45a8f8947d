"""Conversations from `datasets`: saved folders and named datasets, a record a row.

A row is either the record's own columns, or one column `record` with its JSON text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, one_line, show
from attune_data.jsonio import parse_json

Row = tuple[str, Callable[[], Any]]
"""Where a record stands, and what reads it."""


def is_saved_dataset(path: Path) -> bool:
    """Whether a folder was written by `save_to_disk`."""
    return (path / "dataset_dict.json").exists() or (path / "state.json").exists()


def saved_dataset(path: Path, split: str | None) -> Iterator[Row]:
    """The rows of a saved dataset; raises DataError where it does not load."""
    import datasets

    try:
        loaded = datasets.load_from_disk(str(path))
    except Exception as error:  # it raises many kinds: all of them mean "not readable"
        raise DataError(
            Problem(str(path), "", f"a saved dataset that does not load: {_first_line(error)}",
                    "a folder written by save_to_disk, with at least one row")
        ) from error  # fmt: skip
    return _rows(loaded, str(path), split)


def named_dataset(name: str, split: str | None) -> Iterator[Row]:
    """The rows of a dataset that `datasets` loads by its name; raises DataError where it does not."""
    import datasets

    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # what fails is said once, below
    try:
        loaded = datasets.load_dataset(name)
    except Exception as error:  # the hub client raises many kinds: all of them mean "not loaded"
        raise DataError(
            Problem(name, "", f"no such folder here, and as a dataset: {_first_line(error)}",
                    "an existing path or a dataset that loads", "check the spelling and the network")
        ) from error  # fmt: skip
    return _rows(loaded, name, split)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _rows(loaded: Any, name: str, split: str | None) -> Iterator[Row]:
    """Rows of a `datasets` object: the record's own columns, or one column `record` of JSON text."""
    import datasets

    if isinstance(loaded, datasets.DatasetDict):
        if split is None and len(loaded) > 1:
            names = ", ".join(map(one_line, loaded))
            raise SettingsError(f"{name} has the splits {names}; say which one (split=…)")
        if split is not None and split not in loaded:
            raise UnknownNameError("split", split, loaded)
        loaded = loaded[split or next(iter(loaded))]
    as_text = "record" in loaded.column_names
    # as Arrow, not decoded: a column of images or sounds would open the paths and addresses in it
    rows = loaded.with_format("arrow")
    for index in range(len(rows)):
        where = f"{name}[{index}]"
        yield where, partial(_row, rows, index, where, as_text=as_text)


def _row(rows: Any, index: int, where: str, *, as_text: bool) -> Any:
    (row,) = rows[index].to_pylist()
    if not as_text:
        return without_nulls(row)
    if not isinstance(row["record"], str):
        raise DataError(Problem(where, "record", show(row["record"]), "the JSON text of one conversation"))
    return parse_json(row["record"], where)


def without_nulls(value: Any) -> Any:
    """`value` without the nulls that Arrow fills into mixed records: absent and null mean the same here."""
    if isinstance(value, dict):
        return {key: without_nulls(child) for key, child in value.items() if child is not None}
    if isinstance(value, list):
        return [without_nulls(child) for child in value]
    return value
