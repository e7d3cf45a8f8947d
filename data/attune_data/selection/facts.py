"""Facts to select by: the fields of profile and metadata under their names in files, and diagnoses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from attune_data.format.schema import Conversation, Demographics, Metadata, ParticipantProfile
from attune_data.selection.means import finite

Stated = Literal["any", "none", "unknown"]

NONE: Final = frozenset({"none of the above", "none"})
DECLINED: Final = frozenset({"prefer not to say", "prefer not to answer", "decline to answer"})

Value = str | float
Facts = Mapping[str, tuple[Value, ...]]
"""Field -> its values: one, or those of a list. Fields that are absent or null are left out."""

ALIASES: Final[Mapping[str, str]] = {
    "diagnosis": "diagnoses",
    "attitude": "conversation_topic_attitude",
    "participant": "participant_id",
    "topic": "text",
}
"""Short name -> field."""
OWN: Final = ("conversation_id", "provenance", "turns")
"""Fields of the conversation itself; `turns` is their number."""
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_INNER: Final = {"demographics", "computed_scores"}
KNOWN: Final = frozenset(
    {*OWN, *Metadata.model_fields, *ParticipantProfile.model_fields, *Demographics.model_fields} - _INNER
)
"""Fields that can be selected by in any data, even if no conversation has them."""


def folded(text: str) -> str:
    """Normalise `text` for comparison: case and white space do not matter."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def stated(diagnoses: Iterable[str] | None) -> Stated:
    """`any` with at least one diagnosis, `none` if none was stated explicitly, otherwise `unknown`.

    The questionnaire's own option for none is "None of the above"; an empty list means the same. An absent
    list or a declined answer counts as `unknown`.
    """
    if diagnoses is None:
        return "unknown"
    said = {folded(name) for name in diagnoses}
    if said - NONE - DECLINED:
        return "any"
    return "unknown" if said & DECLINED else "none"


def field_name(name: str) -> str:
    """Resolve a field's name, including aliases: `Age-Range` and `ageRange` are `age_range`."""
    plain = _HUMP.sub("_", name.strip()).casefold().replace("-", "_").replace(" ", "_")
    return ALIASES.get(plain, plain)


def facts_of(conversation: Conversation) -> Facts:
    """Collect every field that the conversation states.

    If a name occurs in several places, the conversation's own fields take precedence, then metadata, then
    the profile, then the terms of a study.
    """
    facts: dict[str, tuple[Value, ...]] = {
        "conversation_id": (conversation.conversation_id,),
        "provenance": (conversation.origin,),
        "turns": (float(len(conversation.turns)),),
    }
    for part in (conversation.metadata, conversation.participant_profile, conversation.study):
        for name, value in _leaves(part.model_dump() if part else {}):
            values = _values(value)
            if values is not None:
                facts.setdefault(field_name(name), values)
    return facts


def fields_of(facts: Iterable[Facts]) -> list[str]:
    """The fields that can be selected by, sorted: those of the format and those in the data."""
    return sorted(KNOWN.union(*facts))


def _leaves(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) for every value in nested objects that is not itself an object."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _leaves(value)
        else:
            yield name, value


def _values(value: Any) -> tuple[Value, ...] | None:
    """The values of a field; None if it is empty or cannot be compared."""
    if isinstance(value, (list, tuple)):
        values = tuple(single for item in value if (single := _single(item)) is not None)
        return values if values or not value else None
    single = _single(value)
    return None if single is None else (single,)


def _single(value: Any) -> Value | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else finite(value)
