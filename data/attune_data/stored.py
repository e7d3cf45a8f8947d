"""Conversations that stay in their files: each is read again when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from attune_data.constants import Provenance
from attune_data.errors import DataError, Problem, show
from attune_data.schema import Conversation


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands that was read once and found valid."""

    conversation_id: str
    origin: Provenance
    file: str
    read: Callable[[], Conversation]

    def conversation(self) -> Conversation:
        """Read it; raises DataError if the file has changed since."""
        found = self.read()
        if (found.conversation_id, found.origin) != (self.conversation_id, self.origin):
            raise DataError(
                Problem(self.file, "conversationId", f"{show(found.conversation_id)}, {found.origin}",
                        f"{show(self.conversation_id)}, {self.origin}, as when the data was checked",
                        "the data has changed since: run the command again")
            )  # fmt: skip
        return found


class Stored(Sequence[Conversation]):
    """A sequence of conversations that holds their places only."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> Stored: ...
    def __getitem__(self, index: int | slice) -> Conversation | Stored:
        """Read one; a slice reads none."""
        return Stored(self.places[index]) if isinstance(index, slice) else self.places[index].conversation()

    def __len__(self) -> int:
        return len(self.places)


class StoredById(Mapping[str, Conversation]):
    """Conversation id -> conversation, read when it is asked for."""

    def __init__(self, stored: Stored) -> None:
        self._places = {place.conversation_id: place for place in stored.places}

    def __getitem__(self, conversation_id: str) -> Conversation:
        return self._places[conversation_id].conversation()

    def __contains__(self, conversation_id: object) -> bool:
        return conversation_id in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
