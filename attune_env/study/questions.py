"""`Asking` and `QuestionPage`: what a study asks about each turn, and on further pages."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from attune_data.errors import show
from attune_data.format.constants import BINARY_IDS
from attune_data.format.schema import Demographics
from attune_env.study.parts import Id, Part, Text, wrong

LISTS: Final = ("work_edu_background", "diagnoses")
"""The fields of the demographics that hold several answers."""


class Asking(Part):
    """The questions about each turn."""

    binary: tuple[str, ...] = BINARY_IDS[:20]
    """The ids of the yes/no questions; in the file, also "core" or "all"."""
    drawn: Annotated[int, Field(ge=0, le=16)] = 3
    """Comparison questions drawn for each turn, besides the general one."""
    codebook: str | None = None
    """A file with the wording of the questions; None for the one of this package."""

    @field_validator("binary", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        named = {"core": BINARY_IDS[:20], "all": BINARY_IDS}
        if isinstance(value, str) and value in named:
            return named[value]
        given = value if isinstance(value, list | tuple) else [value]
        if unknown := [one for one in given if one not in BINARY_IDS]:
            raise wrong(f'"core", "all" or a list of ids such as ["B1", "B13"]; {show(unknown[0])} is none')
        return tuple(dict.fromkeys(given))


class Question(Part):
    """A question of a further page."""

    name: Id
    text: Text
    kind: Literal["one", "many", "text", "long", "number", "scale"] = "one"
    options: tuple[Text, ...] = ()
    low: int = 1
    high: int = 7
    ends: tuple[str, str] = ("", "")
    """The meanings of the two ends of a scale."""
    required: bool = True
    field: str | None = None
    """Where the answer goes in the participant's profile; it is beside the conversations in any case."""
    reverse: bool = False
    """Whether the score of the page counts the answer from the other end."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.kind in ("one", "many")) != bool(self.options):
            raise wrong('options where the kind is "one" or "many", and nowhere else')
        if self.low >= self.high or (self.kind == "scale" and self.high - self.low > 10):
            raise wrong("low below high, and a scale of at most 11 points")
        if self.field is not None:
            self._check_field(self.field)
        return self

    def _check_field(self, field: str) -> None:
        part, _, name = field.partition(".")
        numbers = self.kind in ("number", "scale")
        if part == "computed_scores" and name:
            if not numbers:
                raise wrong('kind = "number" or "scale" for a computed score')
        elif part != "demographics" or name not in Demographics.model_fields:
            known = ", ".join(f"demographics.{name}" for name in Demographics.model_fields)
            raise wrong(f"as field one of {known}, or computed_scores.NAME, not {show(field)}")
        elif (name in LISTS) != (self.kind == "many") or numbers:
            raise wrong(f'kind = "many" for {" and ".join(LISTS)}, and "one" or "text" for the others')


class QuestionPage(Part):
    """A further page of questions."""

    title: Text
    text: str = ""
    when: Literal["before", "after"] = "before"
    questions: Annotated[tuple[Question, ...], Field(min_length=1)]
    score: Id | None = None
    """The name under which the sum of its scales and numbers goes into the profile's computed scores."""

    @property
    def id(self) -> str:
        """The name of its step, which stays the same when pages are added before it during a study."""
        return self.questions[0].name
