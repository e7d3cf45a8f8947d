"""Select conversations by their fields: `diagnosis=ADHD|Anxiety,category=Family,who_5<13`."""

from __future__ import annotations

import difflib
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from attune_data.errors import SettingsError, UnknownNameError, one_line, show
from attune_data.files.conversations import Conversations
from attune_data.format.schema import Conversation
from attune_data.selection.facts import ALIASES, Facts, Value, facts_of, field_name, fields_of, folded, stated

ORDERINGS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LEFT: Final = re.compile(r"\s*([^=!<>,|\"']+?)\s*(==|!=|<=|>=|=|<|>)")
_VALUE: Final = re.compile(
    r"""\s*(?:(?P<mark>["'])(?P<quoted>(?:(?!(?P=mark)).|(?P=mark){2})*)(?P=mark)"""
    r"""|(?P<plain>[^\s,|=<>!"'][^,|]*?))\s*(?P<end>[,|]|$)""",
    re.DOTALL,
)
_LISTED: Final = 12
"""How many values a message names before it only counts the rest."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One value of the right-hand side."""

    text: str
    quoted: bool = False
    """A quoted word is taken literally, never as `any`, `none` or `unknown`."""

    def __str__(self) -> str:
        return '"' + self.text.replace('"', '""') + '"' if self.quoted else self.text

    @property
    def number(self) -> float | None:
        """The value as a number, if it is one."""
        return float(self.text) if _NUMBER.fullmatch(self.text) else None

    def equals(self, value: Value) -> bool:
        """Numbers compare by value; text without regard to case and blanks."""
        return self.number == value if isinstance(value, float) else folded(self.text) == folded(value)


@dataclass(frozen=True, slots=True)
class Condition:
    """`name comparison wanted|wanted…`; an ordering has exactly one wanted value, a number."""

    name: str
    """The name as the caller wrote it; `field` is the resolved name."""
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
        """Whether a conversation with these facts meets it; an unstated field meets only `=unknown`."""
        values = facts.get(self.field, ())
        if compare := ORDERINGS.get(self.comparison):
            limit = self.wanted[0].number
            return limit is not None and any(isinstance(v, float) and compare(v, limit) for v in values)
        met = any(self._is(wanted, facts) for wanted in self.wanted)
        return met if self.comparison == "=" else not met and not self._unstated(facts)

    def is_word(self, wanted: Wanted) -> bool:
        """Whether a value is one of the words with a special meaning."""
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
        return _diagnosed(facts) == "unknown" if self.field == "diagnoses" else self.field not in facts


def _diagnosed(facts: Facts) -> str:
    values = facts.get("diagnoses")
    return stated(None if values is None else map(str, values))


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...]

    @classmethod
    def parse(cls, text: str) -> Where:
        """Parse `field=value,field<number,…`; raises SettingsError naming the place that cannot be read.

        A value that contains a comma or a bar must be quoted (" or '); inside quotes, the same quote is
        doubled.
        """
        if not isinstance(text, str):
            raise SettingsError(f'where is {show(text)}; expected a text such as "diagnosis=ADHD,who_5<13"')
        conditions, at, end = [], 0, ","
        while end == ",":
            left = _LEFT.match(text, at)
            if left is None:
                raise _refused_at(text, at, "a condition such as diagnosis=ADHD or who_5<13")
            name, comparison = left[1], "=" if left[2] == "==" else left[2]
            wanted, at, end = [], left.end(), "|"
            while end == "|":
                found = _VALUE.match(text, at)
                if found is None:
                    raise _refused_at(text, at, "a value, in quotes if it contains a comma, bar or quote")
                mark, quoted = found["mark"], found["quoted"]
                said = found["plain"] if mark is None else quoted.replace(mark * 2, mark)
                wanted.append(Wanted(said, quoted=mark is not None))
                at, end = found.end(), found["end"]
            if comparison in ORDERINGS and (len(wanted) > 1 or wanted[0].number is None):
                raise _refused(f"{name}{comparison}{'|'.join(w.text for w in wanted)}: expected one number")
            conditions.append(Condition(name, comparison, tuple(wanted)))
        return cls(tuple(conditions))

    def __str__(self) -> str:
        return ",".join(map(str, self.conditions))

    def holds(self, conversation: Conversation) -> bool:
        """Whether a conversation meets every condition. Names are not checked here: `select` does."""
        facts = facts_of(conversation)
        return all(condition.holds(facts) for condition in self.conditions)


