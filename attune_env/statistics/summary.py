"""Every mean beside what it rests on: n, the unscored share, the parse rate, and the mean with gaps as 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.scores import Key
from attune_rewards.metrics import better


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric of one (model, mode)."""

    metric: str
    mean: Interval
    """Over the conversations where it is defined (scored)."""
    with_unscored_as_zero: Interval | None
    """Over all results of the model, an undefined value counted 0; None for errors and differences, whose 0
    is no lowest score."""
    results: int
    """Conversations that the model has a result for."""
    unscored_share: float | None
    """Share of these where the metric is undefined: 1 - n/results; None without results."""


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What one (model, mode) scored, and how much of it could be read and scored."""

    key: Key
    results: int
    parse_rate: float | None
    """Requests whose reply was parsed / requests asked; None where result files do not say."""
    answered_share: float | None
    """Scored places with a valid answer, averaged over conversations."""
    unscored_share: float | None
    """Places without annotation, averaged over conversations: a property of the data."""
    metrics: tuple[MetricSummary, ...]


def zero_is_lowest(metric: str) -> bool:
    """Whether an unscored conversation may be counted 0: not for errors, distances and gaps."""
    return better(metric) == "higher"


def has_result(table: ScoreTable, key: Key) -> npt.NDArray[np.bool_]:
    """(rows,): whether the (model, mode) has a result for each conversation: something of it is defined."""
    return np.asarray((~np.isnan(table.values[:, table.keys.index(key)])).any(axis=-1))


def metric_summaries(
    table: ScoreTable, metrics: Sequence[str], keys: Sequence[Key]
) -> list[tuple[MetricSummary, ...]]:
    """The metrics of each (model, mode), with intervals from the table's resamples; one tuple a key.

    Undefined: a mean over nothing is None; so is the unscored share of a model without results.
    """
    held = np.stack([has_result(table, key) for key in keys], axis=1)
    results = held.sum(axis=0).tolist()
    values = table.of_metrics(metrics, keys).reshape(len(held), -1)
    filled = np.where(np.repeat(held, len(metrics), axis=1) & np.isnan(values), 0.0, values)
    means = table.kernel.intervals(values)
    as_zero = list(means)
    gaps = np.flatnonzero((np.isnan(values) != np.isnan(filled)).any(axis=0))
    for column, interval in zip(gaps, table.kernel.intervals(filled[:, gaps]), strict=True):
        as_zero[column] = interval
    found = iter(zip(means, as_zero, strict=True))
    return [
        tuple(_summary(metric, *pair, number) for metric, pair in zip(metrics, found, strict=False))
        for number in results
    ]


def _summary(metric: str, mean: Interval, as_zero: Interval, results: int) -> MetricSummary:
    share = 1 - mean.n / results if results else None
    return MetricSummary(metric, mean, as_zero if zero_is_lowest(metric) else None, results, share)


def model_summaries(
    scores: Mapping[str, Any], table: ScoreTable, metrics: Sequence[str], keys: Sequence[Key]
) -> list[ModelSummary]:
    """One summary a key, in their order; `scores` is the scores file that `table` was made from."""
    groups = {(group["em_model"], group["mode"]): group for group in scores["aggregates"]}
    found = []
    for key, rows in zip(keys, metric_summaries(table, metrics, keys), strict=True):
        group = groups[key]
        parsed, answered, unscored = map(group.get, ("parse_rate", "answered_share", "unscored_share"))
        results = int(has_result(table, key).sum())
        found.append(ModelSummary(key, results, parsed, answered, unscored, rows))
    return found
