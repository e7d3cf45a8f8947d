"""Overwriting that outlives its process: the results being replaced, and those still to be made.

Overwriting begins when the first of its calls is answered: until then every earlier reply and result counts.
It ends when all that it began is made. In between, the same command, with or without `--overwrite`, goes on
with it. The journal holds two kinds of lines for that: `anew` (group -> identity of the new result) and
`made` (a group).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Literal


class Overwriting:
    """The overwriting that a journal's lines say has begun and not ended."""

    def __init__(self) -> None:
        self._begun: dict[str, str] = {}
        self.left: set[str] = set()
        """Groups whose earlier results do not count: new ones are to take their places."""

    def state(self, group: str, identity: str) -> Literal["left", "made"] | None:
        """Whether a group overwritten with this identity is still to be made; None where nobody began it."""
        if self._begun.get(group) != identity:
            return None
        return "left" if group in self.left else "made"

    def take(self, anew: Mapping[str, str], made: str | None = None) -> None:
        """Notes what a line says."""
        self._begun |= anew
        self.left |= anew.keys()
        if made is not None:
            self.left.discard(made)
            if not self.left:
                self._begun.clear()


def identity_of(value: object) -> str:
    """16 hex digits of a JSON value; equal for equal values."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
