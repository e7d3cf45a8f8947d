"""Reading the values of a result record: what has a wrong type is unanswered and named in a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attune_data import affect
from attune_data.aliases import INTENSITIES, read_answer
from attune_data.errors import Problem, show
from attune_rewards.predictions import Tag, YesNo

MAX_LISTED = 1_000
"""Warnings listed of one record: each takes several hundred bytes, what it warns of may take two."""


def _brief(value: object) -> str:
    """`show`, without spelling out what would be cut off anyway."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return show(value[:200] if isinstance(value, str) else value)


def _is_long(value: object) -> bool:
    """Whether it is too long a text for any spelling: folding its case would take 12 times its length."""
    return isinstance(value, str) and len(value) > 100


def known_emotion(name: str) -> str | None:
    """The item's own spelling of an emotion; None if it is none of the 20."""
    return None if _is_long(name) else affect.canonical_emotion(name)


def _short(place: str) -> str:
    return place if len(place) <= 200 else f"{place[:200]}…"


class Reader:
    """Reads one record, collecting a warning for every part of a wrong type."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.warnings: list[Problem] = []
        self.unlisted = 0

    def warn(self, place: str, value: object, expected: str) -> None:
        """Notes that `value` at `place` is not `expected` and counts as unanswered."""
        if len(self.warnings) >= MAX_LISTED:
            self.unlisted += 1
            return
        self.warnings.append(
            Problem(self.file, _short(place), _brief(value), expected, "counted as unanswered", "warning")
        )

    def all_warnings(self) -> tuple[Problem, ...]:
        """Those listed, and how many there are beyond."""
        if not self.unlisted:
            return tuple(self.warnings)
        rest = Problem(self.file, "", f"{self.unlisted} more such values", "none", severity="warning")
        return (*self.warnings, rest)

    def mapping(self, value: object, place: str) -> Mapping[str, Any] | None:
        """An object, or None (with a warning unless it is absent)."""
        if value is None or isinstance(value, Mapping):
            return value
        self.warn(place, value, "an object")
        return None

    def text(self, value: object, place: str) -> str | None:
        """Text, or None."""
        if value is None or isinstance(value, str):
            return value
        self.warn(place, value, "text")
        return None

    def texts(self, value: object, place: str) -> tuple[str, ...] | None:
        """A list of texts, or None; elements of other types are left out."""
        if value is None:
            return None
        if not isinstance(value, list):
            self.warn(place, value, "a list of texts")
            return None
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self.warn(f"{place}[{index}]", item, "text")
        return tuple(item for item in value if isinstance(item, str))

    def answers(self, value: object, place: str) -> dict[str, YesNo] | None:
        """Question id -> yes/no; `na` and unknown values are left out as unanswered."""
        found = self.mapping(value, place)
        if found is None:
            return None
        answers: dict[str, YesNo] = {}
        for question, given in found.items():
            answer = None if _is_long(given) else read_answer(given)
            if answer == "yes" or answer == "no":
                answers[question] = answer
            elif answer is None and given is not None:
                self.warn(f"{place}.{question}", given, '"yes" or "no"')
        return answers

    def ratings(self, value: object, place: str, low: float, high: float) -> dict[str, float]:
        """Name -> number within the scale; others are left out."""
        ratings: dict[str, float] = {}
        for name, given in (self.mapping(value, place) or {}).items():
            if type(given) in (int, float) and low <= given <= high:
                ratings[name] = given
            elif given is not None:
                self.warn(f"{place}.{name}", given, f"a number from {low:g} to {high:g}")
        return ratings

    def whole(self, value: object, place: str, low: int, high: int) -> dict[str, int]:
        """Name -> whole number within the scale; others are left out."""
        ratings = self.ratings(value, place, low, high)
        for name in [name for name, rating in ratings.items() if rating != int(rating)]:
            self.warn(f"{place}.{name}", ratings.pop(name), f"a whole number from {low} to {high}")
        return {name: int(rating) for name, rating in ratings.items()}

    def tags(self, value: object, place: str) -> tuple[Tag, ...] | None:
        """Emotion tags, or None; elements that name no emotion are left out."""
        if value is None:
            return None
        if not isinstance(value, list):
            self.warn(place, value, "a list of tags")
            return None
        tags = []
        for index, entry in enumerate(value):
            name = entry.get("emotion") if isinstance(entry, Mapping) else entry
            if not isinstance(name, str):
                self.warn(f"{place}[{index}]", entry, "a tag with an emotion")
                continue
            given = entry.get("intensity") if isinstance(entry, Mapping) else None
            intensity = read_intensity(given)
            if intensity is None and given is not None:
                self.warn(f"{place}[{index}].intensity", given, "a whole number from 1 to 7")
            tags.append(Tag(known_emotion(name) or name, intensity))
        return tuple(tags)


_DIGITS = frozenset("1234567")


def read_intensity(value: object) -> int | None:
    """1–7 for a whole number in that range (digits in quotes too) or mild, moderate, intense; else None."""
    if isinstance(value, str):
        text = "" if _is_long(value) else value.strip().casefold()
        value = int(text) if text in _DIGITS else INTENSITIES.get(text)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 1 <= value <= 7 else None
