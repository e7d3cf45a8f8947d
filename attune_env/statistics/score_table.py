"""Scores as one array: conversations × (model, mode) × metrics, with a shared bootstrap kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attune_rewards.bootstrap import RESAMPLES, Array, Bootstrap, Interval
from attune_rewards.metrics.aggregate import flatten

Resample = Literal["auto", "conversation", "participant"]
Key = tuple[str, str]
"""(em_model, mode)"""


def participant_of(scores: Mapping[str, Any]) -> str:
    """The participant of a scored conversation, or the conversation's id if the file does not say."""
    marks = scores.get("attune")
    known = marks.get("participant") if isinstance(marks, Mapping) else None
    return str(known or scores["conversationId"])


@dataclass(frozen=True)
class ScoreTable:
    """The numbers of a scores file.

    Args:
        ids: the sorted conversation ids, one per row.
        owners: the participant of each conversation.
        keys: (model, mode) pairs, sorted.
        metrics: flat metric names, as in `attune_rewards.metrics.aggregate.flatten`.
        values: (rows, keys, metrics); NaN if undefined or if the pair has no result for that conversation.
        unit: the unit that the bootstrap resamples, `conversation` or `participant`.
        seed: the seed of the bootstrap.
        resamples: the number of resamples.
    """

    ids: tuple[str, ...]
    owners: tuple[str, ...]
    keys: tuple[Key, ...]
    metrics: tuple[str, ...]
    values: Array
    unit: str = "conversation"
    seed: int = 0
    resamples: int = RESAMPLES

    @classmethod
    def of(
        cls,
        entries: Sequence[Mapping[str, Any]],
        *,
        resample: Resample = "auto",
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> ScoreTable:
        """From the per-conversation entries of a scores file, in any order."""
        flat = [flatten(entry) for entry in entries]
        metrics = sorted({name for one in flat for name in one})
        owner_of = {entry["conversationId"]: participant_of(entry) for entry in entries}
        ids = sorted(owner_of)
        keys = sorted({(entry["em_model"], entry["mode"]) for entry in entries})
        rows, columns, places = ({name: i for i, name in enumerate(axis)} for axis in (ids, keys, metrics))
        values = np.full((len(ids), len(keys), len(metrics)), np.nan)
        for entry, one in zip(entries, flat, strict=True):
            at = rows[entry["conversationId"]], columns[entry["em_model"], entry["mode"]]
            for name, value in one.items():
                if value is not None:
                    values[*at, places[name]] = value
        several = max(Counter(owner_of.values()).values(), default=0) > 1
        unit = ("participant" if several else "conversation") if resample == "auto" else resample
        owners = tuple(owner_of[identity] for identity in ids)
        return cls(tuple(ids), owners, tuple(keys), tuple(metrics), values, unit, seed, resamples)

    @cached_property
    def kernel(self) -> Bootstrap:
        """The resampling weights that all statistics of these conversations share: differences are paired."""
        clusters = self.owners if self.unit == "participant" else self.ids
        return Bootstrap(len(self.ids), clusters, resamples=self.resamples, seed=self.seed)

    def metric(self, name: str, keys: Sequence[Key] | None = None) -> Array:
        """(rows, keys) of one metric; all NaN if no entry has it."""
        chosen = self.keys if keys is None else keys
        if name not in self.metrics:
            return np.full((len(self.ids), len(chosen)), np.nan)
        places = [self.keys.index(key) for key in chosen]
        return self.values[:, places, self.metrics.index(name)]

    def of_metrics(self, names: Sequence[str], keys: Sequence[Key] | None = None) -> Array:
        """(rows, keys, names) of several metrics; all NaN if no entry has one."""
        return np.stack([self.metric(name, keys) for name in names], axis=-1)

    def intervals(self, name: str, keys: Sequence[Key] | None = None) -> list[Interval]:
        """The mean of one metric with its interval, one per key."""
        return self.kernel.intervals(self.metric(name, keys))

    def has_result(self, keys: Sequence[Key]) -> Array:
        """(rows, keys): whether the (model, mode) has a result for each conversation."""
        places = [self.keys.index(key) for key in keys]
        return np.asarray((~np.isnan(self.values[:, places])).any(axis=-1))
