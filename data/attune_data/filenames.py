"""How conversations are called on disk: `conversation_N.json`, N a whole number."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"conversation_([0-9]+)\.json")


def file_name(number: int) -> str:
    """`conversation_N.json`; `number` is 0 or more."""
    return f"conversation_{number}.json"


def file_number(name: str) -> int | None:
    """N of `conversation_N.json`, None for any other name (give the name without its folder)."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None
