"""`fingerprint`: a digest of one conversation's content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from attune_data.format.schema import Conversation


def fingerprint(conversation: Conversation) -> str:
    """A fingerprint of one record's content, 16 hex digits (key order and file layout do not matter)."""
    record = without_nulls(conversation.to_record())  # null and absent mean the same
    text = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def without_nulls(value: Any) -> Any:
    """Remove the nulls that Arrow adds to mixed records; absent and null mean the same here."""
    if isinstance(value, dict):
        return {key: without_nulls(child) for key, child in value.items() if child is not None}
    if isinstance(value, list):
        return [without_nulls(child) for child in value]
    return value
