"""Helpers that the contracts share: errors, and conversations to try them on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from attune_data import Conversation, Conversations, load
from attune_data.errors import one_line
from attune_rewards import read_record, score_conversation

EXACT = 1e-12


class ContractError(AssertionError):
    """Something that was added does not keep its contract."""


def require(holds: bool, message: str) -> None:
    """Raises ContractError with the message unless it holds."""
    if not holds:
        raise ContractError(one_line(message))


def require_close(found: float, wanted: float, what: str) -> None:
    """Raises ContractError unless two finite numbers are equal to 1e-12."""
    close = math.isfinite(found) and abs(found - wanted) <= EXACT
    require(close, f"{what}: found {found!r}, expected {wanted!r} (to {EXACT})")


def tried_on(conversations: Sequence[Conversation] | None) -> Sequence[Conversation]:
    """The conversations given, or the first five of the bundled sample; ValueError where there are none."""
    if conversations is None:
        return load("sample")[:5]
    if not conversations:
        raise ValueError("no conversations to check with")
    return conversations


def reloaded(conversations: Sequence[Conversation]) -> Conversations:
    """The same records read again from their JSON, with nothing remembered about them."""
    records = [json.loads(json.dumps(one.to_record(), ensure_ascii=False)) for one in conversations]
    again = [Conversation.model_validate(record) for record in records]
    return Conversations(again, source="read again")


def check_record(
    record: Mapping[str, Any], conversation: Conversation, total: float | None, who: str
) -> None:
    """That a result record survives JSON, reads back cleanly, and holds `total` (None: another reward's)."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    require(json.loads(text) == record, f"{who}: the result record changes in JSON")
    said, warnings = read_record(record, conversation)
    require(not warnings, f"{who}: the result record reads back with {', '.join(map(str, warnings[:2]))}")
    if total is not None:
        strict = score_conversation(conversation, said)["composite_strict"]
        require_close(strict / 100, total, f"{who}: strict Composite of the record against the return")
