"""The distribution of each model's scores over conversations, as `attune stats` shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from attune_env.report.analyses.leaderboard import SHARES
from attune_env.report.analyses.study import Study
from attune_env.tables.cells import Cell, Column, share_text
from attune_env.tables.groups import METRICS
from attune_env.tables.labels import mode_text, role_of
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Array
from attune_rewards.metrics.registry import better

QUARTERS: Final = (0.25, 0.5, 0.75)
_SPREAD: Final = ("sd", "se", "min", "q1", "median", "q3", "max")
COLUMNS: Final = (
    Column("metric"),
    Column("n"),
    Column("defined", share=True),
    Column("mean"),
    Column("unscored as 0", "mean_unscored_as_0"),
    *(Column(name) for name in _SPREAD),
)
NOTES: Final = (
    "n = conversations where the metric is defined, defined = their share; unscored as 0 = the mean with the "
    "others counted as 0 (not for errors, distances and gaps). sd uses n - 1, se = sd/√n, q1 and q3 = "
    "quartiles.",
    "parsed = readable replies, answered = scored items with a valid answer, unscored = items without an "
    "annotation.",
)


def model_stats(scores: Mapping[str, Any], *, every: bool = False) -> list[Table]:
    """One table per (model, mode), models before policies: how each metric is spread over conversations.

    n counts the conversations where the metric is defined, `defined` is their share of those the model was
    scored on; the second mean counts the others as 0, and is undefined for errors, distances and gaps. sd has
    the denominator n - 1 and is undefined for n = 1, like se = sd / √n; quartiles are interpolated linearly.
    Units are those of the label; with `every` those of score files.

    Args:
        scores: content of a scores file.
        every: all metrics of the file, under their names there; otherwise those that a report shows.
    """
    study = Study(scores)
    counts = Counter((entry["em_model"], entry["mode"]) for entry in study.entries)
    names = study.table.metrics if every else [name for name in METRICS if name in study.table.metrics]
    found = []
    for number, key in enumerate(study.ranked, 1):
        rows: list[tuple[Cell, ...]] = []
        for name in names:
            scale = 1.0 if every else METRICS[name].scale
            values = scale * study.table.metric(name, [key])[:, 0]
            label = name if every else METRICS[name].label
            rows.append((label, *_spread(values, counts[key], better(name) == "higher")))
        title = f"{key[0]} ({role_of(key[0])}), mode {mode_text(key[1])}, {counts[key]} conversations"
        shares = ", ".join(f"{n} {share_text(study.aggregates[key].get(s))}" for n, s in SHARES.items())
        found.append(Table(title, COLUMNS, rows, [f"{shares}."], name=f"stats_{number}"))
    found[-1].notes += NOTES
    return found


def stats_csv(scores: Mapping[str, Any], tables: Sequence[Table]) -> str:
    """The tables of `model_stats` as one CSV file: a row per model, mode and metric."""
    study = Study(scores)
    keys = (Column("model"), Column("kind"), Column("mode"))
    whole = Table("", (*keys, *COLUMNS, *(Column(name, share=True) for name in SHARES)), keys=4)
    for key, table in zip(study.ranked, tables, strict=True):
        shares = [study.aggregates[key].get(name) for name in SHARES.values()]
        whole.rows += [(key[0], role_of(key[0]), key[1], *row, *shares) for row in table.rows]
    return whole.csv_text()


def _spread(values: Array, scored: int, zero_lowest: bool) -> tuple[Cell, ...]:
    """n, defined share, mean, mean with unscored as 0, sd, se, min, quartiles, max of the defined values."""
    known = values[~np.isnan(values)]
    n = len(known)
    if not n:
        return (0, 0.0, None, None, *(None for _ in _SPREAD))
    with_gaps = float(known.sum()) / scored if zero_lowest else None
    sd = float(known.std(ddof=1)) if n > 1 else None
    first, median, third = (float(value) for value in np.quantile(known, QUARTERS))
    ends = float(known.min()), first, median, third, float(known.max())
    return (n, n / scored, float(known.mean()), with_gaps, sd, None if sd is None else sd / n**0.5, *ends)
