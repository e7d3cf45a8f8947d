"""Selecting conversations by what their profile, metadata and annotations hold."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from attune_data.errors import SettingsError, UnknownNameError, one_line, show
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.selection.condition import ORDERINGS, Condition, Wanted
from attune_data.selection.diagnoses import folded
from attune_data.selection.facts import ALIASES, Facts, Value, facts_of, fields_of
from attune_data.selection.grammar import parse_conditions, refused

_LISTED = 12
"""Values that a message names before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...]

    @classmethod
    def parse(cls, text: str) -> Where:
        """Reads `field=value,field<number,…`; raises SettingsError where the text is not that."""
        if not isinstance(text, str):
            raise SettingsError(f'where is {show(text)}; expected a text such as "diagnosis=ADHD,who_5<13"')
        return cls(parse_conditions(text))

    def __str__(self) -> str:
        return ",".join(map(str, self.conditions))

    def holds(self, conversation: Conversation) -> bool:
        """Whether a conversation meets every condition. Names are not checked here: `select` does."""
        facts = facts_of(conversation)
        return all(condition.holds(facts) for condition in self.conditions)


def select(conversations: Conversations, where: str | Where) -> Conversations:
    """The conversations that meet every condition of `where`, in their order.

    Conditions are separated by commas: `diagnosis=ADHD|Anxiety,category=Family,who_5<13`. `=` and `!=` take
    alternatives (`|`); on lists `=` asks whether one of the entries is it, `!=` whether none is. Text
    compares without case. `<`, `<=`, `>`, `>=` compare numbers. What a conversation does not state meets no
    condition but `field=unknown`; `diagnosis=any` and `diagnosis=none` ask for some or no diagnosis. A
    quoted word is only ever itself.

    Fields: every one of profile, demographics, scores and metadata by its name in the file, also those
    the format does not know; `conversation_id`, `provenance`, `turns` (their number); `diagnosis`,
    `attitude`, `participant` and `topic` (the metadata's text) for short.

    Raises:
        UnknownNameError: no such field in these conversations.
        SettingsError: `where` cannot be read; a value that none of them has; or nothing is left.
    """
    if not isinstance(conversations, Conversations):
        raise TypeError(f"select takes Conversations, as load gives them; got {type(conversations).__name__}")
    where = where if isinstance(where, Where) else Where.parse(where)
    facts = [facts_of(conversation) for conversation in conversations]
    for condition in where.conditions:
        _check(condition, facts)
    kept: Sequence[int] = range(len(facts))
    for number, condition in enumerate(where.conditions):
        left = [index for index in kept if condition.holds(facts[index])]
        if not left:
            before = ",".join(map(str, where.conditions[:number]))
            _nothing_left(condition, [facts[index] for index in kept], before)
        kept = left
    return conversations.chosen(kept)


def _check(condition: Condition, facts: Sequence[Facts]) -> None:
    """Raises where a condition cannot mean anything in this data: unknown field, value or kind of value."""
    known = fields_of(facts)
    if condition.field not in known:
        raise UnknownNameError("field", condition.name, map(one_line, sorted({*known, *ALIASES})))
    values = [value for found in facts for value in found.get(condition.field, ())]
    texts = sorted({value for value in values if isinstance(value, str)})
    if not values:
        return  # `_nothing_left` says so, unless that is what was asked for
    if condition.comparison in ORDERINGS:
        if len(texts) == len(set(values)):
            raise refused(
                f"{condition}: {condition.name} holds text ({_listed(texts)}), "
                f"expected a field of numbers before {condition.comparison}; compare text with = or !="
            )
        return
    for wanted in condition.wanted:
        if condition.is_word(wanted) or any(wanted.equals(value) for value in values):
            continue
        if not texts and wanted.number is not None:
            continue  # a number that happens not to occur is no slip
        raise refused(_no_such_value(condition, wanted, texts, values))


def _no_such_value(
    condition: Condition, wanted: Wanted, texts: Sequence[str], values: Sequence[Value]
) -> str:
    by_fold = {folded(text): text for text in texts}
    near = difflib.get_close_matches(folded(wanted.text), by_fold, n=1)
    hint = f"did you mean {show(by_fold[near[0]])}? " if near else ""
    return f"{condition}: no {condition.name} is {show(wanted.text)}; {hint}there is: {_listed(values)}"


def _nothing_left(condition: Condition, facts: Sequence[Facts], before: str) -> NoReturn:
    values = [value for found in facts for value in found.get(condition.field, ())]
    whose = f"the {len(facts)} conversations" + (f" with {before}" if before else "")
    raise refused(
        f"{condition} holds for none of {whose}; "
        f"their {condition.name}: {_listed(values) if values else 'not stated'}"
    )


def _listed(values: Sequence[Value]) -> str:
    """Numbers by their range; text by how often it occurs, most frequent first."""
    numbers = [value for value in values if isinstance(value, float)]
    texts = [value for value in values if isinstance(value, str)]
    counts = Counter(map(folded, texts))
    spelt = {folded(text): text.strip() for text in sorted(texts)}
    parts = []
    if numbers:
        parts.append(" to ".join(dict.fromkeys(map(_plain, (min(numbers), max(numbers))))))
    ranked = sorted(counts, key=lambda text: (-counts[text], text))
    parts += [show(spelt[text]) for text in ranked[:_LISTED]]
    more = f" and {len(ranked) - _LISTED} more" if len(ranked) > _LISTED else ""
    return ", ".join(parts) + more


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(number)
