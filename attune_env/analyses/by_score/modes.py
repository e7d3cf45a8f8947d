"""Modes: what reasoning aloud or knowing the profile changes, and whether ranks hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import MEASURED, few_noted, label_of, leading, resampled
from attune_env.analyses.by_score.wording import (
    CHANCE,
    counted,
    excludes_zero,
    how_many,
    names_of,
    of_all,
    sentence,
    with_interval,
)
from attune_env.analyses.study import PRIMARY, Study
from attune_env.report.cells import Cell, Column, DataTable
from attune_env.report.groups import METRICS, Metric
from attune_env.report.tables import mode_text, role_of
from attune_env.statistics.bootstrap import Array, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Change:
    """One mode against the base mode, for the models that were scored in both."""

    mode: str
    models: list[str]
    metrics: list[Metric]
    differences: list[list[Interval]]
    """Per metric, then model: mode − base on the conversations that both have."""
    pooled: list[Interval]
    """Per metric, over models."""
    means: Array
    """(models, 2): the Composite in base and mode on the conversations that all of them have in both."""
    shared: int
    """How many these are."""


@few_noted
def mode_differences(study: Study) -> Analysis | Absent:
    """Every other mode minus the base mode, paired by conversation, and ranks by Composite in both."""
    name, title = "modes", "Modes"
    present = sorted({mode for _, mode in study.table.keys})
    base = PRIMARY if PRIMARY in present else study.mode
    changes = [
        change for mode in present if mode != base and (change := _change(study, base, mode)) is not None
    ]
    if not changes:
        reason = f"no model was scored in {base} and another mode on the same conversations"
        return Absent(name, title, reason)
    return Analysis(
        name,
        title,
        " ".join(_reading(change, base) for change in changes),
        (_differences(changes, base), _ranks(changes, base)),
        tuple(
            figure
            for change in changes
            for figure in (
                (f"mode-{_plain(change.mode)}", partial(_figure, change, base)),
                *([(f"mode-{_plain(change.mode)}-ranks", partial(_rank_figure, change, base))]
                  if len(change.models) > 1 else []),
            )
        ),
        f"Mode − {mode_text(base)} within each conversation that was scored in both; {resampled(study)}; "
        f"{CHANCE}. Ranks are of mean Composites on the conversations that all these models have in both "
        f"modes. Only mode {PRIMARY} is primary.",
    )  # fmt: skip


def _plain(mode: str) -> str:
    """A mode as part of a file's name."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in mode.lower())


def _change(study: Study, base: str, mode: str) -> Change | None:
    table = study.table
    models = sorted({m for m, one in table.keys if one == base} & {m for m, one in table.keys if one == mode})
    models = [m for m in models if role_of(m) == "model"] or models
    if not models:
        return None
    before, after = ([(m, one) for m in models] for one in (base, mode))
    metrics = [leading(study), *MEASURED, METRICS["avg_draft_judge_score"]]
    names = [metric.name for metric in metrics]
    differences = table.of_metrics(names, after) - table.of_metrics(names, before)
    kept = [i for i in range(len(metrics)) if not np.isnan(differences[:, :, i]).all()]
    if 0 not in kept:
        return None
    differences = differences[:, :, kept]
    known = ~np.isnan(differences)
    with np.errstate(invalid="ignore"):
        pooled = np.where(known, differences, 0.0).sum(axis=1) / known.sum(axis=1)
    rows, columns = len(differences), len(models) * len(kept)
    found = table.kernel.intervals(
        np.concatenate([differences.transpose(0, 2, 1).reshape(rows, columns), pooled], axis=1)
    )
    composites = np.stack([table.metric(study.composite, keys) for keys in (before, after)], axis=2)
    complete = ~np.isnan(composites).any(axis=(1, 2))
    means = composites[complete].mean(axis=0) if complete.any() else np.full((len(models), 2), np.nan)
    by_metric = [found[i * len(models) : (i + 1) * len(models)] for i in range(len(kept))]
    return Change(
        mode, models, [metrics[i] for i in kept], by_metric, found[columns:], means, int(complete.sum())
    )


