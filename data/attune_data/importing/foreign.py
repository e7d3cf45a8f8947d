"""Fields of other people's JSON, taken out by name and kind; the first that is not as expected is named.

Absent and null are the same here: nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attune_data.errors import DataError, Problem, show


@dataclass(frozen=True, slots=True)
class Part:
    """An object of a foreign file, with its place."""

    fields: Mapping[str, Any]
    file: str
    place: str
    """Where it stands in the file, such as `[12].dialog[3]`; "" for the whole file or line."""
    advice: str
    """What to do where the file is not of the format; said with every problem."""

    @classmethod
    def of(cls, value: object, file: str, place: str, expected: str, advice: str) -> Part:
        """The object in `value`; raises DataError where it is none."""
        if not isinstance(value, dict):
            raise DataError(Problem(file, place, _brief(value), expected, advice))
        return cls(value, file, place, advice)

    def differs(self, name: str, expected: str) -> DataError:
        """The error that says what stands in a field, and what was expected there."""
        value = self.fields.get(name)
        found = "nothing" if name not in self.fields else _brief(value)
        return DataError(Problem(self.file, self.at(name), found, expected, self.advice))

    def at(self, name: str) -> str:
        """The place of a field."""
        return f"{self.place}.{name}" if self.place else name

    def text(self, name: str) -> str | None:
        """A text, or nothing."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise self.differs(name, "text")
        return value

    def needed_text(self, name: str, expected: str = "text") -> str:
        """A text that must be there."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise self.differs(name, expected)
        return value

    def whole(self, name: str, expected: str) -> int:
        """A whole number from 0 up that must be there; 2.0 and "2" are numbers too."""
        value = _number(self.fields.get(name))
        if value is None or value < 0 or not value.is_integer():
            raise self.differs(name, expected)
        return int(value)

    def number(self, name: str, low: float, high: float) -> float | None:
        """A number in [low, high], as a number or as text; nothing where it is absent, null or blank."""
        given = self.fields.get(name)
        if given is None or (isinstance(given, str) and not given.strip()):
            return None
        value = _number(given)
        if value is None or not low <= value <= high:
            raise self.differs(name, f"a number from {low:g} to {high:g}")
        return value

    def part(self, name: str) -> Part | None:
        """An object, or nothing."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.differs(name, "an object")
        return Part(value, self.file, self.at(name), self.advice)

    def parts(self, name: str, expected: str) -> Iterator[Part]:
        """The objects of a list that must be there."""
        values = self.fields.get(name)
        if not isinstance(values, list):
            raise self.differs(name, expected)
        for index, value in enumerate(values):
            yield Part.of(value, self.file, f"{self.at(name)}[{index}]", "an object", self.advice)


def missing(path: object, expected: str) -> DataError:
    """The error for a path where nothing is."""
    advice = "check the path (quote it if it holds spaces)"
    return DataError(Problem(str(path), "", "no such file or folder", expected, advice))


def _number(value: object) -> float | None:
    """The finite number that a value is or spells; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _brief(value: object) -> str:
    """`value` for a message: objects and lists by their kind, everything else as it stands."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return show(value)
