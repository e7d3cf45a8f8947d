"""Ids of imported records: of the conversation and of the person."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from attune_data.importing.imported import Origin
from attune_data.importing.table import Row


class Names(NamedTuple):
    """The identifying fields of a record."""

    fields: dict[str, Any]
    """`conversationId`, `provenance`, and the profile with the person's id, if the source has one."""
    record: str
    """Its place in the source, without folders: `metadata.record`."""


def prefix_of(origin: Origin, table: str, split: str | None) -> str:
    """The beginning of a table's conversation ids: its data set, its name and its split.

    >>> prefix_of(Origin("My votes", "CC0-1.0"), "votes/train.jsonl", None)
    'my-votes-train'
    """
    parts = (_slug(origin), Path(table).stem[:60], split)
    return "-".join(part for part in parts if part)[:120]


def names_in(
    row: Row, prefix: str, number: int, origin: Origin, *, id: str | None, person: str | None
) -> Names:
    """The names of the record that a row makes, the one of that number in its table.

    Args:
        row: the (first) row of the record.
        prefix: begins the conversation's id, so that tables can be mixed (`prefix_of`).
        number: stands in for the id of the source.
        origin: begins the person's id, so that the people of several tables of a data set are the same.
        id: the column of the id, if there is one.
        person: the column of the person, if there is one.
    """
    own = row.name(id) or str(number)
    who = row.name(person)
    fields: dict[str, Any] = {
        "conversationId": f"{prefix}-{own}"[:200],
        "provenance": "imported",
        "participant_profile": None if who is None else {"participant_id": f"{_slug(origin)}-{who}"},
    }
    return Names(fields, Path(row.where).name)


def _slug(origin: Origin) -> str:
    return re.sub(r"\W+", "-", origin.dataset.casefold()).strip("-")
