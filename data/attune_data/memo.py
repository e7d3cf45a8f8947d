"""Keeping what is computed from a frozen record beside it, a few values a kind, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final, TypeVar, cast

if TYPE_CHECKING:
    from attune_data.schema import Conversation

T = TypeVar("T")
KEPT = 8
"""Values kept per kind: one is in use, or all presets in turn; the oldest goes first."""


_NONE: Final = object()


def memoised(conversation: Conversation, kind: str, key: Hashable, make: Callable[[], T]) -> T:
    """`make()` for this conversation, made once as long as it is among the last `KEPT` of its kind.

    `make` must be a pure function of the conversation and `key`, and its value must not be changed.
    """
    kept = conversation.memo.setdefault(kind, {})
    known = kept.get(key, _NONE)
    if known is not _NONE:
        return cast(T, known)
    value = make()
    while len(kept) >= KEPT:
        kept.pop(next(iter(kept)), None)
    kept[key] = value
    return value
