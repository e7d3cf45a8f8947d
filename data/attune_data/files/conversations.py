"""`Conversations`: a set of them in a fixed order, in memory or on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from attune_data.errors import DataError, Problem, show
from attune_data.format.constants import Provenance
from attune_data.format.fingerprint import fingerprint
from attune_data.format.schema import Conversation


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a conversation that has been validated; it is read again on access."""

    conversation_id: str
    origin: Provenance
    file: str
    read: Callable[[], Conversation]


def _conversation(item: Conversation | Place) -> Conversation:
    """Read a conversation that is not in memory; raises DataError if its file has changed since."""
    if isinstance(item, Conversation):
        return item
    found = item.read()
    if (found.conversation_id, found.origin) == (item.conversation_id, item.origin):
        return found
    raise DataError(
        Problem(item.file, "conversationId", f"{show(found.conversation_id)}, {found.origin}",
                f"{show(item.conversation_id)}, {item.origin}, as when the data was checked",
                "the data has changed since: run the command again")
    )  # fmt: skip


class _ById(Mapping[str, Conversation]):
    """Conversation id -> conversation."""

    def __init__(self, items: Iterable[Conversation | Place]) -> None:
        self._items = {item.conversation_id: item for item in items}

    def __getitem__(self, conversation_id: str) -> Conversation:
        return _conversation(self._items[conversation_id])

    def __contains__(self, conversation_id: object) -> bool:
        return conversation_id in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Conversations(Sequence[Conversation]):
    """Conversations in a fixed order, with where they came from.

    An immutable sequence: indexing, iterating, `len` and slicing (which returns `Conversations`) work as
    for a tuple; `a + b` merges two sets. `by_id` finds a conversation by its id. A set loaded with
    `in_memory=False` reads each conversation again on every access.
    """

    def __init__(
        self,
        items: Iterable[Conversation | Place],
        *,
        source: str = "memory",
        left_out: Sequence[Problem] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        self._items = tuple(items)
        self.files = dict(files or {})
        """Conversation id -> the file (or line, or row) that it was read from."""
        self.source = source
        """The source as given by the caller."""
        self.left_out = tuple(left_out)
        """Which records `skip_invalid` left out, and why."""

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> Conversations: ...
    def __getitem__(self, index: int | slice) -> Conversation | Conversations:
        """Get one conversation, or a slice as `Conversations`; to look up an id, use `.by_id[…]`."""
        if isinstance(index, str):
            raise TypeError(f"index by number or slice; for an id, use .by_id[{index!r}]")
        found = self._items[index]
        return self._of(found) if isinstance(found, tuple) else _conversation(found)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Conversation]:
        return map(_conversation, self._items)

    def __add__(self, other: Conversations) -> Conversations:
        """Merge two sets, each record keeping its mark; raises DataError if they share an id."""
        if not isinstance(other, Conversations):
            return NotImplemented
        shared = [key for key in other.by_id if key in self.by_id]
        if shared:
            raise DataError([
                Problem(other.files.get(key, other.source), "conversationId",
                        f"{show(key)}, which is also in {self.files.get(key, self.source)}",
                        "each id once in a merged set", "leave out one of the two")
                for key in shared
            ])  # fmt: skip
        return Conversations(
            (*self._items, *other._items),
            source=f"{self.source} + {other.source}",
            left_out=(*self.left_out, *other.left_out),
            files=self.files | other.files,
        )

    def chosen(self, indices: Iterable[int]) -> Conversations:
        """The conversations at these positions, in this order; nothing is read from disk."""
        return self._of(self._items[index] for index in indices)

    def _of(self, items: Iterable[Conversation | Place]) -> Conversations:
        return Conversations(items, source=self.source, left_out=self.left_out, files=self.files)

    def __repr__(self) -> str:
        return f"Conversations({len(self)} from {self.source!r}, {self.provenance})"

    @cached_property
    def by_id(self) -> Mapping[str, Conversation]:
        """Conversation id -> conversation."""
        return _ById(self._items)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the whole set, from `common_mark`."""
        return common_mark(item.origin for item in self._items)

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the content, independent of the order of the records: 16 hex digits."""
        digests = sorted(fingerprint(item) for item in self)
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


def common_mark(origins: Iterable[Provenance]) -> Provenance:
    """The mark of a whole set: the first that any record has.

    The order is benchmark, filler, study, imported, played, own.

    An empty set counts as benchmark.
    """
    marks = set(origins)
    order: tuple[Provenance, ...] = ("benchmark", "filler", "study", "imported", "played", "own")
    return next((mark for mark in order if mark in marks), "benchmark")
