"""How single values of the format are read: every accepted spelling, every refusal with what was expected."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from attune_data import affect, aliases
from attune_data.constants import Answer, ResponseName, Side


def expected(text: str) -> PydanticCustomError:
    """The error that a refused value becomes; `validate` turns it into a `Problem` with its place."""
    return PydanticCustomError("expected", "{expected}", {"expected": text})


def _answer(value: object) -> object:
    if value is None:
        return None
    if (answer := aliases.read_answer(value)) is None:
        raise expected('"yes", "no" or "na"')
    return answer


def _response(value: object) -> object:
    if isinstance(value, str) and value in aliases.RESPONSE_NAMES:
        return aliases.RESPONSE_NAMES[value]
    raise expected('"original", "alternate" or "human"')


def _winner(value: object) -> object:
    if value is None:
        return None
    if isinstance(value, str) and value in aliases.WINNERS:
        return aliases.WINNERS[value]
    raise expected('"A" or "B" (null if none was annotated)')


def _emotion(value: object) -> object:
    name = affect.canonical_emotion(value) if isinstance(value, str) else None
    if name is None:
        raise expected(f"one of the 20 PANAS items: {', '.join(affect.EMOTIONS)}")
    return name


def _rating(value: object, or_words: str = "") -> object:
    if value is None or (type(value) is int and 1 <= value <= 7):
        return value
    if isinstance(value, float) and value.is_integer() and 1 <= value <= 7:
        return int(value)
    raise expected(f"a whole number from 1 to 7{or_words}")


def _intensity(value: object) -> object:
    if isinstance(value, str):
        value = aliases.INTENSITIES.get(value.strip().casefold(), value)
    return _rating(value, " (or mild, moderate, intense)")


AnswerField = Annotated[Answer | None, BeforeValidator(_answer)]
ResponseField = Annotated[ResponseName, BeforeValidator(_response)]
WinnerField = Annotated[Side | None, BeforeValidator(_winner)]
IntensityField = Annotated[int | None, BeforeValidator(_intensity)]
EmotionField = Annotated[str, BeforeValidator(_emotion)]
Rating = Annotated[int | None, BeforeValidator(_rating)]


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
