"""The fields of a form: how each is shown, and how what is sent for it is read."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from attune_episodes.parsing import sound

Kind = Literal["tick", "one", "many", "scale", "strength", "number", "text", "long"]
Form = Mapping[str, Sequence[str]]
"""Name -> the values sent for it."""
MOST_OF_A_LINE: Final = 500
"""Characters of a short answer."""
_KEPT: Final = "\n\t"


@dataclass(frozen=True)
class Field:
    """One question of a page."""

    name: str
    text: str
    kind: Kind
    options: tuple[tuple[str, str], ...] = ()
    """(value, label) of each choice."""
    required: bool = True
    help: str = ""
    group: str = ""
    """The question that it shares with its neighbours; "" if it stands alone."""
    low: int = 1
    high: int = 7
    ends: tuple[str, str] = ("", "")
    """What the ends of a scale mean."""
    most: int = MOST_OF_A_LINE
    """The most characters of a text."""
    given: Any = None
    """What stands there at first."""
    reply: str = ""
    """A text that is shown with it."""

    @property
    def steps(self) -> range:
        """The values of a scale."""
        return range(self.low, self.high + 1)

    def read(self, form: Form) -> tuple[Any, str]:
        """The answer in a form, and the name of what is wrong with it ("" for nothing)."""
        sent = [clean(value).strip() for value in form.get(self.name, ())]
        value = sent[-1] if sent else ""
        if self.kind == "tick":
            return bool(sent), "must_tick" if self.required and not sent else ""
        if self.kind == "many":
            known = [option for option, _ in self.options]
            if not set(sent) <= set(known):
                return sent, "no_option"
            return [one for one in known if one in sent], "missing_many" if self.required and not sent else ""
        if not value:
            return None, "missing" if self.required else ""
        if self.kind in ("text", "long"):
            return value, "too_long" if len(value) > self.most else ""
        if self.kind == "one":
            return value, "" if value in dict(self.options) else "no_option"
        number = _number(value, whole=self.kind != "number")
        if number is None or not self.low <= number <= self.high:
            return value, "no_number"
        return number, ""


def _number(text: str, *, whole: bool) -> float | int | None:
    if len(text) > 20 or not text.isascii():
        return None
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_form(fields: Sequence[Field], form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    """The answers to all fields, and what is wrong: field -> name of the trouble."""
    answers, troubles = {}, {}
    for field in fields:
        answers[field.name], trouble = field.read(form)
        if trouble:
            troubles[field.name] = trouble
    return answers, troubles


def clean(text: str) -> str:
    """A text as it is kept: line ends as line feeds, no control characters, no half characters."""
    text = sound(text.replace("\r\n", "\n").replace("\r", "\n"))
    if text.isprintable():
        return text
    return "".join(c for c in text if c in _KEPT or unicodedata.category(c) not in ("Cc", "Cs"))
