"""`Mixture`: alternate between sources of conversations, such as the written corpus and your own data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from attune_data.errors import SettingsError, show
from attune_data.files.load import Conversations, common_mark
from attune_data.format.constants import Provenance
from attune_data.format.schema import Conversation

_TERM: Final = re.compile(r"(?:(\d+) ?\* ?)?(.+)")


def terms(name: str) -> list[tuple[str, int]]:
    """Parse a name such as "3*written + sample" into sources and their weights.

    >>> terms("3*written+sample")
    [('written', 3), ('sample', 1)]

    Raises SettingsError for a source without a name or a weight of 0.
    """
    found = []
    for term in name.split("+"):
        match = _TERM.fullmatch(term.strip())
        if not match or match[1] == "0":
            expected = 'sources joined by "+", each with an optional weight: "3*written+sample"'
            raise SettingsError(f"data is {show(name)}; expected {expected}")
        found.append((match[2], int(match[1] or 1)))
    return found


class Mixture:
    """An endless stream that rotates through several sources according to their weights.

    A source starts again at its end. Conversation i is always the same, and a mixture can be pickled.

    >>> from attune_data import load
    >>> mixture = Mixture([(load("written:train"), 2), (load("sample"), 1)])
    >>> [mixture[index].conversation_id for index in range(4)]
    ['w001', 'sample-01', 'w002', 'w003']
    """

    def __init__(self, parts: Sequence[tuple[Conversations, int]]) -> None:
        """Mix (source, weight) pairs; weights are whole numbers from 1, and no source may be empty."""
        self.parts = tuple(parts)
        joined = (f"{weight} × {part.source}" for part, weight in self.parts)
        self.source = " + ".join(joined)
        """A short description of the mixture."""
        # spread each source evenly over a round: the k-th of its w turns is at (2k + 1) / 2w
        turns = [
            ((2 * k + 1) / (2 * weight), number, k)
            for number, (_, weight) in enumerate(self.parts)
            for k in range(weight)
        ]
        self._turns = [(number, k) for _, number, k in sorted(turns)]

    def __repr__(self) -> str:
        return f"Mixture({self.source})"

    def __getitem__(self, index: int) -> Conversation:
        """Conversation `index`, counted from 0; raises SettingsError for a negative one."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {show(index)}; it must be a whole number from 0")
        rounds, turn = divmod(index, len(self._turns))
        number, before = self._turns[turn]
        part, weight = self.parts[number]
        return part[(rounds * weight + before) % len(part)]

    def __iter__(self) -> Iterator[Conversation]:
        return map(self.__getitem__, count())

    def take(self, number: int) -> Conversations:
        """The first `number` conversations, in memory; raises SettingsError if one would occur twice."""
        found = [self[index] for index in range(number)]
        different = len({one.conversation_id for one in found})
        if different < number:
            raise SettingsError(
                f"the first {number} conversations of {self.source} contain duplicates; "
                "take fewer, or give a source that is too small less weight"
            )
        return Conversations(found, source=self.source)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the whole mixture, as for `Conversations`."""
        return common_mark(part.provenance for part, _ in self.parts)

    @property
    def by_id(self) -> Mapping[str, Conversation]:
        """Conversation id -> conversation, of all sources."""
        return {name: one for part, _ in self.parts for name, one in part.by_id.items()}
