"""The variation of a model's scores between samples, for `attune run … --samples K`."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_SAMPLE: Final = re.compile(r"(?P<model>.+)@sample(?P<number>[2-9]|[1-9]\d+)")


@dataclass(frozen=True, slots=True)
class SampleSpread:
    """One metric of one model and mode across its samples."""

    em_model: str
    """`provider/model`, without a sample's number."""
    mode: str
    samples: int
    """At least 2."""
    mean: float
    """Range of the samples' means, in the metric's unit."""
    sd_samples: float
    """Standard deviation of the samples' means (n - 1): the variation from asking again."""
    se_conversations: float | None
    """Standard error over conversations of their means over the samples: the variation from the choice of
    conversations; None for a single conversation."""


def split_sample(em_model: str) -> tuple[str, int]:
    """Split a model's name in result files into (`provider/model`, number of the sample)."""
    found = _SAMPLE.fullmatch(em_model)
    return (found["model"], int(found["number"])) if found else (em_model, 1)


def sample_spread(scores: Mapping[str, Any], metric: str = "composite_strict") -> list[SampleSpread]:
    """Compare the variation of a metric between samples and between conversations, per model and mode.

    `metric` is a top-level number of the entries of a scores file, such as `composite_score`.

    Models with one sample are left out. So are conversations that a sample lacks or in which the metric is
    undefined, so that samples are compared on the same conversations.
    """
    values: dict[tuple[str, str], dict[int, dict[str, float]]] = {}
    for entry in scores["conversations"]:
        value = entry.get(metric)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            model, number = split_sample(entry["em_model"])
            by_sample = values.setdefault((model, entry["mode"]), {})
            by_sample.setdefault(number, {})[entry["conversationId"]] = float(value)
    found = []
    for (model, mode), by_sample in sorted(values.items()):
        shared = sorted(set.intersection(*map(set, by_sample.values())))
        if len(by_sample) >= 2 and shared:
            table = [[one[name] for name in shared] for one in by_sample.values()]
            means = [statistics.fmean(row) for row in table]
            over = [statistics.fmean(column) for column in zip(*table, strict=True)]
            error = statistics.stdev(over) / math.sqrt(len(over)) if len(over) > 1 else None
            mean, sd = statistics.fmean(means), statistics.stdev(means)
            found.append(SampleSpread(model, mode, len(table), mean, sd, error))
    return found
