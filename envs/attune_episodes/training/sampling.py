"""Choose training rows: draw them by weight or stage, or select them by pass rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, groupby, pairwise, repeat
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from attune_data.errors import SettingsError, show
from attune_data.seeding import digest
from attune_episodes.training.rows import Row
from attune_episodes.training.scoring import score_row
from attune_rewards.reward.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

Sampling = Literal["each", "weight", "stage"]
SAMPLINGS: Final[tuple[Sampling, ...]] = get_args(Sampling)


def sampled(rows: Dataset | IterableDataset, sampling: Sampling) -> Dataset | IterableDataset:
    """Draw as many rows as each conversation has, with some repeated and some left out, deterministically."""
    from datasets import Dataset, IterableDataset

    if isinstance(rows, Dataset):
        keys = rows.select_columns(["conversation_id", "stage", "weight"])
        return rows.select([index for index, _ in drawn(keys, sampling)])
    stream = IterableDataset.from_generator(partial(_rows_drawn, rows, sampling), features=rows.features)
    stream.info.description = rows.info.description
    return stream


def _rows_drawn(rows: Iterable[Row], sampling: Sampling) -> Iterator[Row]:
    return (row for _, row in drawn(rows, sampling))


def drawn(rows: Iterable[Row], sampling: Sampling) -> Iterator[tuple[int, Row]]:
    """Draw (index, row) pairs for each conversation, in order.

    Systematic sampling: the rows of a conversation are placed side by side on a line, each as long as its
    share, and chosen by as many equally spaced marks as there are rows; a hash places the first mark.
    """
    for name, conversation in groupby(enumerate(rows), key=lambda placed: placed[1]["conversation_id"]):
        each = list(conversation)
        if sampling == "weight":
            shares = [row["weight"] for _, row in each]
        else:
            stages = [row["stage"] for _, row in each]
            shares = [1 / stages.count(stage) for stage in stages]
        scale = len(each) / math.fsum(shares)
        first = int.from_bytes(digest("sampling", name)[:8], "big") / 2**64
        ends = [0.0, *accumulate(share * scale for share in shares)]
        ends[-1] = len(each)  # exact, regardless of the rounding of earlier sums
        for placed, (start, end) in zip(each, pairwise(ends), strict=True):
            yield from repeat(placed, math.floor(end + first) - math.floor(start + first))


def keep_pass_rates(
    rows: Dataset,
    model: Callable[[list[dict[str, str]]], str | None],
    low: float,
    high: float,
    *,
    samples: int = 8,
    passing: float = 0.5,
    spec: RewardSpec | str | None = None,
) -> Dataset:
    """Keep the rows that a model passes neither too rarely nor too often, and add a column `pass_rate`.

    GRPO learns nothing from a group of replies that all pass or all fail.

    Args:
        rows: rows of `training_dataset`; for a stream, first collect some in a `Dataset`.
        model: a function from chat messages to a reply; it should sample, as in training.
        low: the lowest pass rate to keep.
        high: the highest pass rate to keep.
        samples: number of replies to each prompt.
        passing: the least value of a reply that passes.
        spec: as in `score_row`.

    Raises SettingsError for bounds that are not 0 <= low <= high <= 1, or no sample.
    """
    if not 0 <= low <= high <= 1 or type(samples) is not int or samples < 1:
        raise SettingsError(
            f"low is {show(low)}, high {show(high)}, samples {show(samples)}; expected 0 <= low <= high <= 1 "
            "and at least one sample"
        )

    def rate(row: Row) -> float:
        values = (score_row(row, model(row["prompt"]), spec=spec).value for _ in range(samples))
        return sum((value or 0.0) >= passing for value in values) / samples

    rates = [rate(row) for row in rows]
    kept = [index for index, found in enumerate(rates) if low <= found <= high]
    column: Any = [rates[index] for index in kept]
    return rows.select(kept).add_column("pass_rate", column)
