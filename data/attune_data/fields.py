"""How single values of the format are read: every accepted spelling, and the errors for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from attune_data import affect, aliases
from attune_data.constants import Answer, ResponseName, Side


def expected(text: str) -> PydanticCustomError:
    """The error for a refused value; `validate` turns it into a `Problem` with its place."""
    return PydanticCustomError("expected", "{expected}", {"expected": text})


def _read(look_up: Callable[[Any], object], text: str, *, optional: bool = True) -> BeforeValidator:
    """Read a value by a table of spellings; null stands where it may be left out."""

    def read(value: object) -> object:
        if value is None and optional:
            return None
        if (found := look_up(value)) is None:
            raise expected(text)
        return found

    return BeforeValidator(read)


def _in(table: Mapping[object, object]) -> Callable[[object], object]:
    return lambda value: table.get(value) if isinstance(value, str) else None


def _emotion(value: object) -> str | None:
    return affect.canonical_emotion(value) if isinstance(value, str) else None


def _rating(value: object) -> int | None:
    whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and 1 <= value <= 7 else None  # type: ignore[call-overload, operator]


def _intensity(value: object) -> int | None:
    if isinstance(value, str):
        return aliases.INTENSITIES.get(value.strip().casefold())
    return _rating(value)


_RATING = "a whole number from 1 to 7"
_SIDE = '"A" or "B" (null if none was annotated)'
_NAME = '"original", "alternate" or "human"'
_ITEM = f"one of the 20 PANAS items: {', '.join(affect.EMOTIONS)}"
AnswerField = Annotated[Answer | None, _read(aliases.read_answer, '"yes", "no" or "na"')]
ResponseField = Annotated[ResponseName, _read(_in(aliases.RESPONSE_NAMES), _NAME, optional=False)]
WinnerField = Annotated[Side | None, _read(_in(aliases.WINNERS), _SIDE)]
IntensityField = Annotated[int | None, _read(_intensity, f"{_RATING} (or mild, moderate, intense)")]
EmotionField = Annotated[str, _read(_emotion, _ITEM, optional=False)]
Rating = Annotated[int | None, _read(_rating, _RATING)]


class Record(BaseModel):
    """Base of all parts of the format: frozen, unknown fields kept."""

    model_config = ConfigDict(frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True)


def named(name: str, **kwargs: Any) -> Any:
    """A field called `name` in files, accepted under its aliases too."""
    return Field(
        validation_alias=AliasChoices(name, *aliases.FIELDS.get(name, ())),
        serialization_alias=name,
        **kwargs,
    )
