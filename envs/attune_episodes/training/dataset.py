"""`training_dataset`: training rows."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.extras import needs_extra
from attune_data.files.conversations import Conversations
from attune_data.format.constants import Provenance
from attune_data.format.schema import Conversation
from attune_data.source.corpora import TO_TRAIN
from attune_data.source.guard import for_training, training_stream
from attune_data.source.names import accepted
from attune_data.source.source import Data, Source
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes.play.score import reward_spec
from attune_episodes.protocol.settings import Settings
from attune_episodes.training.rows import Row, RowMaker, described, features, table, unscored
from attune_episodes.training.sampling import SAMPLINGS, Sampling, sampled
from attune_rewards.predictions import Stage
from attune_rewards.reward.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

COLUMNS: Final = ("prompt", "id", "conversation_id", "participant_id", "stage", "turn", "weight", "reward",
                  "truth", "provenance")  # fmt: skip
BUFFER: Final = 1_000
"""Size of the buffer in which a stream's rows are shuffled."""


def training_dataset(
    data: Data | Iterable[Conversation] = TO_TRAIN,
    *,
    number: int | None = None,
    stages: Sequence[Stage] | None = None,
    prompts: str | None = None,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    sampling: Sampling = "each",
    shuffle: int | None = None,
    allow_benchmark_training: bool = False,
    **selection: Any,
) -> Dataset | IterableDataset:
    """Make training rows, one for each request that a part of the reward scores.

    `reward_functions(reward, rows)`, `row_reward` and `score_row` score replies to them. Σ weight · value
    over the rows of a conversation is the return of its episode.

    Args:
        data: "written" (its train part), "sample", a path or a dataset's name; a mixture, such as
            "3*written+sample"; a `Source`; or conversations: a sequence gives a `Dataset`, a lazy source, as
            an endless mixture is, an `IterableDataset`, for which a trainer needs `max_steps`.
        number: only the first N conversations.
        stages: the stages to ask, instead of those in `settings`.
        prompts: "full", "compact" or a folder, instead of those in `settings`.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec, or what `read_reward` reads (the name of a preset, `FILE.py:NAME`, `module:NAME`); by
            default `skill`, which subtracts what a model earns without reading.
        sampling: "each" row once; by "weight", in proportion to its share of the episode; or by "stage", with
            each stage equally often.
        shuffle: a seed for shuffling the rows (in a stream, within a buffer of 1,000); in order if None.
        allow_benchmark_training: make rows from benchmark records too, against their authors' rule; the rows
            and the description of the dataset are marked.
        selection: the other fields of `Source`: `split`, `where`, `provenance`.

    Returns:
        Rows with `prompt` (chat messages), `truth` (JSON with the answer; for scoring only), and their
        source, as listed in docs/training.md; in the protocol's order.

    Raises:
        BenchmarkTrainingError: benchmark or unmarked records. All errors are raised at the call, except for
            later records of a lazy source.
        SettingsError, UnknownNameError, DataError: invalid or conflicting arguments, a reward that rows
            cannot represent, or nothing to score.
        TypeError: something other than conversations was given.
    """
    if sampling not in SAMPLINGS:
        raise UnknownNameError("sampling", sampling, SAMPLINGS)
    if shuffle is not None and (type(shuffle) is not int or shuffle < 0):
        raise SettingsError(f"shuffle is {show(shuffle)}; it must be a seed, a whole number from 0, or None")
    given: dict[str, Any] = {"stages": stages, "prompts": prompts}
    given = {name: value for name, value in given.items() if value is not None}
    asked = replace(settings or Settings(), **given)
    maker = RowMaker(asked, reward_spec("skill" if reward is None else reward))
    maker.check()
    with needs_extra("train", "datasets"):
        import datasets  # noqa: F401
    source = _source(data, {"number": number} | selection, allowed=allow_benchmark_training)
    rows = _rows(source, maker, allowed=allow_benchmark_training)
    if sampling != "each":
        rows = sampled(rows, sampling)
    if shuffle is None:
        return rows
    return rows.shuffle(seed=shuffle, **({} if hasattr(rows, "__len__") else {"buffer_size": BUFFER}))


def _source(data: object, selection: dict[str, Any], *, allowed: bool) -> Iterable[Conversation]:
    """The conversations that the arguments select: a sequence, or a lazy source such as a mixture."""
    if isinstance(data, (str, Path, Conversations)):
        data = Source(data, training=True, allow_benchmark_training=allowed, **selection)
        return data if data.endless else data.finite()
    if isinstance(data, Conversation) or not isinstance(data, Iterable):
        raise TypeError(
            f"data is {show(data)} ({type(data).__name__}); expected {accepted()}, or several conversations, "
            "such as load(…) returns"
        )
    if selection != {"number": None}:
        raise SettingsError(
            "number and selections apply to a name, a path or Conversations, not to other objects"
        )
    return data


def _rows(source: Iterable[Conversation], maker: RowMaker, *, allowed: bool) -> Dataset | IterableDataset:
    mark: Provenance | None
    if isinstance(source, Sequence):
        mark = for_training(source, allow_benchmark_training=allowed)
    else:
        source = training_stream(source, allow_benchmark_training=allowed)
        mark = "benchmark" if allowed else None
    reward = maker.spec.name
    what = f"Training rows of attune-env {__version__} (scoring {SCORING_VERSION}), reward {reward}"
    make, told = _Pass(source, maker), described(what, mark)
    if isinstance(source, Sequence):
        return table(make(), COLUMNS, told, unscored(reward))
    from datasets import IterableDataset

    stream = IterableDataset.from_generator(make, features=features(COLUMNS))
    stream.info.description = told
    return stream


class _Pass:
    """Makes the rows of a source; `datasets` calls it at the start of each pass.

    It is pickled as one block of bytes, because `datasets` hashes the source of a stream with a pickler
    written in Python, which takes ten seconds for the written corpus.
    """

    def __init__(self, source: Iterable[Conversation], maker: RowMaker) -> None:
        self.source, self.maker = source, maker

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (pickle.dumps((self.source, self.maker)),)

    def __call__(self) -> Iterator[Row]:
        for conversation in self.source:
            yield from self.maker.rows(conversation)


def _unpacked(packed: bytes) -> _Pass:
    return _Pass(*pickle.loads(packed))
