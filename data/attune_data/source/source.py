"""`Source`: which conversations to use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from itertools import count
from operator import add
from pathlib import Path
from typing import Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, check_flag, show
from attune_data.files.conversations import Conversations
from attune_data.format.codebook import find_official
from attune_data.format.constants import Provenance
from attune_data.format.schema import Conversation
from attune_data.selection import select
from attune_data.source.corpora import TO_PLAY
from attune_data.source.guard import for_training
from attune_data.source.load import load
from attune_data.source.names import Part, accepted, part_named, path_named, terms

SELECTION: Final = ("data", "number", "split", "where", "provenance")
"""The arguments of a `Source` that say which conversations, and not what for."""
LISTED: Final = 100
"""Most conversations that an error names in full."""
Data = str | Path | Conversations
Mixed = Sequence[tuple[Data, int]]
"""Sources with their weights, which are whole numbers from 1."""


@dataclass(frozen=True)
class Source:
    """Conversations by number, from 0; either finitely many, or an endless mixture.

    Arguments are checked when it is made, before anything is read; the conversations are read on first use.
    All arguments but `Conversations` objects can be written as JSON.

    A mixture with a weight above 1, such as "3*written+sample", is endless: it takes turns, here three of the
    first to one of the second, and each of its sources starts again at its end. Number i is always the same
    conversation. Sources without weights, as in "written+sample", follow one another.

    >>> mixture = Source("2*written:train+sample")
    >>> [mixture[index].conversation_id for index in range(4)]
    ['p51-train-0001', 'sample-01', 'p51-train-0002', 'p51-train-0005']

    Raises:
        TypeError: `data` has the wrong type.
        SettingsError: a value has the wrong type, or arguments conflict.
    """

    data: Data | Mixed = TO_PLAY
    """A name or path, as for `attune_data.load`; a `Conversations` object; or a mixture, as a text or as a
    list of (source, weight) pairs."""
    number: int | None = None
    """Only the first N."""
    split: str | None = None
    """Split of a dataset or corpus that has several."""
    where: str | None = None
    """Conditions on the conversations, in the syntax of `attune_data.selection.select`."""
    provenance: Provenance | None = None
    """Provenance of records without a mark, such as "own"."""
    training: bool = False
    """Refuse data that is not for training: benchmark records, filler, and the splits of a corpus that are
    kept for evaluation (its bare name then means the split to train on)."""
    allow_benchmark_training: bool = False
    """Accept benchmark records in training anyway."""

    def __post_init__(self) -> None:
        pairs = isinstance(self.data, (list, tuple)) and self.data and all(map(_is_pair, self.data))
        if not pairs and not isinstance(self.data, (str, Path, Conversations)):
            raise TypeError(
                f"data is {show(self.data)} ({type(self.data).__name__}); "
                f"expected {accepted()}, or Conversations"
            )
        if self.number is not None and (type(self.number) is not int or self.number < 1):
            raise SettingsError(f"number is {show(self.number)}; it must be a whole number, at least 1")
        if not isinstance(self.where, (str, type(None))):
            raise SettingsError(
                f'where is {show(self.where)}; expected a text such as "diagnosis=ADHD,who_5<13"'
            )
        check_flag("training", self.training)
        if isinstance(self.data, Conversations):
            self._refuse("data, a Conversations object,", "split", "provenance")
        elif self.mixed:
            self._refuse(f"data={show(self.data)}", "split", "where", "provenance")

    def _refuse(self, who: str, *names: str) -> None:
        for name in names:
            if (value := getattr(self, name)) is not None:
                raise SettingsError(f"{name} is {show(value)}, which {who} does not accept")

    @cached_property
    def mixed(self) -> Mixed:
        """(source, weight) of the sources of a mixture; empty for a single source."""
        if isinstance(self.data, (str, Path)):
            return terms(self.data)
        return () if isinstance(self.data, Conversations) else tuple(self.data)

    @property
    def endless(self) -> bool:
        """Whether it is a mixture with weights, of which no `number` is taken."""
        return self.number is None and self._weighted

    @property
    def _weighted(self) -> bool:
        return any(weight > 1 for _, weight in self.mixed)

    @cached_property
    def parts(self) -> tuple[Conversations, ...]:
        """The sets that are read: the sources of an endless mixture, otherwise one of all conversations.

        Raises DataError if the data cannot be read or nothing is selected; when training,
        BenchmarkTrainingError for benchmark records, and SettingsError for other data not to be trained on.
        """
        if not self.mixed:
            return (self._read(),)
        parts = tuple(replace(self, data=data, number=None).finite() for data, _ in self.mixed)
        if self.endless:
            return parts
        if self._weighted:
            return (self._taken(parts),)
        return (reduce(add, parts)[: self.number],)

    def _read(self) -> Conversations:
        assert isinstance(self.data, (str, Path, Conversations))  # no mixture
        if isinstance(self.data, Conversations):
            read = self.data
        elif (part := part_named(self.data)) is not None:
            part = part.at(self.split)
            if self.training:
                part = Part(part.corpus, part.corpus.to_train(part.split))
            read = _shared(part) if self.provenance is None else load(part.name, provenance=self.provenance)
        else:
            read = load(self.data, split=self.split, provenance=self.provenance)
        if self.where is not None:
            read = select(read, self.where)
        if not read:
            wanted = "at least one conversation to play"
            raise DataError(Problem(read.source, "", "no conversation", wanted, "see load(…)"))
        read = read[: self.number]
        if self.training:
            for_training(read, allow_benchmark_training=self.allow_benchmark_training)
        return read

    def _taken(self, parts: Sequence[Conversations]) -> Conversations:
        """The first `number` conversations of a mixture."""
        assert self.number is not None
        taken = [self._turn(parts, index) for index in range(self.number)]
        if len({one.conversation_id for one in taken}) < self.number:
            raise SettingsError(
                f"the first {self.number} conversations of {self._described(parts)} contain duplicates; "
                "take fewer, or give a source that is too small less weight"
            )
        return Conversations(taken, source=self._described(parts))

    def _described(self, parts: Sequence[Conversations]) -> str:
        return " + ".join(f"{w} × {p.source}" for p, (_, w) in zip(parts, self.mixed, strict=True))

    @cached_property
    def _turns(self) -> Sequence[tuple[int, int]]:
        """(source, how many of its turns came before) of each turn in a round of the mixture."""
        # spread each source evenly over a round: the k-th of its w turns is at (2k + 1) / 2w
        turns = [
            ((2 * k + 1) / (2 * weight), number, k)
            for number, (_, weight) in enumerate(self.mixed)
            for k in range(weight)
        ]
        return [(number, k) for _, number, k in sorted(turns)]

    def _turn(self, parts: Sequence[Conversations], index: int) -> Conversation:
        rounds, turn = divmod(index, len(self._turns))
        number, before = self._turns[turn]
        place = rounds * self.mixed[number][1] + before
        return parts[number][place % len(parts[number])]

    @property
    def name(self) -> str:
        """A short description of where the conversations come from."""
        return self._described(self.parts) if self.endless else self.parts[0].source

    def finite(self, how: str = "number=…") -> Conversations:
        """All its conversations; raises SettingsError if it is endless.

        Args:
            how: how the caller's users limit it, for the error message: `-T number=20`.
        """
        if self.endless:
            raise SettingsError(f"{self.name} is endless; limit the number of conversations: {how}")
        return self.parts[0]

    def __len__(self) -> int:
        """The number of conversations; raises TypeError if it is endless."""
        if self.endless:
            raise TypeError(f"{self.name} is endless; limit it with number=…")
        return len(self.parts[0])

    def __getitem__(self, index: int) -> Conversation:
        """Conversation `index`, counted from 0; raises SettingsError if there is none."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {show(index)}; it must be a whole number from 0")
        if self.endless:
            return self._turn(self.parts, index)
        if index >= len(self):
            held = f"{self.name} has {len(self)} conversations, counted from 0"
            raise SettingsError(f"index is {show(index)}, but {held}")
        return self.parts[0][index]

    def __iter__(self) -> Iterator[Conversation]:
        return map(self.__getitem__, count()) if self.endless else iter(self.parts[0])

    def by_id(self, conversation_id: str) -> Conversation:
        """The conversation with that id; raises UnknownNameError, which suggests the closest."""
        for part in self.parts:
            if conversation_id in part.by_id:
                return part.by_id[conversation_id]
        what, known = "conversation", [name for part in self.parts for name in part.by_id]
        if len(known) > LISTED:
            what, known = f"{what} (among these and others)", known[:8]
        raise UnknownNameError(what, conversation_id, known)


def _is_pair(value: object) -> bool:
    """Whether a value is a source with its weight."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return False
    data, weight = value
    return isinstance(data, (str, Path, Conversations)) and type(weight) is int and weight > 0


@lru_cache(maxsize=2)
def _shared(part: Part) -> Conversations:
    """A corpus, shared by all sources of a process: records are frozen, and plans are cached."""
    return load(part.name)


def codebook_for(data: Data | Mixed, given: str | Path | None = None) -> str | None:
    """Path of the official codebook to use with data; None for the wording shipped here.

    It is `given` (not read here) or else next to the data, if that is a path: in the folder of a file, in a
    folder itself, or in one of the two above.
    """
    if given is not None:
        return str(given)
    path = path_named(data) if isinstance(data, (str, Path)) else None
    official = None if path is None else find_official(path)
    return None if official is None else str(official)
