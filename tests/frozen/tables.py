"""The report's tables: the CSV files that `attune report -o` writes over models with planted effects."""

from __future__ import annotations

import contextlib
import csv
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.command import attune_here
from tests.frozen.keeping import digest
from tests.report.analyses import planted

Json = dict[str, Any]
PEOPLE = 16
MODELS = ("good", "worse", "misreads-diagnosed", "sees-not-wants", "position-biased", "tuned-0", "tuned-400")
LONG = 40
"""Rows of a table that are all kept; of a longer one about a tenth, drawn by their texts.

So a new row, such as that of a new metric, draws no others.
"""
TITLE = re.compile(r"^### (?P<section>.+)$|\(\[CSV\]\(tables/(?P<file>[^)]+)\)\)", re.MULTILINE)


def report(place: Path) -> Json:
    """Table -> the section of the report that shows it, its columns, number of rows, and rows."""
    readers = tuple(planted.reader(name) for name in MODELS)
    with (
        patch.object(planted.results_of, "__defaults__", (readers, "default", None)),
        contextlib.chdir(place),
    ):
        planted.write(Path("made"), PEOPLE)
    attune_here("report --scores made/scores.json -o report --formats svg --no-conversations", place)
    attune_here("stats made/scores.json --all -o stats.csv", place)
    sections = _sections((place / "report" / "report.md").read_text("utf-8"))
    files = [*sorted((place / "report" / "tables").glob("*.csv")), place / "stats.csv"]
    return {path.name: {"section": sections.get(path.name), **_table(path)} for path in files}


def _sections(markdown: str) -> dict[str, str]:
    """File -> title of its section."""
    found, section = {}, ""
    for match in TITLE.finditer(markdown):
        if match["section"]:
            section = match["section"]
        else:
            found[match["file"]] = section
    return found


def _table(path: Path) -> Json:
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    values = [[_value(cell) for cell in row] for row in rows]
    drawn = values if len(rows) <= LONG else list(filter(_drawn, values))
    return {"columns": header, "number of rows": len(rows), "rows": drawn}


def _drawn(row: list[str | int | float]) -> bool:
    texts = [value for value in row if isinstance(value, str)]
    return int(digest(texts), 16) % 10 == 0


def _value(cell: str) -> str | int | float:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(cell)
    return cell
