"""Other people's texts made safe to display: active characters are spelled out, long texts are cut."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from attune_data.errors import printable

_OTHER: Final = re.compile(r"[^\x20-\x7e\n\t]")
_JOINERS: Final = "\u200c\u200d"
"""They join letters of some scripts and parts of emoji, and turn nothing around."""


def visible(text: str, limit: int | None = None) -> str:
    """`text` with lines and blanks as they are, and every character escaped that acts instead of being shown.

    Those are control characters, marks that turn the direction of writing, lone surrogates and what has no
    glyph. A text longer than `limit` characters is cut, with a note of how many are missing.
    """
    cut = len(text) if limit is None else limit
    clean = _OTHER.sub(_shown, text[:cut].replace("\r\n", "\n"))
    return clean if len(text) <= cut else f"{clean}\n… ({len(text) - cut:,} more characters)"


def _shown(match: re.Match[str]) -> str:
    one = match[0]
    if one in _JOINERS or unicodedata.category(one) == "Zs":
        return one
    return printable(one)
