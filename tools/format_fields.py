"""The tables of docs/formats.md on the names and values that reading accepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from attune_data.format.fields import ANSWERS, FIELDS, INTENSITIES, RESPONSE_NAMES, WINNERS
from tools.pages import table

VALUES: Final[Mapping[str, tuple[Mapping[object, object], str]]] = {
    "": (ANSWERS, " in any case"),
    "winner ": (WINNERS, ""),
    "response ": (RESPONSE_NAMES, ""),
    "intensity ": (INTENSITIES, " in any case, or the number"),
}
"""Kind of value -> its spellings, and what else is accepted."""


def names() -> str:
    """The other names of each field."""
    return table(
        ("field", "also read as"),
        ((f"`{field}`", ", ".join(f"`{name}`" for name in others)) for field, others in FIELDS.items()),
    )


def spellings() -> str:
    """The spellings of each value."""
    rows = []
    for kind, (spelt, also) in VALUES.items():
        texts = defaultdict(list)
        for text, value in spelt.items():
            texts[value].append(f"`{text}`")
        rows += [(f"{kind}{value}", ", ".join(those) + also) for value, those in texts.items()]
    return table(("value", "read from"), rows)
