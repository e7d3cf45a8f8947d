"""Top models per metric: the first three, the lead of the first, and everybody's rank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    LOWER_IS_BETTER,
    MEASURED,
    Means,
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
    excludes_zero,
    how_many,
    names_of,
    of_all,
    sentence,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Cell, Column, DataTable
from attune_env.report.groups import METRICS, Metric
from attune_env.statistics.bootstrap import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = ("first", "second", "third")


@few_noted
def top_models(study: Study) -> Analysis | Absent:
    """The best three models on the Composite, each of its inputs, and what is reported beside them."""
    title = "Top models per metric"
    if len(study.models) < 2:
        return Absent("top-models", title, "the scores hold one model in this mode; compare several")
    beside = (METRICS["avg_pairwise_kendall_tau"], METRICS["avg_draft_judge_score"])
    metrics = defined(study, (leading(study), *MEASURED, *beside))
    if not metrics:
        return Absent("top-models", title, "no metric is defined")
    means = Means(study, [metric.name for metric in metrics])
    ranks = np.array([_ranks(means, metric) for metric in metrics]).T
    orders = [sorted(range(len(column)), key=lambda i, c=column: (_last(c[i]), i)) for column in ranks.T]  # type: ignore[misc]
    leads = study.table.kernel.intervals(
        np.concatenate(
            [
                study.table.metric(metric.name, [study.models[order[0]]])
                - study.table.metric(metric.name, [study.models[order[1]]])
                for metric, order in zip(metrics, orders, strict=True)
            ],
            axis=1,
        )
    )
    table = DataTable(
        "top_models",
        titled(study, "Top models per metric"),
        (
            Column("metric"),
            Column("counts as"),
            *(
                column
                for place in PLACES
                for column in (Column(place, prose=True), Column(f"its mean ({place})", f"{place}_mean"))
            ),
            Column("lead of the first", "lead"),
            Column("n"),
        ),
        keys=2,
    )
    for metric, order, lead in zip(metrics, orders, leads, strict=True):
        cells: list[Cell] = []
        for place in range(len(PLACES)):
            known = place < len(order) and not np.isnan(ranks[order[place], metrics.index(metric)])
            cells += (
                [study.models[order[place]][0], means.of(metric.name)[order[place]]] if known else ["", None]
            )
        table.rows.append((metric.label, metric.role, *cells, lead, lead.n))
    names = names_of(study.models)
    firsts = [
        names[order[0]] for order, column in zip(orders, ranks.T, strict=True) if (column == 1).sum() == 1
    ]
    clear = sum(map(excludes_zero, leads))
    reading = _reading(noun(study), firsts, len(names), len(metrics))
    reading += f"; the first is ahead of the second beyond the interval on {how_many(clear)}"
    return Analysis(
        "top-models",
        title,
        sentence(reading),
        (table,),
        (("top-models", partial(_figure, names, metrics, ranks)),),
        f"Ranks of means over conversations, 1 is best, equal means share the better rank; the lead is the "
        f"paired difference of the first two; {resampled(study)}. A rank says nothing of the distance: see "
        "the lead, and the pairs of models that are separated.",
    )


def _reading(what: str, firsts: Sequence[str], models: int, metrics: int) -> str:
    """`firsts`: who is first, of each metric where it is one alone."""
    if not firsts:
        return f"no {what} is alone in first place on any of {counted(metrics, 'metric')}"
    if len(firsts) == metrics > 1 and len(set(firsts)) == 1:
        return f"first on all {metrics} metrics is {firsts[0]}"
    number = len(set(firsts))
    shared = metrics - len(firsts)
    return (
        f"{of_all(number, models, what)} {'is' if number == 1 else 'are'} first on at least one of "
        f"{counted(metrics, 'metric')}" + (f" (on {shared} the first place is shared)" if shared else "")
    )


def _last(rank: float) -> float:
    return float("inf") if np.isnan(rank) else rank


def _ranks(means: Means, metric: Metric) -> list[float]:
    """1 = best; NaN where the mean is undefined."""
    sign = 1 if metric.name in LOWER_IS_BETTER else -1
    values = [one.mean for one in means.of(metric.name)]
    known = [sign * value for value in values if value is not None]
    return [np.nan if v is None else 1.0 + sum(other < sign * v for other in known) for v in values]


def _figure(names: Sequence[str], metrics: Sequence[Metric], ranks: Array) -> Figure:
    from attune_env.figures.marks import matrix
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    figure, (axis,) = panels(width=8.0, height=1.6 + 0.26 * len(names))
    heads = [label_of(metric) for metric in metrics]
    matrix(axis, ranks, names, heads, low=1, high=max(len(names), 2), colours="cividis_r", places=0)
    headed(axis, "Rank on each metric (1 = best)")
    return figure
