"""One condition on a conversation: a field, a comparison, and what it is compared with."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from attune_data.selection.diagnoses import folded, stated
from attune_data.selection.facts import Facts, Value, field_name

ORDERINGS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One value of the right-hand side."""

    text: str
    quoted: bool = False
    """A quoted word is always the word itself, never `any`, `none` or `unknown`."""

    def __str__(self) -> str:
        return '"' + self.text.replace('"', '""') + '"' if self.quoted else self.text

    @property
    def number(self) -> float | None:
        """The number that it is, if it is one."""
        return float(self.text) if _NUMBER.fullmatch(self.text) else None

    def equals(self, value: Value) -> bool:
        """Numbers by value; text without case, and whatever the blanks."""
        return self.number == value if isinstance(value, float) else folded(self.text) == folded(value)


@dataclass(frozen=True, slots=True)
class Condition:
    """`name comparison wanted|wanted…`; an ordering has exactly one wanted value, a number."""

    name: str
    """As the caller wrote it; `field` is what it stands for."""
    comparison: str
    """=, !=, <, <=, > or >=."""
    wanted: tuple[Wanted, ...]

    @property
    def field(self) -> str:
        """The field's name in the file."""
        return field_name(self.name)

    def __str__(self) -> str:
        return f"{self.name}{self.comparison}{'|'.join(map(str, self.wanted))}"

    def holds(self, facts: Facts) -> bool:
        """Whether a conversation with these facts meets it; what it does not state only meets `=unknown`."""
        values = facts.get(self.field, ())
        if compare := ORDERINGS.get(self.comparison):
            limit = self.wanted[0].number
            return limit is not None and any(isinstance(v, float) and compare(v, limit) for v in values)
        met = any(self._is(wanted, facts) for wanted in self.wanted)
        return met if self.comparison == "=" else not met and not self._unstated(facts)

    def is_word(self, wanted: Wanted) -> bool:
        """Whether a value is one of the words that stand for more than themselves."""
        words = {"any", "none", "unknown"} if self.field == "diagnoses" else {"unknown"}
        return not wanted.quoted and folded(wanted.text) in words

    def _is(self, wanted: Wanted, facts: Facts) -> bool:
        if self.is_word(wanted):
            word = folded(wanted.text)
            if word == "unknown" and self._unstated(facts):
                return True
            if word != "unknown":
                return _diagnosed(facts) == word
        return any(wanted.equals(value) for value in facts.get(self.field, ()))

    def _unstated(self, facts: Facts) -> bool:
        if self.field == "diagnoses":
            return _diagnosed(facts) == "unknown"
        return self.field not in facts


def _diagnosed(facts: Facts) -> str:
    values = facts.get("diagnoses")
    return stated(None if values is None else map(str, values))