def _reading(change: Change, base: str) -> str:
    composite = change.pooled[0]
    known = [one for one in change.differences[0] if one.mean is not None]
    up = sum(excludes_zero(one) and (one.mean or 0.0) > 0 for one in known)
    down = sum(excludes_zero(one) and (one.mean or 0.0) < 0 for one in known)
    text = (
        f"mode {change.mode} against {base}: {with_interval(composite, signed=True)} points of "
        f"{label_of(change.metrics[0])} over {counted(len(known), 'model')}"
    )
    if (composite.low or 0.0) <= 0 <= (composite.high or 0.0):
        text += ", an interval that holds 0"
    if len(known) > 1:
        text += f"; beyond its own interval higher for {of_all(up, len(known), 'model')}, "
        text += f"lower for {how_many(down)}"
        moved = int((_ranked(change.means[:, 0]) != _ranked(change.means[:, 1])).sum())
        if change.shared:
            text += f"; {moved or 'no'} model{'s' if moved > 1 else ''} change{'s' if moved < 2 else ''} rank"
    return sentence(text)


def _ranked(means: Array) -> Array:
    """1 = highest; equal means share the better rank."""
    return np.array([1 + int((means > one).sum()) for one in means])


def _differences(changes: Sequence[Change], base: str) -> DataTable:
    table = DataTable(
        "mode_differences",
        f"Modes against {mode_text(base)}, points of 100, paired by conversation",
        (
            Column("mode"),
            Column("metric"),
            Column("model"),
            Column("difference", places=1, scale=100),
            Column("n"),
        ),
        keys=3,
    )
    for change in changes:
        for metric, differences, pooled in zip(
            change.metrics, change.differences, change.pooled, strict=True
        ):
            rows = zip((*change.models, "all models"), (*differences, pooled), strict=True)
            for model, one in rows:
                cells: tuple[Cell, ...] = (mode_text(change.mode), label_of(metric), model)
                table.rows.append((*cells, _share(metric, one), one.n))
    return table


def _share(metric: Metric, one: Interval) -> Interval:
    """A difference in the unit of shares: points of 100 are divided by 100."""
    if one.mean is None or one.low is None or one.high is None or not metric.label.endswith("(0-100)"):
        return one
    return Interval(one.mean / 100, one.low / 100, one.high / 100, one.n, one.units)


def _ranks(changes: Sequence[Change], base: str) -> DataTable:
    table = DataTable(
        "mode_ranks",
        f"Composite ranks across modes, against {mode_text(base)}, on the conversations that all share",
        (
            Column("mode"),
            Column("model"),
            Column(f"Composite, {base}", "base", places=1),
            Column("Composite, mode", "mode_mean", places=1),
            Column(f"rank, {base}", "rank_base"),
            Column("rank, mode", "rank_mode"),
            Column("places gained", "gained"),
            Column("n"),
        ),
        keys=2,
    )
    for change in changes:
        if not change.shared:
            continue
        first, second = _ranked(change.means[:, 0]), _ranked(change.means[:, 1])
        for i in np.argsort(first, kind="stable"):
            ranks = int(first[i]), int(second[i]), int(first[i] - second[i])
            means = float(change.means[i, 0]), float(change.means[i, 1])
            table.rows.append((mode_text(change.mode), change.models[i], *means, *ranks, change.shared))
    return table


def _figure(change: Change, base: str) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import footed, frame, row_height, unused, zero_line
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    many = len(change.models) > 1
    names = names_of([(model, change.mode) for model in change.models])
    labels = [*names, "all models"] if many else names
    columns = min(4, len(change.metrics))
    rows = -(-len(change.metrics) // columns)
    height = row_height(len(labels), 1.5) * rows
    figure, axes = panels(rows, columns, width=8.0, height=height, sharey=True)
    for axis, metric, values, pooled in zip(
        axes, change.metrics, change.differences, change.pooled, strict=False
    ):
        scale = 1.0 if metric.label.endswith("(0-100)") else 100.0
        shown = [*values, pooled] if many else values
        interval_dots(axis, labels, shown, scale=scale)
        frame(axis, shown, scale=scale)
        zero_line(axis)
        head = label_of(metric).replace(" Accuracy", "").replace("PANAS Baseline-Adjusted", "PANAS adj.")
        headed(axis, head)
    unused(axes, len(change.metrics), columns)
    footed(figure, f"{mode_text(change.mode)} − {mode_text(base)}, points of 100, with 95 % interval")
    return figure


def _rank_figure(change: Change, base: str) -> Figure:
    from attune_env.figures.courses import slopes
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    names = names_of([(model, change.mode) for model in change.models])
    longest = max(map(len, names))
    figure, (axis,) = panels(width=2.6 + 0.16 * longest, height=1.2 + 0.27 * len(names))
    slopes(axis, (base, change.mode), names, _ranked(change.means[:, 0]), _ranked(change.means[:, 1]))
    headed(axis, "Rank by Composite (1 = best)")
    return figure
