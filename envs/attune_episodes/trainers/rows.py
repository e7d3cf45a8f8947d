"""`training_dataset`: training rows from data arguments, ready for a trainer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.loading import Conversations
from attune_data.seeding import digest
from attune_episodes.data_arguments import SIMULATED, DataArguments
from attune_episodes.score import reward_spec
from attune_episodes.settings import Settings
from attune_episodes.training.arguments import settings_of
from attune_episodes.training.dataset import to_dataset
from attune_rewards.predictions import Stage
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

Sampling = Literal["each", "weight", "stage"]
SAMPLINGS: Final[tuple[Sampling, ...]] = get_args(Sampling)
BUFFER: Final = 1_000
"""Rows of a stream that are shuffled among each other."""


def training_dataset(
    data: str | Path | Conversations = SIMULATED,
    *,
    stages: Sequence[Stage] | None = None,
    prompts: str | None = None,
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    sampling: Sampling = "each",
    shuffle: int | None = None,
    allow_benchmark_training: bool = False,
    **selection: Any,
) -> Dataset | IterableDataset:
    """Rows for trainers that take prompts and a reward function: one for each request that is scored.

    The rows of `to_dataset` but for `turn`, which is null in reflect (it stands in `id`), so that no column
    holds nulls. `reward_functions(reward, rows)` and `row_reward` score replies to them. Hold people back
    with another `world_seed`, or with a `split` of the data by participant.

    Args:
        data: as `DataArguments` has it. "simulated" without a `number` gives a stream without end.
        stages: the stages that are asked, in place of those of `settings`.
        prompts: "full", "compact" or a folder, in place of those of `settings`.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec, or the name of a preset. `skill` takes off what reading nothing earns.
        sampling: "each" row once; by "weight", so that a row comes in proportion to its share of the
            episode; or by "stage", each stage equally often. The two draw as many rows of a conversation as
            it has: some come several times, some not at all, by a hash of the conversation.
        shuffle: a seed to shuffle the rows with (a stream: within a buffer of 1,000); in order if None.
        allow_benchmark_training: make rows of benchmark records too, against their authors' rule.
        selection: the other fields of `DataArguments`: `level`, `world_seed`, `number`, `split`, `where`,
            `provenance`.

    Returns:
        A `Dataset`; an `IterableDataset`, for which the trainer needs `max_steps`, from an endless world.

    Raises (at the call):
        BenchmarkTrainingError: benchmark or unmarked records.
        SettingsError, UnknownNameError, DataError: arguments that name nothing, or do not go together.
        TypeError: data, settings or a reward of another kind.
    """
    if sampling not in SAMPLINGS:
        raise UnknownNameError("sampling", sampling, SAMPLINGS)
    if shuffle is not None and (type(shuffle) is not int or shuffle < 0):
        raise SettingsError(f"shuffle is {show(shuffle)}; it must be a seed, a whole number from 0, or None")
    if not isinstance(data, (str, Path, Conversations)):
        raise TypeError(
            f'data is {show(data)} ({type(data).__name__}); expected "{SIMULATED}", "sample", a path, the '
            'name of a dataset, or Conversations; lists and Simulations go to to_dataset(…, reward="skill")'
        )
    asked, spec = settings_of(settings), reward_spec(reward)
    chosen = DataArguments(data, **selection).choose()
    given: dict[str, Any] = {} if stages is None else {"stages": stages}
    if prompts is not None:
        given["prompts"] = prompts
    asked = replace(asked, **given)
    rows = to_dataset(chosen, asked, spec, allow_benchmark_training=allow_benchmark_training)
    rows = rows.remove_columns(["turn"])
    if sampling != "each":
        rows = _sampled(rows, sampling)
    if shuffle is None:
        return rows
    if isinstance(chosen, Conversations):
        return rows.shuffle(seed=shuffle)
    return rows.shuffle(seed=shuffle, buffer_size=BUFFER)


def _sampled(rows: Dataset | IterableDataset, sampling: Sampling) -> Dataset | IterableDataset:
    from datasets import Dataset, IterableDataset

    if isinstance(rows, Dataset):
        keys = rows.select_columns(["conversation_id", "stage", "weight"])
        return rows.select(list(_drawn(keys, sampling)))
    stream = IterableDataset.from_generator(_Drawn(rows, sampling), features=rows.features)
    stream.info.description = rows.info.description
    return stream


@dataclass(frozen=True)
class _Drawn:
    """What `datasets` calls at the start of each pass."""

    rows: Iterable[Mapping[str, Any]]
    sampling: Sampling

    def __call__(self) -> Iterator[Mapping[str, Any]]:
        for _, conversation in groupby(self.rows, key=lambda row: row["conversation_id"]):
            rows = list(conversation)
            for index in _drawn(rows, self.sampling):
                yield rows[index]


def _drawn(rows: Iterable[Mapping[str, Any]], sampling: Sampling) -> Iterator[int]:
    """Indices of the rows that are drawn, in their order.

    Systematic sampling: the rows of a conversation lie side by side on a line, as long as their share, and
    are hit by as many equally spaced marks as there are rows; where the first mark lies is drawn.
    """
    start = 0
    for name, conversation in groupby(rows, key=lambda row: row["conversation_id"]):
        each = list(conversation)
        if sampling == "weight":
            shares = [row["weight"] for row in each]
        else:
            stages = [row["stage"] for row in each]
            shares = [1 / stages.count(stage) for stage in stages]
        scale = len(each) / math.fsum(shares)
        first = int.from_bytes(digest("sampling", name)[:8], "big") / 2**64
        reached = passed = 0.0
        for index, share in enumerate(shares, start):
            # the end of the line is exact, whatever the sums before were rounded to
            reached = reached + share * scale if index < start + len(each) - 1 else float(len(each))
            hits = math.floor(reached + first) - math.floor(passed + first)
            passed = reached
            for _ in range(hits):
                yield index
        start += len(each)
