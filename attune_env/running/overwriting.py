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
from pathlib import Path
from typing import Any, Final, Literal

State = Literal["left", "made"]
"""Of a group that is being overwritten: still to be made, or made while others are left."""
_STARTS: Final = (b'{"v":1,"anew":', b'{"v":1,"made":')
"""How these lines begin, so that all others can be passed over unread."""


class Overwriting:
    """The overwriting that a journal's lines say has begun and not ended."""

    def __init__(self) -> None:
        self._begun: dict[str, str] = {}
        self.left: set[str] = set()
        """Groups whose earlier results do not count: new ones are to take their places."""

    def state(self, group: str, identity: str) -> State | None:
        """The state of a group overwritten with this identity; None where nobody has begun that."""
        if self._begun.get(group) != identity:
            return None
        return "left" if group in self.left else "made"

    def take(self, line: Mapping[str, Any]) -> None:
        """Notes a line; TypeError where it cannot be read."""
        if "anew" in line:
            if not isinstance(line["anew"], dict):
                raise TypeError("no groups")
            self._begun |= {group: str(identity) for group, identity in line["anew"].items()}
            self.left |= line["anew"].keys()
        elif "made" in line:
            self.left.discard(str(line["made"]))
            if not self.left:
                self._begun.clear()


def identity_of(result: Mapping[str, Any]) -> str:
    """16 hex digits of everything that a result records of how it is made."""
    text = json.dumps(result, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def overwriting_in(journal: Path) -> Overwriting:
    """The overwriting in a journal, read without its calls and its lock; none without a journal."""
    found = Overwriting()
    if journal.is_file():
        with journal.open("rb") as lines:
            for data in lines:
                if data.startswith(_STARTS):
                    try:
                        found.take(json.loads(data))
                    except (ValueError, TypeError, RecursionError):
                        continue  # cut off or damaged: the journal itself says so
    return found
