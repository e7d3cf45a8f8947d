"""`Part`: what all tables of a study's `study.toml` have in common."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

Text = Annotated[str, Field(min_length=1, max_length=50_000)]


def wrong(text: str) -> PydanticCustomError:
    """The error for a value that does not fit; `text` says what is expected."""
    return PydanticCustomError("expected", "{expected}", {"expected": text})


def like(pattern: str, text: str) -> AfterValidator:
    """A check of a text's form; `text` describes it."""

    def check(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise wrong(text)
        return value

    return AfterValidator(check)


Id = Annotated[str, like(r"[a-z][a-z0-9_]{0,39}", 'small letters, digits and "_", such as age_range')]


class Part(BaseModel):
    """Base of all tables of the file: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)
