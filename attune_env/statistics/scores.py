"""Scores as a table of numbers: rows are conversations, columns are (model, mode, metric)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from attune_env.statistics.bootstrap import RESAMPLES, Bootstrap, Interval
from attune_rewards.aggregate import flatten

Resample = Literal["auto", "conversation", "participant"]
Key = tuple[str, str]
"""(em_model, mode)"""


def resampled_unit(conversations: Sequence[Mapping[str, Any]], choice: Resample) -> str:
    """What `auto` comes to: participants where one owns several conversations, else conversations."""
    if choice != "auto":
        return choice
    owners = {c["conversationId"]: participant_of(c) for c in conversations}
    return "participant" if any(n > 1 for n in Counter(owners.values()).values()) else "conversation"


def participant_of(scores: Mapping[str, Any]) -> str:
    """Who held the scored conversation; the conversation itself where the file does not say."""
    marks = scores.get("attune")
    known = marks.get("participant") if isinstance(marks, Mapping) else None
    return str(known or scores["conversationId"])


def intervals(
    conversations: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    *,
    resample: Resample = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[Key, dict[str, Interval]]:
    """(model, mode) -> metric -> interval, from the per-conversation entries of a scores file.

    All models and metrics share one weight matrix over the union of the conversations, so that two
    models' intervals come from the same resamples.
    """
    rows = {
        c["conversationId"]: i for i, c in enumerate({c["conversationId"]: c for c in conversations}.values())
    }
    keys = sorted({(c["em_model"], c["mode"]) for c in conversations})
    table = np.full((len(rows), len(keys) * len(metrics)), np.nan)
    owners = [""] * len(rows)
    for scores in conversations:
        row = rows[scores["conversationId"]]
        owners[row] = participant_of(scores)
        flat = flatten(scores)
        start = keys.index((scores["em_model"], scores["mode"])) * len(metrics)
        for offset, metric in enumerate(metrics):
            value = flat.get(metric)
            if value is not None:
                table[row, start + offset] = value
    by_person = resampled_unit(conversations, resample) == "participant"
    kernel = Bootstrap(len(rows), owners if by_person else None, resamples=resamples, seed=seed)
    found = kernel.intervals(table)
    return {
        key: dict(zip(metrics, found[i * len(metrics) : (i + 1) * len(metrics)], strict=True))
        for i, key in enumerate(keys)
    }
