"""`ConversationSource`: the conversations that an environment plays, and their order.

All its arguments except a `Conversations` object can be written as JSON, and so can an environment's spec.
Orders depend only on the generator passed in.
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
"""The options with which a reset names a conversation."""
WORLD: Final = 2**32
"""An endless world is shuffled by drawing indices below this."""
KEPT: Final = 64
"""How many recent conversations of an endless world are cached and can be found by id."""
TRIES: Final = 100
"""How many conversations without a question are skipped before the search in an endless world stops."""
LISTED: Final = 100
"""Most conversations that an error names in full."""


class ConversationSource:
    """An endless sequence of conversations.

    `next` returns the next one. Sequential and shuffled orders go through all conversations exactly once per
    *pass*, then start again (shuffled differently each time); `passes` counts them.
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
        """Load the data, or define the world.

        Args:
            data: as in `DataArguments`; an endless world generates its conversations when they are played.
            sampling: "sequential", in their order; "shuffled", in a different order each pass (in an endless
                world, independent draws of an index below 2**32).
            shard: (index, count) takes every count-th conversation from index on. The shards of a count are
                disjoint, and together they are everything.
            training: refuse benchmark records, which are for evaluation only.
            selection: the other fields of `DataArguments`, such as `level`, `number`, `where`.

        Raises:
            SettingsError: arguments that conflict or select nothing.
            UnknownNameError: no such sampling, level or conversation id.
            DataError: the data cannot be read, or is empty.
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
        """The world or mixture if the data is endless; None if it is finite."""
        self.conversations = chosen if isinstance(chosen, Conversations) else Conversations([])
        """All conversations of all shards; empty for endless data."""
        self._size = len(range(self.start, len(self.conversations), self.step))
        if not self._size and not self.endless:
            raise SettingsError(
                f"shard ({self.start}, {self.step}) contains none of the {len(self.conversations)} "
                f"conversations of {self.name}: use at most as many shards as conversations"
            )
        self._kept: OrderedDict[int, Conversation] = OrderedDict()
        self.reset_order()

    def __repr__(self) -> str:
        what = "endless" if self.endless else f"{len(self)} conversations"
        return f"ConversationSource({self.name!r}, {what}, {self.sampling})"

    @property
    def name(self) -> str:
        """A short description of where the conversations come from."""
        return self.conversations.source if self.world is None else self.world.source

    @property
    def endless(self) -> bool:
        """Whether the data is endless."""
        return self.world is not None

    def __len__(self) -> int:
        """The number of conversations in this shard; raises TypeError if the data is endless."""
        if self.endless:
            raise TypeError(f"{self.name} is endless; limit it with number=…")
        return self._size

    def conversation(self, index: int) -> Conversation:
        """Conversation `index` of the data, regardless of the shard; SettingsError if there is none."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {show(index)}; it must be a whole number from 0")
        if self.world is None:
            if index >= len(self.conversations):
                held = f"{self.name} has {len(self.conversations)} conversations, counted from 0"
                raise SettingsError(f"index is {show(index)}, but {held}")
            return self.conversations[index]
        made = self._kept.get(index)
        if made is None:
            made = self._kept[index] = self.world[index]
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def by_id(self, conversation_id: str) -> Conversation:
        """The conversation with that id, regardless of the shard.

        Raises UnknownNameError suggesting the closest id. In endless data, only recent conversations can be
        found by id; find others by their index.
        """
        known = self.conversations.by_id
        if self.endless:
            known = {one.conversation_id: one for one in self._kept.values()}
        if conversation_id in known:
            return known[conversation_id]
        what, names = "conversation", list(known)
        if self.endless:
            what, names = f"{what} (among the recent ones; any can be found by its index)", names[-8:]
        elif len(names) > LISTED:
            what, names = f"{what} (among these and others)", names[:8]
        raise UnknownNameError(what, conversation_id, names)

    def choose(
        self, options: object, settings: Settings, draw: Callable[[], Conversation] | None = None
    ) -> Conversation:
        """The conversation that a reset names, otherwise the next one in which the settings ask something.

        Args:
            options: None or {}, `{"conversation_id": id}` or `{"index": i}`. After a named one, the order
                continues as if it had not been played.
            settings: the settings with which it will be asked.
            draw: returns the next conversation; by default `next`.

        Raises UnknownNameError for another option or conversation, SettingsError if nothing is asked.
        """
        draw = (lambda: self._named(options)) if options else draw or self.next
        for _ in range(1 if options else TRIES if self.endless else 2 * len(self)):
            found = draw()
            if plan(found, settings):
                return found
        of = repr(found.conversation_id) if options else self.name
        raise SettingsError(f"the stages {', '.join(settings.stages)} ask nothing about {of}: choose others")

    def _named(self, options: object) -> Conversation:
        if not isinstance(options, Mapping):
            raise SettingsError(f"options is {show(options)}; expected a dict with {' or '.join(OPTIONS)}")
        for name in options:
            if name not in OPTIONS:
                raise UnknownNameError("reset option", str(name), OPTIONS)
        if len(options) > 1:
            raise SettingsError("options may contain conversation_id or index, not both")
        if "index" in options:
            return self.conversation(options["index"])
        named = options["conversation_id"]
        if not isinstance(named, str):
            raise SettingsError(f"conversation_id is {show(named)}; it must be a text, such as 'sample-01'")
        return self.by_id(named)

    def reset_order(self, seed: int | None = None) -> None:
        """Start again at the first pass.

        Args:
            seed: seed of the generator that `next` uses by default, a whole number from 0; random if None.

        Raises SettingsError for another seed.
        """
        if seed is not None and (type(seed) is not int or seed < 0):
            raise SettingsError(f"seed is {show(seed)}; it must be a whole number from 0")
        self.passes = 0
        """The pass of the last conversation, counted from 0; always 0 if there are no passes."""
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
        """Return the next conversation; `np_random`, or else the seeded generator, draws the order."""
        return self.conversation(self.next_index(np_random))

    def next_index(self, np_random: np.random.Generator | None = None) -> int:
        """The index of the next conversation, without generating it."""
        generator = np_random or self._own
        place = self._position if self._shared is None else next(self._shared)
        self._position += 1
        shuffled = self.sampling == "shuffled"
        if self.endless:
            while shuffled and self._drawn <= place:  # draw also for the positions that other processes took
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
