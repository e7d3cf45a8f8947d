"""`Order`: how the conversations of a source follow one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

import numpy as np

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.format.schema import Conversation
from attune_data.source.corpora import TO_PLAY
from attune_data.source.source import Data, Mixed, Source

Sampling = Literal["sequential", "shuffled"]
SAMPLINGS: Final[tuple[Sampling, ...]] = get_args(Sampling)
OPTIONS: Final = ("conversation_id", "index")
"""The options with which a reset names a conversation."""
DRAWN_BELOW: Final = 2**32
"""Of an endless source, conversations are drawn below this number."""
TRIES: Final = 100
"""How many conversations without a question are skipped before the search in an endless source stops."""


class Order:
    """An endless order of a source's conversations, or of a shard of them.

    It goes through all conversations exactly once per *pass*, then starts again (shuffled differently each
    time); `passes` counts them. Of an endless source, shuffled conversations are drawn independently. Orders
    depend only on the generator passed in.
    """

    def __init__(
        self, source: Source, *, sampling: Sampling = "shuffled", shard: Sequence[int] | None = None
    ) -> None:
        """Read the source.

        Args:
            source: the conversations.
            sampling: "sequential", in their order, or "shuffled".
            shard: (index, count) takes every count-th conversation from index on. The shards of a count are
                disjoint, and together they are everything.

        Raises:
            SettingsError: not a shard, or an empty one.
            UnknownNameError: no such sampling.
            DataError, BenchmarkTrainingError: see `Source.parts`.
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
        self._start, self._step = given
        self.source = source
        """The conversations of all shards."""
        _ = source.parts  # read now, not at the first `next`
        if not source.endless and not len(self):
            raise SettingsError(
                f"shard ({self._start}, {self._step}) contains none of the {len(source)} "
                f"conversations of {source.name}: use at most as many shards as conversations"
            )
        self.restart()

    @classmethod
    def of(
        cls,
        data: Data | Mixed = TO_PLAY,
        *,
        sampling: Sampling = "shuffled",
        shard: Sequence[int] | None = None,
        training: bool = True,
        **selection: Any,
    ) -> Order:
        """The order of `Source(data, …)`, for environments: as they hand out rewards, `training` is on."""
        return cls(Source(data, training=training, **selection), sampling=sampling, shard=shard)

    def __repr__(self) -> str:
        what = "endless" if self.source.endless else f"{len(self)} conversations"
        return f"Order({self.source.name!r}, {what}, {self.sampling})"

    def __len__(self) -> int:
        """The number of conversations in this shard; raises TypeError if the source is endless."""
        return len(range(self._start, len(self.source), self._step))

    def restart(self, seed: int | None = None) -> None:
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
        shuffled = self.sampling == "shuffled"
        place = self._position
        self._position += 1
        if self.source.endless:
            return self.drawn(generator) if shuffled else self._at(place)
        self.passes, place = divmod(place, len(self))
        if place == 0:
            self._order = generator.permutation(len(self)).tolist() if shuffled else range(len(self))
        return self._at(self._order[place])

    def drawn(self, np_random: np.random.Generator) -> Conversation:
        """Draw a conversation of this shard, whatever came before; the order goes on as it was."""
        size = DRAWN_BELOW // self._step if self.source.endless else len(self)
        return self._at(int(np_random.integers(size)))

    def _at(self, place: int) -> Conversation:
        return self.source[self._start + self._step * place]

    def choose(
        self,
        options: object,
        asks: Callable[[Conversation], object],
        draw: Callable[[], Conversation] | None = None,
    ) -> Conversation:
        """The conversation that a reset names, otherwise the next one in which something is asked.

        Args:
            options: None or {}, `{"conversation_id": id}` or `{"index": i}`, regardless of the shard. After a
                named one, the order continues as if it had not been played.
            asks: whether (or what) something is asked about a conversation.
            draw: returns the next conversation; by default `next`.

        Raises UnknownNameError for another option or conversation, SettingsError if nothing is asked.
        """
        draw = (lambda: self._named(options)) if options else draw or self.next
        for _ in range(1 if options else TRIES if self.source.endless else 2 * len(self)):
            conversation = draw()
            if asks(conversation):
                return conversation
        of = repr(conversation.conversation_id) if options else self.source.name
        raise SettingsError(f"the stages ask nothing about {of}: choose others")

    def _named(self, options: object) -> Conversation:
        if not isinstance(options, Mapping):
            raise SettingsError(f"options is {show(options)}; expected a dict with {' or '.join(OPTIONS)}")
        for name in options:
            if name not in OPTIONS:
                raise UnknownNameError("reset option", str(name), OPTIONS)
        if len(options) > 1:
            raise SettingsError("options may contain conversation_id or index, not both")
        if "index" in options:
            return self.source[options["index"]]
        named = options["conversation_id"]
        if not isinstance(named, str):
            raise SettingsError(f"conversation_id is {show(named)}; it must be a text, such as 'sample-01'")
        return self.source.by_id(named)
