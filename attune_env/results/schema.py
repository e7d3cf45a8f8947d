"""The schema of a scores file, checked before anything is computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from attune_data.errors import DataError, Problem, show
from attune_data.format.json_schema import schema_of
from attune_data.format.validate import problems_of

LARGEST: Final = 1e6
"""Larger than any metric; means of numbers close to the largest float would overflow."""
SHOWN: Final = 20
"""Most problems listed for one file, since one wrong field may occur in thousands of entries."""
SCORES: Final = (
    "A file of scores from `attune score`. Beyond this schema, the same models and modes are in "
    "`conversations` and `aggregates`, and what occurs twice has the same scores."
)
_ADVICE: Final = "make the file again with `attune score`"


def _number(value: object) -> object:
    if value is None or (type(value) in (int, float) and abs(value) <= LARGEST):  # type: ignore[arg-type]
        return value
    raise PydanticCustomError("expected", "a metric's value or null")


def _metric(value: object) -> object:
    """Check that a metric is a number or an object of numbers, since means would ignore anything else."""
    for number in value.values() if isinstance(value, Mapping) else (value,):
        _number(number)
    return value


_Written = Annotated[float, Field(ge=-LARGEST, le=LARGEST)] | None
Number = Annotated[Any, BeforeValidator(_number, json_schema_input_type=_Written)]
Metric = Annotated[Any, BeforeValidator(_metric, json_schema_input_type=_Written | dict[str, _Written])]
Times = Annotated[int, Field(ge=0, le=LARGEST)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Turn(_Part):
    __pydantic_extra__: dict[str, Number]
    turnNumber: int


class _Post(_Part):
    __pydantic_extra__: dict[str, Number]
    four_branch_per_branch: dict[str, Number] | None = None


class _Marks(_Part):
    outcomes: dict[str, Times]


class _Entry(_Part):
    __pydantic_extra__: dict[str, Metric]
    conversationId: str
    em_model: str
    mode: str
    attune: _Marks
    post_score: _Post
    unscored_share: Number
    strict_parts: dict[str, Number] = {}
    turn_scores: list[_Turn] | None = None
    fully_annotated: Any = None
    source_result: Any = None


class _Group(_Part):
    em_model: str
    mode: str
    composite_score: Number = None
    composite_strict: Number = None
    parse_rate: Number = None
    answered_share: Number = None
    unscored_share: Number = None


class _Data(_Part):
    fingerprint: str
    provenance: str


class _Settings(_Part):
    scoring: Literal["canonical", "strict"]


class _Metadata(_Part):
    data: _Data
    settings: _Settings
    where: str | None = None


class _Scores(_Part):
    metadata: _Metadata
    conversations: list[_Entry] = Field(min_length=1)
    aggregates: list[_Group]


def scores_schema() -> dict[str, Any]:
    """The JSON Schema of a scores file."""
    return schema_of(_Scores, "scores", SCORES)


def check_scores(scores: Mapping[str, Any], file: str) -> None:
    """Raise DataError unless `metadata`, `conversations` and `aggregates` are as `attune score` writes."""
    try:
        _Scores.model_validate(scores)
    except ValidationError as error:
        raise DataError(problems_of(error, file, advice=_ADVICE)[:SHOWN]) from None
    found = [Problem(file, *odd, _ADVICE) for odd in (*_unmatched(scores), *_contradictory(scores))]
    if found:
        raise DataError(found[:SHOWN])


def _unmatched(scores: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Find (model, mode) pairs that are scored but have no mean, or the reverse."""
    scored, meant = (
        {(e["em_model"], e["mode"]): f"{part}[{i}]" for i, e in reversed([*enumerate(scores[part])])}
        for part in ("conversations", "aggregates")
    )
    for ours, theirs, missing in ((scored, meant, "aggregates"), (meant, scored, "conversations")):
        for key in ours:
            if key not in theirs:
                found = f"{show(key[0])} in mode {show(key[1])}"
                yield ours[key], found, f"a model and mode that are also in {missing}"


def _contradictory(scores: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Find conversations that occur twice for one model and mode with different scores."""
    first: dict[tuple[str, str, str], int] = {}
    for index, entry in enumerate(scores["conversations"]):
        before = first.setdefault((entry["conversationId"], entry["em_model"], entry["mode"]), index)
        if entry != scores["conversations"][before]:
            found = f"different scores for {show(entry['conversationId'])} than in conversations[{before}]"
            yield f"conversations[{index}]", found, "each conversation of a model and mode once"
