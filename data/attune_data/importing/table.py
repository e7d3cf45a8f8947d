"""Read a table by any of its formats: CSV, JSON, JSON lines, Parquet, or what `datasets` loads."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, one_line, show
from attune_data.files.rows import jsonl
from attune_data.files.tables import DELIMITERS, holds_tables, tables
from attune_data.format.validate import brief
from attune_data.importing.delimited import Reading, delimited
from attune_data.importing.imported import LeftOut, number_in
from attune_data.jsonio import parse_json, read_text
from attune_data.source.names import is_dataset_name, path_named

FORMATS: Final = (
    "a .csv, .tsv, .json, .jsonl or .parquet file, a folder of Parquet files or one written by save_to_disk, "
    "or the name of a dataset"
)
_NAMED: Final = 20
"""Columns that an error lists."""
_WHOLE: Final = re.compile(r"([+-]?\d+)\.0", re.ASCII)


def word(value: object) -> str:
    """A value as the name of something: a label, a person. Whole numbers have no decimals.

    >>> word(1.0), word("1.0"), word(" 1.5 "), word(None)
    ('1', '1', '1.5', '')
    """
    text = "" if value is None else str(value).strip()
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


@dataclass(frozen=True, slots=True)
class Row:
    """One row, with its place."""

    where: str
    values: Mapping[str, Any]
    map: str
    """The map by which it is read, as errors name it."""

    def cell(self, column: str) -> Any:
        """The value of a column; None if it is empty or absent."""
        value = self.values.get(column)
        blank = (isinstance(value, str) and not value.strip()) or (
            isinstance(value, float) and math.isnan(value)
        )
        return None if blank else value

    def needed(self, column: str, purpose: str) -> Any:
        """The value of a column; raises DataError if it is empty."""
        value = self.cell(column)
        if value is None:
            skip = f'{show(column)} = [""] in [skip] of {self.map}'
            advice = f"--skip-invalid leaves out such rows, and so does {skip}"
            wanted = f"a value ({purpose} of {self.map})"
            raise DataError(Problem(self.where, column, "nothing", wanted, advice))
        return value

    def name(self, column: str | None) -> str | None:
        """The value of a column that names something, such as a person; None if it is empty."""
        return (None if column is None else word(self.cell(column))) or None

    def text(self, column: str, purpose: str) -> str:
        """The text of a column; raises DataError for an empty cell and for anything else."""
        value = self.needed(column, purpose)
        if not isinstance(value, str):
            wanted = f"text ({purpose} of {self.map})"
            raise DataError(Problem(self.where, column, brief(value), wanted, f"correct {self.map}"))
        return value

    def number(self, column: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """The number of a column, None if the cell is empty; raises DataError for any other value."""
        value = self.cell(column)
        try:
            number: float | None = number_in(low, high).func(value)  # type: ignore[call-arg]
        except ValueError as error:
            scale = "" if math.isinf(high) else f" from {low:g} to {high:g}, the scale of {self.map}"
            advice = f"correct {self.map} or the row"
            raise DataError(Problem(self.where, column, brief(value), f"a number{scale}", advice)) from error
        return number

    def leave_out(self, skip: Mapping[str, tuple[str, ...]]) -> None:
        """Raise LeftOut if a column has one of the values that the map leaves out, whatever their case."""
        for column, values in skip.items():
            value = self.name(column) or ""
            if value.casefold() in (word(one).casefold() for one in values):
                raise LeftOut(f"{column} {show(value, 40)}")


Rows = Iterator[tuple[str, Callable[[], Row]]]
"""The place of each row, and the function that reads it."""
_Values = Iterator[tuple[str, Callable[[], Any]]]


def read_table(source: str, how: Reading, split: str | None, used: Mapping[str, str], by: str) -> Rows:
    """The rows of a table.

    Args:
        source: the path of the table, or the name of a dataset.
        how: how it is read.
        split: the split of a dataset that has several.
        used: the columns that the map names, each with the key that names it.
        by: the map, as errors name it.

    Raises DataError for what is no table, has no rows, or lacks a column, SettingsError for a split of a
    file, MissingExtraError if `datasets` is needed and not installed.
    """
    columns, rows = _opened(source, how, split, by)
    if columns:
        _check(source, columns, {c: key for c, key in used.items() if c not in how.optional}, by)
    if (first := next(rows, None)) is None:
        raise _no_rows(source)
    return ((where, partial(_row, where, read, how, by)) for where, read in chain([first], rows))


def _opened(source: str, how: Reading, split: str | None, by: str) -> tuple[Sequence[str], _Values]:
    """The columns of a table and its rows."""
    path = path_named(source)
    if path is None and not is_dataset_name(source):
        raise DataError(Problem(source, "", "no such file or folder", FORMATS, "check the path"))
    if path is None or holds_tables(path):
        rows = tables(path or source, split, records=False)
        if (first := next(rows, None)) is None:
            raise _no_rows(source)
        return tuple(first[1]()), chain([first], rows)
    if split is not None:
        raise SettingsError(f"split is {show(split)}; {source} has no splits: leave it out")
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".json"):
        listed = list(jsonl(path) if suffix == ".jsonl" else _json(path))
        return _names(listed), iter(listed)
    if path.is_file() and (delimiter := how.delimiter or DELIMITERS.get(suffix)):
        return delimited(path, how, delimiter, by)
    found = "a folder without tables" if path.is_dir() else f"a file named *{path.suffix}"
    raise DataError(Problem(source, "", found, FORMATS, "convert it, or unpack it"))


def _no_rows(source: str) -> DataError:
    return DataError(Problem(source, "", "no rows", "a table with at least one row"))


def _check(source: str, columns: Sequence[str], used: Mapping[str, str], by: str) -> None:
    """Raise DataError unless the table has each of the columns once."""
    listed = ", ".join(map(one_line, columns[:_NAMED])) + (" …" if len(columns) > _NAMED else "")
    for column, key in used.items():
        if (number := columns.count(column)) == 1:
            continue
        found = f"{'several columns' if number else 'no column'} {show(column)} ({key} of {by})"
        near = difflib.get_close_matches(column, columns, n=1)
        mark = next((m for m in ";\t|," if m in columns[0]), "") if len(columns) == 1 else ""
        if number:
            advice = "rename all but one of them"
        elif mark:
            advice = f"if this is not one column, set delimiter = {json.dumps(mark)} in [table] of {by}"
        else:
            advice = f"did you mean {show(near[0])}? correct {by}" if near else f"correct {by}"
        raise DataError(Problem(source, "", found, f"one; the table has {listed}", advice))


def _row(where: str, read: Callable[[], Any], how: Reading, by: str) -> Row:
    values = read()
    if not isinstance(values, dict):
        raise DataError(Problem(where, "", brief(values), "an object: a row of a table"))
    absent = [column for column, said in how.absent.items() if word(values.get(column)) in said]
    return Row(where, values | dict.fromkeys(absent), by)


def _names(rows: Iterable[tuple[str, Callable[[], Any]]]) -> Sequence[str]:
    """The names that occur in any of the objects; those that cannot be read are told when they are rows."""
    names: dict[str, None] = {}
    for _, read in rows:
        try:
            values = read()
        except DataError:
            continue
        names |= dict.fromkeys(values if isinstance(values, dict) else ())
    return tuple(names)


def _json(path: Path) -> _Values:
    wanted = "a list of objects, the rows of a table"
    text = read_text(path, max_bytes=None)
    listed = parse_json(text, str(path), any_density=True) if text.strip() else None
    if not isinstance(listed, list):
        found = brief(listed) if text.strip() else "an empty file"
        raise DataError(Problem(str(path), "", found, wanted))
    return ((f"{path}[{index}]", partial(list.__getitem__, listed, index)) for index in range(len(listed)))
