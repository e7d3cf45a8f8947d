"""Read a table by any of its formats: CSV, JSON, JSON lines, Parquet, or what `datasets` loads."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from attune_data.errors import DataError, Problem, one_line, show
from attune_data.files.rows import jsonl
from attune_data.files.tables import holds_tables, tables
from attune_data.importing.imported import LeftOut, number_in
from attune_data.jsonio import MAX_BYTES, bad_byte, read_bytes, read_json
from attune_data.source.names import is_dataset_name, no_such, path_named

DELIMITERS: Final[Mapping[str, str]] = {".csv": ",", ".tsv": "\t"}
FORMATS: Final = (
    "a .csv, .tsv, .json, .jsonl or .parquet file, a folder of Parquet files or one written by save_to_disk, "
    "or the name of a dataset"
)


class Reading(BaseModel):
    """How the files of a data set are read, where that differs from the usual."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    delimiter: str | None = Field(None, min_length=1, max_length=1)
    """Between the columns of a CSV file; by default, by its name: a comma, or a tab for `.tsv`."""
    quotes: bool = True
    """Whether double quotes enclose texts; otherwise, they are characters like any other."""
    encoding: str = "utf-8"
    """Of CSV files that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, with its place."""

    where: str
    values: Mapping[str, Any]
    complete: bool
    """Whether a column that is absent is an error, and not an empty cell."""

    def cell(self, column: str, purpose: str = "", *, needed: bool = False) -> Any:
        """The value of a column, None if it is empty.

        Raises DataError if the table has no such column, or if a needed value is empty.
        """
        if column not in self.values and (self.complete or needed):
            near = difflib.get_close_matches(column, self.values, n=1)
            has = ", ".join(one_line(name) for name in self.values)
            found = f"no such column; the table has {has}"
            advice = f"did you mean {show(near[0])}? " if near else ""
            advice += "correct the map, or its [table] delimiter"
            raise DataError(Problem(self.where, column, found, f"the column of {purpose}", advice))
        value = self.values.get(column)
        if isinstance(value, str) and not value.strip():
            value = None
        if value is None and needed:
            advice = "--skip-invalid leaves out such rows, [skip] in the map those that you name"
            raise DataError(Problem(self.where, column, "nothing", f"a value as {purpose}", advice))
        return value

    def name(self, column: str | None, purpose: str) -> str | None:
        """The value of a column that names something, such as a person; None if it is empty."""
        value = None if column is None else self.cell(column, purpose)
        return None if value is None else str(value).strip()

    def text(self, column: str, purpose: str) -> str:
        """The text of a column; raises DataError for an empty cell and for anything else."""
        value = self.cell(column, purpose, needed=True)
        if not isinstance(value, str):
            raise DataError(
                Problem(self.where, column, show(value), f"text, as {purpose}", "correct the map")
            )
        return value

    def number(
        self, column: str, purpose: str, advice: str, low: float = -math.inf, high: float = math.inf
    ) -> float | None:
        """The number of a column, None if the cell is empty; raises DataError for any other value."""
        value = self.cell(column, purpose)
        try:
            number: float | None = number_in(low, high).func(value)  # type: ignore[call-arg]
        except ValueError as error:
            scale = "" if math.isinf(high) else f" from {low:g} to {high:g}, the map's scale"
            raise DataError(Problem(self.where, column, show(value), f"a number{scale}", advice)) from error
        return number

    def leave_out(self, skip: Mapping[str, tuple[str, ...]]) -> None:
        """Raise LeftOut if a column has one of the values that the map leaves out, whatever their case."""
        for column, values in skip.items():
            value = self.name(column, "[skip]")
            if value is not None and value.casefold() in (one.strip().casefold() for one in values):
                raise LeftOut(f"{column} {show(value, 40)}")


Rows = Iterator[tuple[str, Callable[[], Row]]]
"""The place of each row, and the function that reads it."""


def read_table(source: str, how: Reading, split: str | None) -> Rows:
    """The rows of a table.

    Raises DataError for what is no table, MissingExtraError if `datasets` is needed and not installed.
    """
    path = path_named(source)
    if path is None and not is_dataset_name(source):
        raise no_such(source)
    if path is None or holds_tables(path):
        return _rows(tables(path or source, split, records=False), complete=True)
    if path.suffix in DELIMITERS or (path.is_file() and how.delimiter):
        return _csv(path, how)
    if path.suffix == ".jsonl":
        return _rows(jsonl(path), complete=False)
    if path.suffix == ".json":
        return _rows(_json(path), complete=False)
    found = "a folder without tables" if path.is_dir() else f"a file named *{path.suffix}"
    raise DataError(Problem(source, "", found, FORMATS, "convert it, or unpack it"))


def _rows(rows: Iterator[tuple[str, Callable[[], Any]]], *, complete: bool) -> Rows:
    return ((where, partial(_row, where, read, complete)) for where, read in rows)


def _row(where: str, read: Callable[[], Any], complete: bool) -> Row:
    values = read()
    if not isinstance(values, dict):
        raise DataError(Problem(where, "", show(values), "an object: a row of a table"))
    return Row(where, values, complete)


def _json(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    listed = read_json(path, max_bytes=None)
    if not isinstance(listed, list):
        raise DataError(Problem(str(path), "", "no list", "a list of objects, the rows of a table"))
    return ((f"{path}[{index}]", partial(list.__getitem__, listed, index)) for index in range(len(listed)))


def _csv(path: Path, how: Reading) -> Rows:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES))
    quoting: Any = csv.QUOTE_MINIMAL if how.quotes else csv.QUOTE_NONE
    delimiter = how.delimiter or DELIMITERS[path.suffix]
    reader = csv.reader(io.StringIO(_text(path, how), newline=""), delimiter=delimiter, quoting=quoting)
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            where, line = f"{path}:{line}", reader.line_num + 1
            if not header:
                header = [name.strip() for name in cells]
            elif cells:
                yield where, partial(_cells, where, header, cells)
    except csv.Error as error:
        raise DataError(Problem(f"{path}:{line}", "", str(error), "a row of a CSV file")) from error
    if not header:
        raise DataError(
            Problem(str(path), "", "an empty file", "a table with the names of its columns first")
        )


def _cells(where: str, header: list[str], cells: list[str]) -> Row:
    """The row of these cells; those missing at the end are empty."""
    if len(cells) > len(header) and any(map(str.strip, cells[len(header) :])):
        found, wanted = f"{len(cells)} cells", f"at most {len(header)}, one per column"
        raise DataError(Problem(where, "", found, wanted, "check the quotes and the delimiter"))
    return Row(where, dict(zip(header, cells + [""] * (len(header) - len(cells)), strict=False)), True)


def _text(path: Path, how: Reading) -> str:
    """The text of a file: UTF-8, or else the encoding that the map names."""
    data = read_bytes(path, max_bytes=None)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        try:
            return data.decode(how.encoding)
        except (UnicodeDecodeError, LookupError):
            (problem,) = bad_byte(str(path), 0, wrong).problems
            advice = 'name its encoding in the map, such as [table] encoding = "latin-1"'
            raise DataError(
                Problem(problem.file, problem.place, problem.found, problem.expected, advice)
            ) from wrong
