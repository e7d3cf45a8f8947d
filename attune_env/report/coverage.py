"""What means rest on: n, the unscored share, the parse rate, and the mean with what is unscored as 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import METRICS, Metric
from attune_env.report.tables import KEY_COLUMNS, mode_text, references, role_of
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.scores import Key
from attune_env.statistics.summary import metric_summaries


def coverage_data(scores: Mapping[str, Any], table: ScoreTable, keys: Sequence[Key]) -> DataTable:
    """What each mean of `group_data` rests on, and what it is with gaps as 0: a row a model and metric."""
    shown = [m for m in METRICS.values() if not np.isnan(table.metric(m.name, keys)).all()]
    parsed = {(e["em_model"], e["mode"]): e.get("parse_rate") for e in scores["aggregates"]}
    columns = (
        *KEY_COLUMNS,
        Column("metric"),
        Column("counts as"),
        Column("mean over scored", "mean"),
        Column("mean, unscored as 0", "mean_unscored_as_0"),
        Column("n"),
        Column("results"),
        Column("unscored", share=True),
        Column("parsed", share=True),
    )
    found = DataTable(
        "means_rest_on",
        "What the means rest on",
        columns,
        notes=[
            "n = conversations where the metric is defined; results = conversations that the model was "
            "scored on; unscored = 1 - n/results. Of errors, distances and gaps 0 is no lowest score: no "
            "second mean."
        ],
        keys=5,
        foldable=("kind", "mode", "parsed"),
    )
    summaries = metric_summaries(table, [m.name for m in shown], keys)
    faint = references(keys)
    for number, (key, rows) in enumerate(zip(keys, summaries, strict=True)):
        for metric, row in zip(shown, rows, strict=True):
            if number in faint:
                found.dim.add(len(found.rows))
            second = row.with_unscored_as_zero
            means = (_scaled(row.mean, metric), None if second is None else _scaled(second, metric))
            named = (key[0], role_of(key[0]), mode_text(key[1]), metric.label, metric.role)
            found.rows.append((*named, *means, row.mean.n, row.results, row.unscored_share, parsed.get(key)))
    return found


def _scaled(interval: Interval, metric: Metric) -> Interval:
    """In the unit of the metric's label."""
    ends = (interval.mean, interval.low, interval.high)
    mean, low, high = (None if end is None else end * metric.scale for end in ends)
    return replace(interval, mean=mean, low=low, high=high)
