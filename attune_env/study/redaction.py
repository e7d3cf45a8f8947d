"""Take out of texts what a participant does not want to be kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def words_in(text: str | None) -> list[str]:
    """The words to be removed, one a line; the longest first, so that none leaves a part of another."""
    return sorted({line.strip() for line in (text or "").split("\n") if line.strip()}, key=len, reverse=True)


def redacted(value: Any, words: Sequence[str], mark: str) -> Any:
    """A text, or everything in a list or an object, with each of the words replaced, whatever its case."""
    if not words:
        return value
    if isinstance(value, str):
        return re.sub("|".join(map(re.escape, words)), lambda _: mark, value, flags=re.IGNORECASE)
    if isinstance(value, dict):
        return {key: redacted(held, words, mark) for key, held in value.items()}
    if isinstance(value, list):
        return [redacted(held, words, mark) for held in value]
    return value
