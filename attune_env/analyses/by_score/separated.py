"""Which models are told apart: paired differences of every pair on every metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    MEASURED,
    defined,
    few_noted,
    label_of,
    leading,
    noun,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import (
    counted,
    how_many,
    listed,
    names_of,
    of_all,
    plural_of,
    sentence,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import METRICS, Metric
from attune_env.statistics.comparisons import ALPHA, Comparison, Separation, compare_metrics, separation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 4
"""Metrics that get a matrix of their own."""
MANY = 12
"""With more models than this, one matrix fills the figure."""

Pairs = Mapping[str, Sequence[Comparison]]


@few_noted
def pairs_separated(study: Study) -> Analysis | Absent:
    """How many pairs of models are separated on each metric, and by how much."""
    title = "Pairs of models separated"
    if len(study.models) < 2:
        return Absent("pairs-separated", title, "the scores hold one model in this mode; compare several")
    metrics = defined(study, (leading(study), *MEASURED))
    if not metrics:
        return Absent("pairs-separated", title, "no metric is defined")
    values = np.stack([study.table.metric(metric.name, study.models) for metric in metrics], axis=2)
    found = compare_metrics(study.table.kernel, values, seed=study.seed)
    pairs = {metric.name: one for metric, one in zip(metrics, found, strict=True)}
    counts = [separation(one) for one in found]
    names = names_of(study.models)
    wanted = (study.composite, "avg_pairwise_accuracy", "avg_binary_human_accuracy", "avg_emotion_va_score")
    shown = [METRICS[name] for name in wanted if name in pairs][: SHOWN if len(names) <= MANY else 1]
    return Analysis(
        "pairs-separated",
        title,
        _reading(metrics, counts, noun(study)),
        (_counts(study, metrics, counts), _pairs(study, metrics, pairs)),
        (
            ("pairs-separated", partial(_count_figure, metrics, counts)),
            *([("pairs-matrix", partial(_matrices, names, shown, pairs))] if len(names) > 2 else []),
        ),
        "A pair is separated if the paired interval of its difference leaves out 0 (no correction, as the "
        "paper's figure reads); beside it: sign-flip test of the same differences, Holm-corrected over the "
        f"pairs of a metric, at {ALPHA}. Of models that do not differ the interval separates about one pair "
        f"in twenty (of {counted(counts[0].pairs, 'pair')} {counts[0].pairs * ALPHA:g}), Holm's correction "
        "any pair in one study of twenty. Each pair on the conversations that both have; "
        f"{resampled(study)}.",
    )


def _reading(metrics: Sequence[Metric], counts: Sequence[Separation], what: str) -> str:
    first = counts[0]
    text = (
        f"the {label_of(metrics[0])} separates {of_all(first.by_interval, first.pairs, 'pair')} of "
        f"{plural_of(what)} ({how_many(first.by_holm)} with Holm's correction)"
    )
    if len(metrics) > 2:
        inputs = list(zip(metrics[1:], counts[1:], strict=True))
        numbers = [one.by_interval for _, one in inputs]
        most, least = max(numbers), min(numbers)
        if first.pairs == 1:
            text += f"; of its inputs {sum(numbers)} of {len(inputs)} do"
        elif most > least:
            high, low = (
                [label_of(metric) for metric, one in inputs if one.by_interval == number]
                for number in (most, least)
            )
            text += (
                f"; of its inputs {listed(high)} separate{'s' if len(high) == 1 else ''} most ({most}), "
                f"{listed(low)} fewest ({least})"
            )
    return sentence(text)


def _counts(study: Study, metrics: Sequence[Metric], counts: Sequence[Separation]) -> DataTable:
    table = DataTable(
        "pairs_separated",
        titled(study, "Pairs of models separated"),
        (
            Column("metric"),
            Column("counts as"),
            Column("by the 95 % interval", "by_interval"),
            Column("with Holm", "by_holm"),
            Column("pairs"),
        ),
        keys=2,
    )
    table.rows += [
        (metric.label, metric.role, one.by_interval, one.by_holm, one.pairs)
        for metric, one in zip(metrics, counts, strict=True)
    ]
    return table


def _pairs(study: Study, metrics: Sequence[Metric], pairs: Pairs) -> DataTable:
    table = DataTable(
        "pairs",
        titled(study, "Differences of all pairs of models, each in the unit of its metric"),
        (
            Column("metric"),
            Column("first"),
            Column("second"),
            Column("first - second", "difference"),
            Column("p", places=4),
            Column("p, Holm", "p_holm", places=4),
            Column("interval leaves out 0", "separated"),
            Column("n"),
        ),
        keys=3,
    )
    for metric in metrics:
        for one in pairs[metric.name]:
            first, second = study.models[one.first][0], study.models[one.second][0]
            row = (metric.label, first, second, one.difference, one.p, one.p_holm)
            table.rows.append((*row, "yes" if one.separated else "no", one.difference.n))
    return table


def _count_figure(metrics: Sequence[Metric], counts: Sequence[Separation]) -> Figure:
    from attune_env.figures.score_marks import row_height, shares
    from attune_env.figures.style import panels, style

    figure, (axis,) = panels(width=5.5, height=row_height(len(metrics)))
    rows = [(one.by_interval, one.by_holm, one.pairs) for one in counts]
    shares(axis, [label_of(m) for m in metrics], rows, ("● 95 % interval", "◇ Holm-corrected test"))
    with style():
        axis.set_xlabel("pairs of models separated, %")
    return figure


def _matrices(names: Sequence[str], metrics: Sequence[Metric], pairs: Pairs) -> Figure:
    from attune_env.figures.marks import matrix
    from attune_env.figures.score_marks import footed, unused
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import DIVERGING, panels

    columns = min(2, len(metrics))
    rows = -(-len(metrics) // columns)
    side = 1.4 + 0.24 * len(names)
    width = max(8.0 if len(metrics) > 1 else 5.0, columns * (2.0 + 0.27 * len(names)))
    figure, axes = panels(rows, columns, width=width, height=side * rows, sharey=True)
    for axis, metric in zip(axes, metrics, strict=False):
        scale = 1.0 if metric.label.endswith("(0-100)") else 100.0
        values = np.full((len(names), len(names)), np.nan)
        unsure = np.zeros(values.shape, dtype=bool)
        for one in pairs[metric.name]:
            if one.difference.mean is not None:
                values[one.first, one.second] = scale * one.difference.mean
                unsure[one.first, one.second] = not one.separated
        most = float(np.nanmax(np.abs(values))) if not np.isnan(values).all() else 1.0
        # without the empty first column and last row
        matrix(axis, values[:-1, 1:], names[:-1], names[1:], low=-(most or 1.0), high=most or 1.0,
               colours=DIVERGING, places=1, faint=unsure[:-1, 1:])  # fmt: skip
        headed(axis, label_of(metric))
    unused(axes, len(metrics), columns)
    footed(figure, "row − column, points of 100 (pale number: the paired 95 % interval holds 0)")
    return figure
