"""`ConversationSource`: the conversations that an environment plays, and their order.

All its arguments except a `Conversations` object can be written as JSON, and so can an environment's spec.
Orders depend only on the generator passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.files.load import Conversations
from attune_data.format.schema import Conversation
from attune_data.source.mixture import Mixture
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_episodes.source.arguments import SAMPLE, DataArguments

Sampling = Literal["sequential", "shuffled"]
SAMPLINGS: Final[tuple[Sampling, ...]] = get_args(Sampling)
OPTIONS: Final = ("conversation_id", "index")
"""The options with which a reset names a conversation."""
DRAWN_BELOW: Final = 2**32
"""An endless mixture is shuffled by drawing indices below this."""
TRIES: Final = 100
"""How many conversations without a question are skipped before the search in a mixture stops."""
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
        training: bool = True,
        **selection: Any,
    ) -> None:
        """Load the data.

        Args:
            data: as in `DataArguments`.
            sampling: "sequential", in their order; "shuffled", in a different order each pass (in an endless
                mixture, independent draws).
            shard: (index, count) takes every count-th conversation from index on. The shards of a count are
                disjoint, and together they are everything.
            training: refuse data that is not for training, such as benchmark records, since environments hand
                out rewards; False is for evaluation.
            selection: the other fields of `DataArguments`, such as `number` and `where`.

        Raises:
            SettingsError: arguments that conflict or select nothing.
            UnknownNameError: no such sampling.
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
        self.data = DataArguments(data, **selection).choose(training=training)
        """The conversations of all shards; a `Mixture` if they are endless."""
        if isinstance(self.data, Conversations) and not len(self):
            raise SettingsError(
                f"shard ({self.start}, {self.step}) contains none of the {len(self.data)} "
                f"conversations of {self.name}: use at most as many shards as conversations"
            )
        self.reset_order()

    def __repr__(self) -> str:
        what = "endless" if self.endless else f"{len(self)} conversations"
        return f"ConversationSource({self.name!r}, {what}, {self.sampling})"

    @property
    def name(self) -> str:
        """A short description of where the conversations come from."""
        return self.data.source

    @property
    def endless(self) -> bool:
        """Whether the data is endless."""
        return isinstance(self.data, Mixture)

    def __len__(self) -> int:
        """The number of conversations in this shard; raises TypeError if the data is endless."""
        if isinstance(self.data, Mixture):
            raise TypeError(f"{self.name} is endless; limit it with number=…")
        return len(range(self.start, len(self.data), self.step))

    def conversation(self, index: int) -> Conversation:
        """Conversation `index` of the data, regardless of the shard; SettingsError if there is none."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {show(index)}; it must be a whole number from 0")
        if isinstance(self.data, Conversations) and index >= len(self.data):
            held = f"{self.name} has {len(self.data)} conversations, counted from 0"
            raise SettingsError(f"index is {show(index)}, but {held}")
        return self.data[index]

    def by_id(self, conversation_id: str) -> Conversation:
        """The conversation with that id, regardless of the shard.

        Raises UnknownNameError suggesting the closest id.
        """
        known = self.data.by_id
        if conversation_id in known:
            return known[conversation_id]
        what, names = "conversation", list(known)
        if len(names) > LISTED:
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
        self._order: Sequence[int] = ()

    def next(self, np_random: np.random.Generator | None = None) -> Conversation:
        """Return the next conversation; `np_random`, or else the seeded generator, draws the order."""
        generator = np_random or self._own
        place = self._position
        self._position += 1
        shuffled = self.sampling == "shuffled"
        if not self.endless:
            size = len(self)
            self.passes, place = divmod(place, size)
            if place == 0:
                self._order = generator.permutation(size).tolist() if shuffled else range(size)
            place = self._order[place]
        elif shuffled:
            place = int(generator.integers(DRAWN_BELOW // self.step))
        return self.conversation(self.start + self.step * place)
