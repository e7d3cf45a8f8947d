"""Entries of a scores file: which model and mode they are of, whose conversation, what is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Resample = Literal["auto", "conversation", "participant"]
Key = tuple[str, str]
"""(em_model, mode)"""


def resampled_unit(conversations: Sequence[Mapping[str, Any]], choice: Resample) -> str:
    """What `auto` comes to: participants where one owns several conversations, else conversations."""
    if choice != "auto":
        return choice
    owners = {c["conversationId"]: participant_of(c) for c in conversations}
    return "participant" if any(n > 1 for n in Counter(owners.values()).values()) else "conversation"


def participant_of(scores: Mapping[str, Any]) -> str:
    """Who held the scored conversation; the conversation itself where the file does not say."""
    marks = scores.get("attune")
    known = marks.get("participant") if isinstance(marks, Mapping) else None
    return str(known or scores["conversationId"])
