"""How the format's fields are read: every accepted name and spelling, and the errors for all others.

Older files of the benchmark and results of its public port use other names. Reading maps them to the format's
own; writing uses the format's own only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar
from weakref import WeakValueDictionary

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from attune_data.format import affect
from attune_data.format.constants import Answer, ResponseName, Side

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "conversationId": ("conversation_id",),
    "participant_profile": ("participantProfile",),
    "prePanas": ("pre_panas",),
    "postPanas": ("post_panas",),
    "conversationWideQuestions": ("conversation_wide_questions",),
    "fourBranchScores": ("four_branch_scores",),
    "q1_lookingFor": ("Q1", "q1"),
    "q2_emotionClarity": ("Q2", "q2"),
    "q3_modelFit": ("Q3", "q3"),
    "q3_followUp_whatFeltOff": ("Q3_followUp", "q3_followUp"),
    "turnNumber": ("turn_number",),
    "userMessage": ("user_message",),
    "llmResponse": ("llm_response",),
    "moodShiftTags": ("mood_shift_tags",),
    "binaryJudgements": ("binaryJudgments", "binary_judgements"),
    "alternateResponses": ("alternate_responses",),
    "llmImproved": ("alternate1", "llm_improved"),
    "humanEdited": ("alternate2", "human_edited"),
    "pairwiseComparisons": ("pairwise_comparisons",),
    "selectedPairwiseQuestions": ("selected_pairwise_questions",),
    "questionId": ("question_id",),
    "observedBehavior": ("did_occur", "humanValue", "actualValue"),
    "preferredBehavior": ("should_occur", "humanPreference"),
    "llmValue": ("llm_value",),
    "responseA": ("response_1", "response_a"),
    "responseB": ("response_2", "response_b"),
}
"""Format name -> other names, in the order in which they are tried. `llmValue` replaces an absent
observed value when scoring; it is a separate field, not an alias."""

ANSWERS: Final[dict[object, Answer]] = {
    "yes": "yes",
    "no": "no",
    "na": "na",
    "y": "yes",
    "n": "no",
    "true": "yes",
    "false": "no",
    "n/a": "na",
    "not applicable": "na",
}
"""Case-folded text -> answer; booleans are read as yes and no."""

WINNERS: Final[dict[object, Side]] = {
    "A": "A",
    "B": "B",
    "a": "A",
    "b": "B",
    "response_1": "A",
    "response_2": "B",
    "responseA": "A",
    "responseB": "B",
}

RESPONSE_NAMES: Final[dict[object, ResponseName]] = {
    "original": "original",
    "alternate": "alternate",
    "human": "human",
    "alternate1": "alternate",
    "alternate2": "human",
    "llmImproved": "alternate",
    "humanEdited": "human",
}

INTENSITIES: Final[dict[object, int]] = {"mild": 2, "moderate": 4, "intense": 6}


def read_answer(value: object) -> Answer | None:
    """Read yes, no or na in any accepted spelling (booleans too); None if `value` is none of them."""
    if value is True:
        return "yes"
    if value is False:
        return "no"
    if not isinstance(value, str):
        return None
    return ANSWERS.get(value) or ANSWERS.get(value.strip().casefold())


def expected(text: str) -> PydanticCustomError:
    """The error for an invalid value; `validate` turns it into a `Problem` with its place."""
    return PydanticCustomError("expected", "{expected}", {"expected": text})


def _read(
    look_up: Callable[[Any], object], text: str, written: Any, *, optional: bool = True
) -> BeforeValidator:
    """Read a value by a table of spellings; null is accepted if the value may be left out.

    `written` is the type of the values as the format writes them, for its JSON Schema.
    """

    def read(value: object) -> object:
        if value is None and optional:
            return None
        if (found := look_up(value)) is None:
            raise expected(text)
        return found

    return BeforeValidator(read, json_schema_input_type=written | None if optional else written)


def _in(table: Mapping[object, object]) -> Callable[[object], object]:
    return lambda value: table.get(value) if isinstance(value, str) else None


def _emotion(value: object) -> str | None:
    return affect.canonical_emotion(value) if isinstance(value, str) else None


def _rating(value: object) -> int | None:
    whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and 1 <= value <= 7 else None  # type: ignore[call-overload, operator]


def _intensity(value: object) -> int | None:
    if isinstance(value, str):
        return INTENSITIES.get(value.strip().casefold())
    return _rating(value)


_RATING = "a whole number from 1 to 7"
_SIDE = '"A" or "B" (null if none was annotated)'
_NAME = '"original", "alternate" or "human"'
_ITEM = f"one of the 20 PANAS items: {', '.join(affect.EMOTIONS)}"
_SEVEN = Annotated[int, Field(ge=1, le=7)]
AnswerField = Annotated[Answer | None, _read(read_answer, '"yes", "no" or "na"', Answer)]
ResponseField = Annotated[ResponseName, _read(_in(RESPONSE_NAMES), _NAME, ResponseName, optional=False)]
WinnerField = Annotated[Side | None, _read(_in(WINNERS), _SIDE, Side)]
IntensityField = Annotated[int | None, _read(_intensity, f"{_RATING} (or mild, moderate, intense)", _SEVEN)]
EmotionField = Annotated[str, _read(_emotion, _ITEM, Literal[affect.EMOTIONS], optional=False)]
Rating = Annotated[int | None, _read(_rating, _RATING, _SEVEN)]


class Record(BaseModel):
    """Base of all parts of the format: frozen, unknown fields kept."""

    model_config = ConfigDict(frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True)


R = TypeVar("R", bound=Record)
_parts: Final[WeakValueDictionary[tuple[object, ...], Any]] = WeakValueDictionary()


def _one_of_equals(part: R) -> R:
    """The part that stands for all parts with these values and the same fields present."""
    if part.__pydantic_extra__:
        return part
    key = (type(part), *part.__dict__.values(), *part.__pydantic_fields_set__)
    known: R = _parts.setdefault(key, part)
    return known


Shared = Annotated[R, AfterValidator(_one_of_equals)]
"""A part of a kind that recurs hundreds of times per conversation with few different values.

Equal ones are a single object; apart, they would take four fifths of a conversation's memory.
"""


def named(name: str, **kwargs: Any) -> Any:
    """A field that is called `name` in files and also accepted under its aliases."""
    return Field(
        validation_alias=AliasChoices(name, *FIELDS.get(name, ())),
        serialization_alias=name,
        **kwargs,
    )
