"""`training_dataset`: training rows from data arguments or from conversations, ready for a trainer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.constants import Provenance
from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.extras import needs_extra
from attune_data.guard import for_training, training_stream
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.simulate.stream import Level, Simulation
from attune_data.version import SCORING_VERSION, __version__
from attune_data.written.corpus import is_written, training_part
from attune_episodes.data_arguments import SIMULATED, DataArguments
from attune_episodes.score import reward_spec
from attune_episodes.settings import Settings
from attune_episodes.trainers.curriculum import Curriculum
from attune_episodes.trainers.rows import Row, RowMaker, described, unscored
from attune_episodes.trainers.sampling import SAMPLINGS, Sampling, sampled
from attune_rewards.predictions import Stage
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, Features, IterableDataset

CHUNK: Final = 512
"""Rows turned into a table at once, so that they never all exist as Python objects."""
BUFFER: Final = 1_000
"""Rows of a stream that are shuffled among each other."""


def training_dataset(
    data: str | Path | Iterable[Conversation] = SIMULATED,
    *,
    level: str | Level | Sequence[str | Level] | Mapping[str, int] = "default",
    world_seed: int = 0,
    number: int | None = None,
    stages: Sequence[Stage] | None = None,
    prompts: str | None = None,
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    sampling: Sampling = "each",
    shuffle: int | None = None,
    allow_benchmark_training: bool = False,
    **selection: Any,
) -> Dataset | IterableDataset:
    """Make training rows: one for each request that a part of the reward scores.

    `reward_functions(reward, rows)`, `row_reward` and `score_row` score replies to them. Σ weight · value
    over the rows of a conversation is the return of its episode. Hold participants back with another
    `world_seed`, or with a `split` of the data by participant.

    Args:
        data: "simulated", "written" (its train part), "sample", a path or a dataset's name; or
            conversations: a sequence gives a `Dataset`, anything lazy, such as a `Simulation`, an
            `IterableDataset` whose rows are made as they are read.
        level: of simulated conversations: a level; a list, whose levels take turns; or a schedule
            {level: how many conversations}, in that order.
        world_seed: of simulated conversations: who their participants are.
        number: only the first so many conversations; without it a simulated world has no end.
        stages: the stages that are asked, in place of those of `settings`.
        prompts: "full", "compact" or a folder, in place of those of `settings`.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec, or the name of a preset. `skill` subtracts what a model earns without reading.
        sampling: "each" row once; by "weight", so that a row comes in proportion to its share of the
            episode; or by "stage", each stage equally often.
        shuffle: a seed to shuffle the rows with (a stream: within a buffer of 1,000); in order if None.
        allow_benchmark_training: make rows of benchmark records too, against their authors' rule; the rows
            and the description of the dataset say so.
        selection: the other fields of `DataArguments`: `split`, `where`, `provenance`.

    Returns:
        Rows with `prompt` (chat messages), `id`, `conversation_id`, `participant_id`, `stage`, `turn` (null
        in reflect), `level` (null where nothing was simulated), `weight`, `reward` (the spec's name),
        `truth` (JSON; the answer: for scoring only) and `provenance`, in the protocol's order. For an
        `IterableDataset` the trainer needs `max_steps`.

    Raises:
        BenchmarkTrainingError: benchmark or unmarked records; like the others at the call, except for
            records of a lazy source after its first.
        SettingsError, UnknownNameError, DataError: arguments that name nothing or do not go together, a
            reward that rows cannot carry, nothing that it scores.
        TypeError: something else than conversations was given.
    """
    if sampling not in SAMPLINGS:
        raise UnknownNameError("sampling", sampling, SAMPLINGS)
    if shuffle is not None and (type(shuffle) is not int or shuffle < 0):
        raise SettingsError(f"shuffle is {show(shuffle)}; it must be a seed, a whole number from 0, or None")
    given: dict[str, Any] = {"stages": stages, "prompts": prompts}
    asked = replace(settings or Settings(), **{n: value for n, value in given.items() if value is not None})
    maker = RowMaker(asked, reward_spec(reward))
    maker.check()
    with needs_extra("datasets", "datasets"):
        import datasets  # noqa: F401
    source = _source(data, level, world_seed, number, selection)
    rows = _rows(source, maker, allowed=allow_benchmark_training)
    if sampling != "each":
        rows = sampled(rows, sampling)
    if shuffle is None:
        return rows
    return rows.shuffle(seed=shuffle, **({} if hasattr(rows, "__len__") else {"buffer_size": BUFFER}))


def _source(
    data: str | Path | Iterable[Conversation],
    level: str | Level | Sequence[str | Level] | Mapping[str, int],
    world_seed: int,
    number: int | None,
    selection: Mapping[str, Any],
) -> Iterable[Conversation]:
    """The conversations that the arguments name: a sequence, or what is lazy."""
    if isinstance(data, str) and data == SIMULATED:
        DataArguments(data, world_seed=world_seed, number=number, **selection)  # which checks them
        return Curriculum.of(level, world_seed, number)
    if isinstance(data, str) and is_written(data):
        data = training_part(data, selection.get("split"))
        selection = {name: value for name, value in selection.items() if name != "split"}
    if isinstance(data, (str, Path, Conversations)):
        chosen = DataArguments(data, level=level, world_seed=world_seed, number=number, **selection)  # type: ignore[arg-type]  # it refuses what is no level
        return chosen.choose()
    given: object = data
    if isinstance(given, Conversation) or not isinstance(given, Iterable):
        raise TypeError(
            f'data is {show(data)} ({type(data).__name__}); expected "{SIMULATED}", "sample", a path, the '
            "name of a dataset, or several conversations, such as load(…) or Simulation(…) gives"
        )
    if selection or number is not None or (level, world_seed) != ("default", 0):
        raise SettingsError("level, world_seed, number and selections are for data that is named, not given")
    return data


def _rows(source: Iterable[Conversation], maker: RowMaker, *, allowed: bool) -> Dataset | IterableDataset:
    what = f"Training rows of attune-env {__version__} (scoring {SCORING_VERSION}), reward {maker.spec.name}"
    if isinstance(source, Sequence):
        mark: Provenance | None = for_training(source, allow_benchmark_training=allowed)
        return table(_Rows(source, maker)(), features(), described(what, mark), unscored(maker.spec))
    if isinstance(source, Curriculum):
        if source.number is not None:
            return table(
                _Rows(source, maker)(), features(), described(what, "simulated"), unscored(maker.spec)
            )
    else:
        level = source.level.name if isinstance(source, Simulation) else None
        source = training_stream(source, allow_benchmark_training=allowed)
        return _stream(_Rows(source, maker, level), described(what, "benchmark" if allowed else None))
    return _stream(_Rows(source, maker), described(what, None))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes the rows of a source; `datasets` calls it at the start of each pass."""

    source: Iterable[Conversation]
    maker: RowMaker
    level: str | None = None

    def __call__(self) -> Iterator[Row]:
        if isinstance(self.source, Curriculum):
            for conversation, level in self.source.with_levels():
                yield from self.maker.rows(conversation, level)
        else:
            for conversation in self.source:
                yield from self.maker.rows(conversation, self.level)


def features() -> Features:
    """The types of the columns, stated so that no batch of nulls can change them."""
    from datasets import Features, List, Value

    text = Value("string")
    before, after = ("id", "conversation_id", "participant_id", "stage"), ("reward", "truth", "provenance")
    return Features(
        {
            "prompt": List({"role": text, "content": text}),
            **dict.fromkeys(before, text),
            "turn": Value("int32"),
            "level": text,
            "weight": Value("float64"),
            **dict.fromkeys(after, text),
        }
    )


def table(rows: Iterable[Row], types: Features, description: str, nothing: Exception) -> Dataset:
    """A `Dataset` of rows, made in chunks; raises `nothing` where there are none."""
    from datasets import Dataset, concatenate_datasets

    left, chunks = iter(rows), []
    while some := [{name: row[name] for name in types} for row in islice(left, CHUNK)]:
        chunks.append(Dataset.from_list(some, features=types))
    if not chunks:
        raise nothing
    dataset = concatenate_datasets(chunks)
    dataset.info.description = description
    return dataset


def _stream(source: _Rows, description: str) -> IterableDataset:
    from datasets import IterableDataset

    dataset = IterableDataset.from_generator(source, features=features())
    dataset.info.description = description
    return dataset
