"""How the scores of each model are spread over conversations: what `attune stats` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from attune_env.report.cells import Cell, Column, DataTable
from attune_env.report.groups import METRICS
from attune_env.report.table import share_text
from attune_env.report.tables import mode_text, ranked, role_of
from attune_env.statistics.bootstrap import Array
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.scores import Key
from attune_env.statistics.summary import zero_is_lowest

QUARTERS: Final = (0.25, 0.5, 0.75)
_SPREAD: Final = ("sd", "se", "min", "q1", "median", "q3", "max")
_SHARES: Final = {"parsed": "parse_rate", "answered": "answered_share", "unscored": "unscored_share"}
"""What a model's numbers rest on -> its name in aggregates."""
COLUMNS: Final = (
    Column("metric", prose=True),
    Column("n"),
    Column("defined", share=True),
    Column("mean"),
    Column("with gaps 0", "mean_unscored_as_0"),
    *(Column(name) for name in _SPREAD),
)
KEYS: Final = (Column("model"), Column("kind"), Column("mode"))
NOTES: Final = (
    "n = conversations where the metric is defined, defined = their share; with gaps 0 = the mean with the "
    "others counted 0 (not of errors, distances and gaps). sd with n - 1, se = sd/√n, q1 and q3 = quartiles.",
    "parsed = replies that were read, answered = scored items with a valid answer, unscored = items without "
    "an annotation.",
)


def model_stats(scores: Mapping[str, Any], *, every: bool = False) -> list[DataTable]:
    """One table per (model, mode), best first: each metric's distribution over that model's conversations.

    n counts the conversations where the metric is defined, `defined` is their share of those the model was
    scored on; the second mean counts the others 0, and is undefined for errors, distances and gaps. sd has
    n - 1 below the line and is undefined for n = 1, like se = sd / √n; quartiles are interpolated linearly.
    Units are those of the label; with `every` those of score files.

    Args:
        scores: content of a scores file.
        every: all metrics of the file, under their names there; else those that a report shows.
    """
    table = ScoreTable.of(scores["conversations"])
    counts = {(e["em_model"], e["mode"]): 0 for e in scores["conversations"]}
    for entry in scores["conversations"]:
        counts[entry["em_model"], entry["mode"]] += 1
    names = table.metrics if every else tuple(name for name in METRICS if name in table.metrics)

    def scale(name: str) -> float:
        return 1.0 if every else METRICS[name].scale

    found = []
    shares = _shares(scores)
    for number, key in enumerate(ranked(scores), 1):
        rows = [
            (
                name if every else METRICS[name].label,
                *_spread(scale(name) * table.metric(name, [key])[:, 0], counts[key], zero_is_lowest(name)),
            )
            for name in names
        ]
        title = f"{key[0]} ({role_of(key[0])}), mode {mode_text(key[1])}, {counts[key]} conversations"
        said = ", ".join(
            f"{name} {share_text(share)}" for name, share in zip(_SHARES, shares[key], strict=True)
        )
        found.append(DataTable(f"stats_{number}", title, COLUMNS, rows, [f"{said}."]))
    found[-1].notes += NOTES
    return found


def _shares(scores: Mapping[str, Any]) -> dict[Key, list[float | None]]:
    """Parse rate, answered and unscored share of each (model, mode); None where results do not say."""
    return {
        (e["em_model"], e["mode"]): [e.get(name) for name in _SHARES.values()] for e in scores["aggregates"]
    }


def stats_csv(scores: Mapping[str, Any], tables: Sequence[DataTable]) -> str:
    """What `model_stats` made of `scores`, as one CSV file: a row a model, mode and metric."""
    whole = DataTable("stats", "", (*KEYS, *COLUMNS, *(Column(name, share=True) for name in _SHARES)), keys=4)
    shares = _shares(scores)
    for key, table in zip(ranked(scores), tables, strict=True):
        whole.rows += [(key[0], role_of(key[0]), key[1], *row, *shares[key]) for row in table.rows]
    return whole.csv_text()


def _spread(values: Array, scored: int, zero_lowest: bool) -> tuple[Cell, ...]:
    """n, defined share, mean, mean with gaps as 0, sd, se, min, quartiles, max of the defined values."""
    known = values[~np.isnan(values)]
    n = len(known)
    if not n:
        return (0, 0.0, None, None, *(None for _ in _SPREAD))
    with_gaps = float(known.sum()) / scored if zero_lowest else None
    sd = float(known.std(ddof=1)) if n > 1 else None
    first, median, third = (float(value) for value in np.quantile(known, QUARTERS))
    ends = float(known.min()), first, median, third, float(known.max())
    return (n, n / scored, float(known.mean()), with_gaps, sd, None if sd is None else sd / n**0.5, *ends)
