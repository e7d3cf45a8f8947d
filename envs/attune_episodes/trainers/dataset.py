"""`training_dataset`: training rows."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, cycle, islice, repeat, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from attune_data.constants import Provenance
from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.extras import needs_extra
from attune_data.guard import for_training, training_stream
from attune_data.loading import Conversations
from attune_data.mixture import Mixture
from attune_data.schema import Conversation
from attune_data.simulate.stream import Level, Simulation
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes.data_arguments import SIMULATED, DataArguments
from attune_episodes.score import LIVE, reward_spec
from attune_episodes.settings import Settings
from attune_episodes.trainers.rows import Row, RowMaker, described, features, table, unscored
from attune_episodes.trainers.sampling import SAMPLINGS, Sampling, sampled
from attune_episodes.trainers.truth import RESPOND
from attune_rewards.predictions import Stage
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

COLUMNS: Final = ("prompt", "id", "conversation_id", "participant_id", "stage", "turn", "level", "weight",
                  "reward", "truth", "provenance")  # fmt: skip
BUFFER: Final = 1_000
"""Size of the buffer in which a stream's rows are shuffled."""
Levels = str | Level | Sequence[str | Level] | Mapping[str, int]


def training_dataset(
    data: str | Path | Iterable[Conversation] = SIMULATED,
    *,
    level: Levels = "default",
    world_seed: int = 0,
    number: int | None = None,
    stages: Sequence[Stage | Literal["respond"]] | None = None,
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
        data: "simulated", "written" (its train part), "sample", a path or a dataset's name; a mixture, such
        as
            "3*written+simulated" (see `DataArguments`); or conversations: a sequence gives a `Dataset`, a
            lazy source such as a `Simulation` an `IterableDataset`, for which a trainer needs `max_steps`.
        level: for simulated conversations: a level; a list of levels to alternate; or a schedule {level:
            number of conversations}, in that order.
        world_seed: for simulated conversations: the seed of their participants.
        number: only the first N conversations; without it, a simulated world is endless.
        stages: the stages to ask, instead of those in `settings`. `("respond",)` alone makes rows in which
        the
            model replies to simulated people and earns the live reward (docs/live.md).
        prompts: "full", "compact" or a folder, instead of those in `settings`.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec or the name of a preset; by default `skill`, which subtracts what a model earns without
            reading. For the stage `respond`, only "live" is possible.
        sampling: "each" row once; by "weight", in proportion to its share of the episode; or by "stage", with
            each stage equally often.
        shuffle: a seed for shuffling the rows (in a stream, within a buffer of 1,000); in order if None.
        allow_benchmark_training: make rows from benchmark records too, against their authors' rule; the rows
            and the description of the dataset are marked.
        selection: the other fields of `DataArguments`: `split`, `where`, `provenance`.

    Returns:
        Rows with `prompt` (chat messages), `truth` (JSON with the answer; for scoring only), and their
        source, as listed in docs/training.md; in the protocol's order.

    Raises:
        BenchmarkTrainingError: benchmark or unmarked records. All errors are raised at the call, except for
            later records of a lazy source.
        SettingsError, UnknownNameError, DataError: invalid or conflicting arguments, a reward that rows
        cannot
            represent, or nothing to score.
        TypeError: something other than conversations was given.
    """
    if sampling not in SAMPLINGS:
        raise UnknownNameError("sampling", sampling, SAMPLINGS)
    if shuffle is not None and (type(shuffle) is not int or shuffle < 0):
        raise SettingsError(f"shuffle is {show(shuffle)}; it must be a seed, a whole number from 0, or None")
    maker: RowMaker | None = None
    if isinstance(stages, Sequence) and not isinstance(stages, str) and RESPOND in stages:
        _check_respond(stages, data, reward, prompts=prompts, settings=settings)
    else:
        given: dict[str, Any] = {"stages": stages, "prompts": prompts}
        given = {name: value for name, value in given.items() if value is not None}
        asked = replace(settings or Settings(), **given)
        maker = RowMaker(asked, reward_spec("skill" if reward is None else reward))
        maker.check()
    with needs_extra("datasets", "datasets"):
        import datasets  # noqa: F401
    named = {"world_seed": world_seed, "number": number} | selection
    source = _source(data, level, named, allowed=allow_benchmark_training)
    rows = _rows(source, maker, allowed=allow_benchmark_training)
    if sampling != "each":
        rows = sampled(rows, sampling)
    if shuffle is None:
        return rows
    return rows.shuffle(seed=shuffle, **({} if hasattr(rows, "__len__") else {"buffer_size": BUFFER}))


def _check_respond(stages: Sequence[str], data: object, reward: object, **others: object) -> None:
    from attune_episodes.live.source import check_simulated

    if set(stages) != {RESPOND}:
        raise SettingsError(
            f"stages is {show(stages)}; respond cannot be combined with others: make those rows separately "
            "and join them with datasets.interleave_datasets"
        )
    if reward not in (None, LIVE):
        raise SettingsError(
            f'reward is {show(reward)}; the reward of stage respond is "{LIVE}"; leave it out'
        )
    for name, value in others.items():
        if value is not None:
            raise SettingsError(f"{name} is {show(value)}; the stage respond does not use it; leave it out")
    if not isinstance(data, Simulation):
        check_simulated(data, "the stage respond")


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Simulated conversations of one world, or of several in turn. Picklable and repeatedly iterable."""

    worlds: tuple[tuple[Simulation, int], ...]
    """(world, number of consecutive conversations), repeated in a cycle."""
    number: int | None = None
    """The total number of conversations; None if endless."""

    @staticmethod
    def of(level: Levels, seed: int, number: int | None) -> Curriculum:
        """The curriculum described by the arguments of `training_dataset`; raises its errors."""
        if isinstance(level, Mapping):
            for name, count in level.items():
                if type(count) is not int or count < 1:
                    raise SettingsError(
                        f"level {show(name)} has {show(count)} conversations; expected at least 1"
                    )
            if number is not None:
                raise SettingsError("a schedule of levels sets the number of conversations; leave out number")
            number = sum(level.values())
            schedule: list[tuple[Any, int]] = [*level.items()]
        else:
            schedule = [(one, 1) for one in (level if isinstance(level, (list, tuple)) else [level])]
        if not schedule:
            raise SettingsError("level is empty; name at least one")
        return Curriculum(tuple((Simulation(seed, level=one), count) for one, count in schedule), number)

    def __iter__(self) -> Iterator[tuple[Conversation, str]]:
        """Each conversation with the name of its level."""
        return ((world[index], world.level.name) for world, index in self.places())

    def places(self) -> Iterator[tuple[Simulation, int]]:
        """The world and the index there of each conversation: number i of the world in turn."""
        turns = chain.from_iterable(repeat(world, count) for world, count in cycle(self.worlds))
        for index, world in enumerate(islice(turns, self.number)):
            yield world, world.start + index * world.step


def _source(
    data: object, level: Levels, selection: Mapping[str, Any], *, allowed: bool
) -> Curriculum | Mixture | Iterable[Conversation]:
    """The conversations that the arguments select: simulated, a sequence, or a lazy source."""
    if isinstance(data, str) and data == SIMULATED:
        DataArguments(data, **selection)  # which validates them
        return Curriculum.of(level, selection["world_seed"], selection["number"])
    if isinstance(data, (str, Path, Conversations)):
        arguments = DataArguments(data, level=level, **selection)  # type: ignore[arg-type]  # it validates the level
        return arguments.choose(training=True, allow_benchmark_training=allowed)
    if isinstance(data, Conversation) or not isinstance(data, Iterable):
        raise TypeError(
            f'data is {show(data)} ({type(data).__name__}); expected "{SIMULATED}", "sample", a path, the '
            "name of a dataset, or several conversations, such as load(…) or Simulation(…) returns"
        )
    if level != "default" or selection != {"world_seed": 0, "number": None}:
        raise SettingsError(
            "level, world_seed, number and selections apply only to data given by name, not to objects"
        )
    return Curriculum(((data, 1),)) if isinstance(data, Simulation) else data


def _rows(
    source: Curriculum | Mixture | Iterable[Conversation], maker: RowMaker | None, *, allowed: bool
) -> Dataset | IterableDataset:
    reward = LIVE if maker is None else maker.spec.name
    what = f"Training rows of attune-env {__version__} (scoring {SCORING_VERSION}), reward {reward}"
    mark: Provenance | None
    if isinstance(source, Curriculum):
        finite = source.number is not None
        mark = "simulated" if finite else None
    elif isinstance(source, Mixture):
        finite, mark = False, source.provenance
    elif finite := isinstance(source, Sequence):
        mark = for_training(source, allow_benchmark_training=allowed)
    else:
        source = training_stream(source, allow_benchmark_training=allowed)
        mark = "benchmark" if allowed else None
    make, told = _Pass(source, maker), described(what, mark)
    if finite:
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

    def __init__(self, source: Curriculum | Mixture | Iterable[Conversation], maker: RowMaker | None) -> None:
        self.source, self.maker = source, maker  # None makes rows to reply to

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (pickle.dumps((self.source, self.maker)),)

    def __call__(self) -> Iterator[Row]:
        source, maker = self.source, self.maker
        if maker is None:
            from attune_episodes.trainers.respond import respond_rows

            assert isinstance(source, Curriculum)
            yield from chain.from_iterable(starmap(respond_rows, source.places()))
            return
        placed: Iterable[Any]
        if isinstance(source, Mixture):
            placed = map(source.placed, count())
        else:
            placed = source if isinstance(source, Curriculum) else ((one, None) for one in source)
        for conversation, level in placed:
            yield from maker.rows(conversation, level)


def _unpacked(packed: bytes) -> _Pass:
    return _Pass(*pickle.loads(packed))