def select(conversations: Conversations, where: str | Where) -> Conversations:
    """Return the conversations that meet every condition of `where`, in their order.

    Conditions are separated by commas: `diagnosis=ADHD|Anxiety,category=Family,who_5<13`. `=` and `!=` take
    alternatives (`|`); on lists, `=` means that an entry matches, `!=` that none does. Text is compared
    without regard to case; `<`, `<=`, `>`, `>=` compare numbers. A field that a conversation does not state
    meets no condition except `field=unknown`; `diagnosis=any` and `diagnosis=none` select people with and
    without a diagnosis. A quoted word has no special meaning.

    Fields: everything in profile, demographics, scores and metadata under its name in the file, including
    fields unknown to the format; `conversation_id`, `provenance`, `turns` (their number); and the short
    names `diagnosis`, `attitude`, `participant` and `topic` (the metadata's text).

    Raises:
        UnknownNameError: no such field in these conversations.
        SettingsError: `where` cannot be read, a value occurs in none of them, or nothing is left.
    """
    if not isinstance(conversations, Conversations):
        raise TypeError(f"expected Conversations, such as load returns; got {type(conversations).__name__}")
    where = where if isinstance(where, Where) else Where.parse(where)
    kept = [(index, facts_of(conversation)) for index, conversation in enumerate(conversations)]
    for condition in where.conditions:
        _check(condition, [facts for _, facts in kept])
    for number, condition in enumerate(where.conditions):
        left = [(index, facts) for index, facts in kept if condition.holds(facts)]
        if not left:
            before = f" with {','.join(map(str, where.conditions[:number]))}" if number else ""
            values = [value for _, facts in kept for value in facts.get(condition.field, ())]
            raise _refused(
                f"{condition} matches none of the {len(kept)} conversations{before}; "
                f"their {condition.name}: {_listed(values) if values else 'not stated'}"
            )
        kept = left
    return conversations.chosen(index for index, _ in kept)


def _check(condition: Condition, facts: Sequence[Facts]) -> None:
    """Raise an error if a condition does not fit this data: unknown field, value or type."""
    known = fields_of(facts)
    if condition.field not in known:
        raise UnknownNameError("field", condition.name, map(one_line, sorted({*known, *ALIASES})))
    values = [value for found in facts for value in found.get(condition.field, ())]
    texts = {folded(value): value for value in values if isinstance(value, str)}
    numeric = any(isinstance(value, float) for value in values)
    if condition.comparison in ORDERINGS:
        if texts and not numeric:
            raise _refused(
                f"{condition}: {condition.name} is text ({_listed(values)}), "
                f"but {condition.comparison} compares numbers; compare text with = or !="
            )
        return
    for wanted in condition.wanted if values else ():
        if condition.is_word(wanted) or any(wanted.equals(value) for value in values):
            continue
        if not texts and wanted.number is not None:
            continue  # a number that happens not to occur is not a mistake
        if {*texts, folded(wanted.text)} <= {"true", "false"}:
            continue  # nor is a truth value
        near = difflib.get_close_matches(folded(wanted.text), texts, n=1)
        hint = f"did you mean {show(texts[near[0]])}? " if near else ""
        raise _refused(
            f"{condition}: no {condition.name} is {show(wanted.text)}; {hint}there is: {_listed(values)}"
        )


def _listed(values: Sequence[Value]) -> str:
    """Describe numbers by their range and texts by their frequency, most frequent first."""
    numbers = [value for value in values if isinstance(value, float)]
    texts = sorted(value for value in values if isinstance(value, str))
    spelt = {folded(text): text.strip() for text in texts}
    parts = list(dict.fromkeys(f"{n:.15g}" for n in (min(numbers), max(numbers)))) if numbers else []
    ranked = sorted(Counter(map(folded, texts)).items(), key=lambda pair: (-pair[1], pair[0]))
    more = f" and {len(ranked) - _LISTED} more" if len(ranked) > _LISTED else ""
    named = [show(spelt[text]) for text, _ in ranked[:_LISTED]]
    return ", ".join([" to ".join(parts), *named] if parts else named) + more


def _refused(message: str) -> SettingsError:
    """The error for an invalid selection, always on one line."""
    return SettingsError(one_line(message))


def _refused_at(text: str, at: int, wanted: str) -> SettingsError:
    found = show(text[at:].strip()) if text[at:].strip() else "nothing"
    return _refused(f"where {show(text)}: found {found} at character {at + 1}, expected {wanted}")
