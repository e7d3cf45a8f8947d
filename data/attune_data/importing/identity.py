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


def names_in(
    row: Row, table: str, number: int, origin: Origin, *, id: str | None, person: str | None
) -> Names:
    """The names of the record that a row makes, the one of that number in its table.

    Args:
        row: the (first) row of the record.
        table: the path or name of the table, whose last part begins the conversation's id.
        number: stands in for the id of the source.
        origin: begins the person's id, so that the people of several tables of a data set are the same.
        id: the column of the id, if there is one.
        person: the column of the person, if there is one.
    """
    own = row.name(id, "columns.id") or str(number)
    who = row.name(person, "columns.person")
    data_set = re.sub(r"\W+", "-", origin.dataset.casefold()).strip("-")
    fields: dict[str, Any] = {
        "conversationId": f"{Path(table).stem[:90]}-{own}"[:200],
        "provenance": "imported",
        "participant_profile": None if who is None else {"participant_id": f"{data_set}-{who}"},
    }
    return Names(fields, Path(row.where).name)
