"""Where scores vary: between models, between conversations, or in neither alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import MEASURED, defined, few_noted, label_of, leading, titled
from attune_env.analyses.by_score.wording import counted, percent, sentence
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import Metric
from attune_env.statistics.variance import VarianceSplit, variance_split

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@few_noted
def variance_shares(study: Study) -> Analysis | Absent:
    """Shares of each metric's variance that models, conversations and the rest account for."""
    name, title = "variance", "Where scores vary"
    if len(study.models) < 2:
        return Absent(name, title, "the scores hold one model in this mode; compare several")
    splits: list[tuple[Metric, VarianceSplit]] = []
    for metric in defined(study, (leading(study), *MEASURED)):
        values = study.table.metric(metric.name, study.models)
        split = variance_split(values[:, ~np.isnan(values).all(axis=0)])
        if split.model is not None:
            splits.append((metric, split))
    if not splits:
        return Absent(name, title, "no metric varies over two conversations that two models share")
    table = DataTable(
        "variance",
        titled(study, "Shares of the variance of scores"),
        (
            Column("metric"),
            Column("model", share=True),
            Column("conversation", share=True),
            Column("rest", share=True),
            Column("model, of squares", "squares_model", share=True),
            Column("conversation, of squares", "squares_conversation", share=True),
            Column("rest, of squares", "squares_rest", share=True),
            Column("sd", places=3),
            Column("models"),
            Column("n"),
            Column("left out"),
        ),
    )
    for metric, s in splits:
        shares = (s.model, s.conversation, s.rest, s.squares_model, s.squares_conversation, s.squares_rest)
        spread = None if s.variance is None else s.variance**0.5
        table.rows.append((metric.label, *shares, spread, s.models, s.rows, s.dropped))
    return Analysis(
        name,
        title,
        _reading(splits),
        (table,),
        ((name, partial(_figure, splits)),),
        "Two-way split without replication: variance components (method of moments), so that shares do not "
        "depend on how many models or conversations there are; the rest holds the interaction of model and "
        "conversation and chance, which one run cannot tell apart. Conversations that every model has; "
        "shares of the sums of squares beside.",
    )


def _reading(splits: Sequence[tuple[Metric, VarianceSplit]]) -> str:
    metric, split = splits[0]
    more = sum((s.conversation or 0.0) > (s.model or 0.0) for _, s in splits)
    return sentence(
        f"of the variance of the {label_of(metric)}, {percent(split.model or 0)} lies between models, "
        f"{percent(split.conversation or 0)} between conversations and {percent(split.rest or 0)} in the rest"
        f"; conversations vary more than models on {more} of {counted(len(splits), 'metric')}"
    )


def _figure(splits: Sequence[tuple[Metric, VarianceSplit]]) -> Figure:
    from attune_env.figures.score_marks import row_height, stacked
    from attune_env.figures.style import BLUE, FAINT, ORANGE, panels, style

    parts = np.array([[s.model or 0.0, s.conversation or 0.0, s.rest or 0.0] for _, s in splits])
    figure, (axis,) = panels(width=5.8, height=row_height(len(splits)))
    names = ("model", "conversation", "rest")
    stacked(axis, [label_of(metric) for metric, _ in splits], parts, names, (BLUE, ORANGE, FAINT))
    with style():
        axis.set_xlabel("share of the variance of scores, %")
    return figure
