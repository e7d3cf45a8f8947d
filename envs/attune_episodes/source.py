"""`ConversationSource`: which conversations an environment plays, and in which order.

All its arguments can be written as JSON (a `Conversations` object aside), so that an environment's spec
can. Orders depend on the generator handed in and on nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_episodes.data_arguments import SAMPLE, DataArguments
from attune_episodes.plan import plan
from attune_episodes.settings import Settings

Sampling = Literal["sequential", "shuffled"]
SAMPLINGS: Final[tuple[Sampling, ...]] = get_args(Sampling)
OPTIONS: Final = ("conversation_id", "index")
"""How a reset names a conversation."""
WORLD: Final = 2**32
"""An endless world is shuffled by drawing indices below this."""
KEPT: Final = 64
"""Conversations of an endless world that are kept once made, and found by id."""
TRIES: Final = 100
"""Conversations without a question that are passed over before an endless world is given up."""
LISTED: Final = 100
"""An error names only a few of more conversations than this."""


class ConversationSource:
    """Conversations in an order, without end.

    `next` gives the next one: sequential and shuffled orders go through all of them exactly once, then
    begin again (a *pass*; shuffled again each time). `passes` counts.
    """

    def __init__(
        self,
        data: str | Path | Conversations = SAMPLE,
        *,
        sampling: Sampling = "shuffled",
        shard: Sequence[int] | None = None,
        training: bool = False,
        **selection: Any,
    ) -> None:
        """Loads the data, or describes the world.

        Args:
            data: as `DataArguments` has it; an endless world makes its conversations when they are played.
            sampling: "sequential", in their order; "shuffled", each pass in an order of its own (an endless
                world: independent draws of an index below 2**32).
            shard: (index, count) takes every count-th conversation from index on. The shards of a count are
                disjoint, and together they are everything.
            training: refuse benchmark records, which are for evaluation only.
            selection: the other fields of `DataArguments`, such as `level`, `number`, `where`.

        Raises:
            SettingsError: arguments that do not go together, or that select nothing.
            UnknownNameError: no such sampling, level or conversation id.
            DataError: the data cannot be read, or holds nothing.
            BenchmarkTrainingError: `training` and a benchmark record.
        """
        if sampling not in SAMPLINGS:
            raise UnknownNameError("sampling", str(sampling), SAMPLINGS)
        self.sampling: Sampling = sampling
        given: Any = (0, 1) if shard is None else shard
        pair = isinstance(given, (list, tuple)) and len(given) == 2 and all(type(n) is int for n in given)
        if not pair or not 0 <= given[0] < given[1]:
            raise SettingsError(
                f"shard is {show(given)}; it must be (index, count), index from 0 to count - 1"
            )
        self.start, self.step = given
        chosen = DataArguments(data, **selection).choose(training=training)
        self.world = None if isinstance(chosen, Conversations) else chosen
        """The world or mixture, if it is endless; None if the conversations are known and counted."""
        self.conversations = chosen if isinstance(chosen, Conversations) else Conversations([])
        """All conversations of all shards; none of an endless world."""
        self._size = len(range(self.start, len(self.conversations), self.step))
        if not self._size and not self.endless:
            raise SettingsError(
                f"shard ({self.start}, {self.step}) holds none of the {len(self.conversations)} "
                f"conversations of {self.name}: use at most as many shards as conversations"
            )
        self._kept: OrderedDict[int, Conversation] = OrderedDict()
        self.reset_order()

    def __repr__(self) -> str:
        what = "endless" if self.endless else f"{len(self)} conversations"
        return f"ConversationSource({self.name!r}, {what}, {self.sampling})"

    @property
    def name(self) -> str:
        """Where the conversations come from, in a few words."""
        return self.conversations.source if self.world is None else self.world.source

    @property
    def endless(self) -> bool:
        """Whether there is no last conversation."""
        return self.world is not None

    def __len__(self) -> int:
        """Conversations of this shard; TypeError if there is no end of them."""
        if self.endless:
            raise TypeError(f"{self.name} has no end; limit it with number=…")
        return self._size

    def conversation(self, index: int) -> Conversation:
        """Conversation `index` of the data, whatever the shard; SettingsError if there is none."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {show(index)}; it must be a whole number from 0")
        if self.world is None:
            if index >= len(self.conversations):
                held = f"{self.name} has {len(self.conversations)} conversations, from 0"
                raise SettingsError(f"index is {show(index)}, and {held}")
            return self.conversations[index]
        made = self._kept.get(index)
        if made is None:
            made = self._kept[index] = self.world[index]
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def by_id(self, conversation_id: str) -> Conversation:
        """The conversation with that id, whatever the shard.

        Raises UnknownNameError naming the nearest. An endless world knows only those it made recently; find
        others by their index.
        """
        known = self.conversations.by_id
        if self.endless:
            known = {one.conversation_id: one for one in self._kept.values()}
        if conversation_id in known:
            return known[conversation_id]
        what, names = "conversation", list(known)
        if self.endless:
            what, names = f"{what} (of those made lately; a world finds any by its index)", names[-8:]
        elif len(names) > LISTED:
            what, names = f"{what} (of these and others)", names[:8]
        raise UnknownNameError(what, conversation_id, names)

    def choose(
        self, options: object, settings: Settings, draw: Callable[[], Conversation] | None = None
    ) -> Conversation:
        """The conversation that a reset names, or else the next one in which the settings ask something.

        Args:
            options: None or {}, `{"conversation_id": id}` or `{"index": i}`. After a named one, the order
                continues as if it had not been played.
            settings: how it is asked about.
            draw: gives the next conversation; `next` if None.

        Raises UnknownNameError for another option or conversation, SettingsError if nothing is asked.
        """
        draw = (lambda: self._named(options)) if options else draw or self.next
        for _ in range(1 if options else TRIES if self.endless else 2 * len(self)):
            found = draw()
            if plan(found, settings):
                return found
        of = repr(found.conversation_id) if options else self.name
        raise SettingsError(f"stages {', '.join(settings.stages)} ask nothing of {of}: choose other stages")

    def _named(self, options: object) -> Conversation:
        if not isinstance(options, Mapping):
            raise SettingsError(f"options is {show(options)}; expected a dict with {' or '.join(OPTIONS)}")
        for name in options:
            if name not in OPTIONS:
                raise UnknownNameError("reset option", str(name), OPTIONS)
        if len(options) > 1:
            raise SettingsError("options name one conversation: conversation_id or index, not both")
        if "index" in options:
            return self.conversation(options["index"])
        named = options["conversation_id"]
        if not isinstance(named, str):
            raise SettingsError(f"conversation_id is {show(named)}; it must be a text, such as 'sample-01'")
        return self.by_id(named)

    def reset_order(self, seed: int | None = None) -> None:
        """Begins again at the first pass.

        Args:
            seed: seed of the generator that `next` uses if it is given none, a whole number from 0; random if
                None.

        Raises SettingsError for another seed.
        """
        if seed is not None and (type(seed) is not int or seed < 0):
            raise SettingsError(f"seed is {show(seed)}; it must be a whole number from 0")
        self.passes = 0
        """The pass that the last conversation belongs to, from 0; always 0 if there are no passes."""
        self._own = np.random.default_rng(seed)
        self._position = 0
        self._shared: Iterator[int] | None = None
        self._drawn = 0
        self._order: Sequence[int] = ()

    def share_order(self, positions: Iterator[int]) -> None:
        """Take each position in the order from `positions`, a counter from 0 that several processes share.

        Together, sources with the same arguments and seed then play what a single one would.
        """
        self._shared = positions

    def next(self, np_random: np.random.Generator | None = None) -> Conversation:
        """The next conversation; the order is drawn by `np_random`, or else by the seeded generator."""
        return self.conversation(self.next_index(np_random))

    def next_index(self, np_random: np.random.Generator | None = None) -> int:
        """The index of the next conversation, which is not made."""
        generator = np_random or self._own
        place = self._position if self._shared is None else next(self._shared)
        self._position += 1
        shuffled = self.sampling == "shuffled"
        if self.endless:
            while shuffled and self._drawn <= place:  # positions that other processes took are drawn too
                drawn = int(generator.integers(WORLD // self.step))
                self._drawn += 1
            place = drawn if shuffled else place
        else:
            self.passes, place = divmod(place, self._size)
            while self._drawn <= self.passes:
                self._order = generator.permutation(self._size).tolist() if shuffled else range(self._size)
                self._drawn += 1
            place = self._order[place]
        return int(self.start + self.step * place)
