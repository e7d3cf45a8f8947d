"""Read our own additions to result files leniently, since they may be missing or malformed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def marks_of(part: object) -> Mapping[str, Any]:
    """The `attune` entry of a result file, a turn or the post part; {} if there is none."""
    return mapping(mapping(part).get("attune"))


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, otherwise {}."""
    return value if isinstance(value, Mapping) else {}


def parts_of(record: Mapping[str, Any]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """Yield (turn number, part) for each valid turn, then (None, post part)."""
    turns = record.get("turns")
    for entry in turns if isinstance(turns, list) else ():
        if isinstance(entry, Mapping) and type(entry.get("turnNumber")) is int:
            yield entry["turnNumber"], entry
    yield None, mapping(record.get("post_conversation"))
