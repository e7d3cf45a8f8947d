"""PRISM's survey: the demographics that mean the same here, by participant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from attune_data.errors import DataError, Problem, show
from attune_data.importing.foreign import Part
from attune_data.jsonio import parse_json, read_text

CONVERSATIONS: Final = "conversations.jsonl"
SURVEY: Final = "survey.jsonl"

FIELDS: Final[Mapping[str, str]] = {
    "age": "age_range",
    "gender": "gender",
    "education": "education",
    "english_proficiency": "english_proficiency",
}
"""Field of the survey -> field of `demographics`; the country of residence stands in `location`."""
_ADVICE: Final = f"is this PRISM's {SURVEY}? without the file the conversations come without demographics"
_UNSAID: Final = "prefer not to say"


@dataclass(frozen=True, slots=True)
class Survey:
    """What the survey says."""

    people: Mapping[str, Mapping[str, str]]
    """Participant -> their demographics, by the names they have here; those not stated are missing."""
    other_fields: int
    """How many fields of how many participants there are besides."""


def read_survey(path: Path) -> Survey:
    """The survey in a file; an empty one where there is no such file.

    Raises DataError at the first place that is not of the format, or where a participant stands twice.
    """
    if not path.exists():
        return Survey({}, 0)
    others = 0
    people: dict[str, dict[str, str]] = {}
    for number, line in enumerate(read_text(path, None).split("\n"), 1):
        if not line or line.isspace():
            continue
        where = f"{path}:{number}"
        row = Part.of(parse_json(line, where), where, "", "an answered survey with user_id", _ADVICE)
        user = row.needed_text("user_id", "the participant's id")
        if user in people:
            raise DataError(
                Problem(where, "user_id", f"{show(user)} again", "each participant once", "remove the copy")
            )
        people[user] = _demographics(row)
        others += len(row.fields.keys() - FIELDS.keys() - {"user_id", "location"})
    return Survey(people, others)


def _demographics(row: Part) -> dict[str, str]:
    said = {ours: row.text(theirs) for theirs, ours in FIELDS.items()}
    location = row.part("location")
    said["country"] = location.text("reside_country") if location else None
    known = {name: text for name, text in said.items() if text and text.casefold() != _UNSAID}
    if "age_range" in known:
        known["age_range"] = known["age_range"].removesuffix(" years old")
    return known
