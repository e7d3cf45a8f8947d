"""`Memoised`: a record that caches what is computed from it, as long as it is among those used last."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, Final, Self, TypeVar

from attune_data.format.fields import Record

T = TypeVar("T")
KEPT: Final = 8
"""How many values a record caches per kind, enough for all presets in turn; the oldest is dropped first."""
RECORDS_KEPT: Final = 512
"""How many records of a process cache values, enough for a bundled set; the oldest memo is dropped first."""
_with_memo: Final[deque[weakref.ref[Memoised]]] = deque()


class Memoised(Record):
    """A record with a memo, which is no part of it: copies, pickles and comparisons ignore it."""

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Cached values of pure functions of this frozen record (scoring keys, plans), by kind and key."""
        _with_memo.append(weakref.ref(self))
        if len(_with_memo) > RECORDS_KEPT and (oldest := _with_memo.popleft()()) is not None:
            oldest.__dict__.pop("memo", None)
        return {}

    def memoised(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return `make()`, cached as long as it is among the last `KEPT` of its kind.

        Of all records, only the last `RECORDS_KEPT` to get a memo have one. `make` must be a pure function of
        the record and `key`; its value must not be None or mutable.
        """
        kept: dict[Hashable, T] = self.memo.setdefault(kind, {})
        if (known := kept.get(key)) is not None:
            return known
        value = make()
        while len(kept) >= KEPT:
            kept.pop(next(iter(kept)), None)
        kept[key] = value
        return value

    def __copy__(self) -> Self:
        copy = super().__copy__()
        copy.__dict__.pop("memo", None)
        return copy

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return super(Memoised, self.__copy__()).__deepcopy__(memo)

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        fields = {name: value for name, value in state["__dict__"].items() if name != "memo"}
        return {**state, "__dict__": fields}
