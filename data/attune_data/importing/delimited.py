"""Read files of delimited cells: CSV and its relatives."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict

from attune_data.errors import DataError, Problem
from attune_data.format.fields import expected
from attune_data.jsonio import MAX_BYTES, bad_byte, read_bytes

_QUOTES: Final[Mapping[str, str]] = {
    "unexpected end of data": "a quotation mark that opens a cell and is not closed",
    "expected after": "text after the quotation mark that closes a cell",
}
"""Part of what the reader says -> what is wrong with the quotation marks."""


def _delimiter(value: str) -> str:
    if len(value) != 1 or value in '"\r\n\0':
        raise expected('one character, such as ";"')
    return value


def _encoding(value: str) -> str:
    try:
        "a".encode(value)
    except (LookupError, ValueError) as error:
        raise expected("the name of an encoding, such as latin-1, cp1252 or utf-16") from error
    return value


class Reading(BaseModel):
    """How the files of a data set are read, where that differs from the usual."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    delimiter: Annotated[str, AfterValidator(_delimiter)] | None = None
    """Between the columns of a CSV file; by default, by its name: a comma, or a tab for `.tsv`."""
    quotes: bool = True
    """Whether double quotes enclose texts; otherwise, they are characters like any other."""
    encoding: Annotated[str, AfterValidator(_encoding)] = "utf-8"
    """Of CSV files that are not UTF-8."""
    further: bool = False
    """Whether lines of a CSV file may have more cells than there are columns; these are not read."""
    optional: tuple[str, ...] = ()
    """Columns of the map that some of its tables lack."""
    absent: dict[str, tuple[str, ...]] = {}
    """Column -> values that stand for an empty cell."""


def delimited(
    path: Path, how: Reading, delimiter: str, by: str
) -> tuple[Sequence[str], Iterator[tuple[str, Callable[[], dict[str, str]]]]]:
    """The columns of a file, and its rows with their places; lines without any text are left out.

    Raises DataError for an empty file, bytes that are no text, and stray quotation marks.
    """
    lines = _lines(path, how, delimiter, by)
    if (first := next(lines, None)) is None:
        wanted = "a table with the names of its columns first"
        raise DataError(Problem(str(path), "", "an empty file", wanted))
    header = [name.strip() for name in first[1]]
    return header, ((where, partial(_cells, where, header, cells, how, by)) for where, cells in lines)


def _lines(path: Path, how: Reading, delimiter: str, by: str) -> Iterator[tuple[str, list[str]]]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES))
    quoting: Any = csv.QUOTE_MINIMAL if how.quotes else csv.QUOTE_NONE
    text = io.StringIO(_text(path, how, by), newline="")
    # strict: otherwise, a stray quotation mark would swallow the following lines
    reader = csv.reader(text, delimiter=delimiter, quoting=quoting, strict=True)
    line = 1
    try:
        for cells in reader:
            where, line = f"{path}:{line}", reader.line_num + 1
            if any(map(str.strip, cells)):
                yield where, cells
    except csv.Error as error:
        found = next((said for part, said in _QUOTES.items() if part in str(error)), str(error))
        advice = (
            "double each quotation mark inside of them, or set quotes = false "
            f"in [table] of {by}, where all are ordinary characters"
        )
        wanted = "quotation marks around whole cells only"
        raise DataError(Problem(f"{path}:{line}", "", found, wanted, advice)) from error


def _cells(where: str, header: list[str], cells: list[str], how: Reading, by: str) -> dict[str, str]:
    """The row of these cells; those missing at the end are empty."""
    if not how.further and any(map(str.strip, cells[len(header) :])):
        found, wanted = f"{len(cells)} cells", f"at most {len(header)}, one per column"
        advice = f"check the quotes and the delimiter, or set further = true in [table] of {by}"
        raise DataError(Problem(where, "", found, wanted, advice))
    return dict(zip(header, cells + [""] * (len(header) - len(cells)), strict=False))


def _text(path: Path, how: Reading, by: str) -> str:
    """The text of a file: UTF-8, or else the encoding that the map names."""
    data = read_bytes(path, max_bytes=None)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        try:
            return data.decode(how.encoding)
        except UnicodeDecodeError:
            (problem,) = bad_byte(str(path), 0, wrong).problems
            wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            name = "utf-16" if wide else "latin-1"
            advice = f'name its encoding in [table] of {by}, such as encoding = "{name}"'
            raise DataError(replace(problem, advice=advice)) from wrong
