"""`to_dataset`: conversations as training rows, a `datasets.Dataset` or an endless `IterableDataset`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, overload

from attune_data.constants import Provenance
from attune_data.extras import needs_extra
from attune_data.guard import for_training, training_stream
from attune_data.schema import Conversation
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes.score import default_spec, reward_spec
from attune_episodes.settings import Settings
from attune_episodes.training.arguments import described, settings_of, unscored
from attune_episodes.training.rows import Row, RowMaker
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, Features, IterableDataset

CHUNK: Final = 64
"""Conversations turned into a table at once, so that their rows never all exist as Python objects."""


@overload
def to_dataset(
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    allow_benchmark_training: bool = False,
) -> Dataset: ...
@overload
def to_dataset(
    conversations: Iterable[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    allow_benchmark_training: bool = False,
) -> IterableDataset: ...
def to_dataset(
    conversations: Iterable[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    allow_benchmark_training: bool = False,
) -> Dataset | IterableDataset:
    """One training row per request that a part of the reward scores.

    Σ weight · value over the rows of a conversation is the return of its episode: with the default reward
    and all scored stages `composite_strict` / 100. `score_row(row, text)` scores a reply.

    Args:
        conversations: a sequence (a list, what `load` returns) gives a `Dataset`; anything lazy gives an
            `IterableDataset` whose rows are made as they are read: endless where the source is, and each
            pass anew where the source can be iterated again (a generator: one pass only).
        settings: how the requests are asked; the default protocol if None.
        reward: a spec or the name of a preset; the Composite if None, whose row values lie in [0, 1].
            `skill` takes off what reading nothing earns, for trainers without a baseline of their own.
        allow_benchmark_training: make rows of benchmark records too, against their authors' rule; the rows
            are marked `benchmark`, and the description of the dataset says so.

    Returns:
        Rows with `prompt` (chat messages), `id`, `conversation_id`, `participant_id`, `stage`, `turn`
        (null in reflect), `weight`, `reward` (the spec's name), `nulls` (JSON, part -> null), `truth`
        (JSON; the answer: for scoring only) and `provenance`, in the protocol's order.

    Raises (all at the call, but for records of a lazy source after its first):
        BenchmarkTrainingError: benchmark or unmarked records are among the conversations.
        SettingsError: the reward cannot travel (functions of one's own, terminal) or scores no stage asked.
        DataError: there are no conversations, or nothing in them is annotated that the reward scores.
        TypeError: something else than conversations was given.
    """
    given: object = conversations
    if isinstance(given, (str, Conversation)) or not isinstance(given, Iterable):
        raise TypeError(f"to_dataset takes many conversations, got {_advice(given)}")
    spec = default_spec() if reward is None else reward_spec(reward)
    maker = RowMaker(settings_of(settings), spec)
    maker.check()
    with needs_extra("datasets", "datasets"):
        import datasets  # noqa: F401
    if not isinstance(conversations, Sequence):
        source = training_stream(conversations, allow_benchmark_training=allow_benchmark_training)
        mark: Provenance | None = "benchmark" if allow_benchmark_training else None
        return _stream(_Source(source, maker), _description(spec, mark))
    mark = for_training(conversations, allow_benchmark_training=allow_benchmark_training)
    return _table(conversations, maker, _description(spec, mark))


def features() -> Features:
    """The types of the columns, stated so that no batch of nulls can change them."""
    from datasets import Features, List, Value

    text = Value("string")
    return Features(
        {
            "prompt": List({"role": text, "content": text}),
            **dict.fromkeys(("id", "conversation_id", "participant_id", "stage"), text),
            "turn": Value("int32"),
            "weight": Value("float64"),
            **dict.fromkeys(("reward", "nulls", "truth", "provenance"), text),
        }
    )


def _table(conversations: Sequence[Conversation], maker: RowMaker, description: str) -> Dataset:
    from datasets import Dataset, concatenate_datasets

    items, types, chunks = tuple(conversations), features(), []
    for start in range(0, len(items), CHUNK):
        rows = list(maker(items[start : start + CHUNK]))
        if rows:
            chunks.append(Dataset.from_list(rows, features=types))
    if not chunks:
        raise unscored(maker.spec)
    dataset = concatenate_datasets(chunks)
    dataset.info.description = description
    return dataset


@dataclass(frozen=True, slots=True)
class _Source:
    """What `datasets` calls at the start of each pass."""

    conversations: Iterable[Conversation]
    maker: RowMaker

    def __call__(self) -> Iterator[Row]:
        return self.maker(self.conversations)


def _stream(source: _Source, description: str) -> IterableDataset:
    from datasets import IterableDataset

    dataset = IterableDataset.from_generator(source, features=features())
    dataset.info.description = description
    return dataset


def _description(spec: RewardSpec, mark: Provenance | None) -> str:
    what = f"Training rows of attune-env {__version__} (scoring {SCORING_VERSION}), reward {spec.name}"
    return described(what, mark)


def _advice(given: object) -> str:
    if isinstance(given, str):
        return f"the text {given!r}: load({given!r}) gives them"
    kind = type(given).__name__
    return f"one {kind}: put it into a list" if isinstance(given, Conversation) else kind
