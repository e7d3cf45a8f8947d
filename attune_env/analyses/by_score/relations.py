"""Do metrics rank models alike: correlations between them, and each turn metric against the Composite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    MEASURED,
    Means,
    defined,
    few_noted,
    label_of,
    leading,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import (
    counted,
    excludes_zero,
    listed,
    number_text,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import METRICS, TURN, Metric
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.ranks import FEWEST, RankCorrelations, rank_correlations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOO_FEW = f"a rank correlation takes {FEWEST} models in this mode, there {{}}"


@few_noted
def metric_correlations(study: Study) -> Analysis | Absent:
    """Spearman's ρ between the rankings of the models by each pair of metrics."""
    name, title = "metric-correlations", "Do metrics rank models alike?"
    if len(study.models) < FEWEST:
        return Absent(name, title, _too_few(study))
    metrics = defined(study, (*MEASURED, METRICS["avg_pairwise_kendall_tau"]))
    if len(metrics) < 2:
        return Absent(name, title, "fewer than two metrics are defined")
    found = _correlations(study, metrics)
    pairs = [(a, b, found[a, b]) for a, b in combinations(range(len(metrics)), 2)]
    known = [(a, b, rho) for a, b, rho in pairs if rho.mean is not None]
    if not known:
        return Absent(name, title, "no two metrics vary over three models that have both")
    table = DataTable(
        "metric_correlations",
        titled(study, "Spearman's rank correlation between metrics, over models"),
        (Column("metric"), Column("other metric"), Column("rho", places=2), Column("models")),
        keys=2,
    )
    table.rows += [(metrics[a].label, metrics[b].label, rho, rho.n) for a, b, rho in pairs]
    sure = sum(excludes_zero(rho) for _, _, rho in known)
    high = max(known, key=lambda pair: pair[2].mean or 0.0)
    low = min(known, key=lambda pair: pair[2].mean or 0.0)
    reading = (
        f"the interval leaves out 0 in {sure} of {counted(len(known), 'pair')} of metrics; the median "
        f"of the absolute ρ is {np.median([abs(rho.mean or 0.0) for _, _, rho in known]):.2f}; most alike "
        f"are {label_of(metrics[high[0]])} and {label_of(metrics[high[1]])} ({with_interval(high[2], 2)})"
    )
    if ties := sum(rho.mean == high[2].mean for _, _, rho in known) - 1:
        reading += f" and {counted(ties, 'other pair')}"
    if len(known) > ties + 1:
        least = f"{label_of(metrics[low[0]])} and {label_of(metrics[low[1]])}"
        reading += f", least {least} ({with_interval(low[2], 2)})"
    return Analysis(
        name,
        title,
        sentence(reading),
        (table,),
        ((name, partial(_matrix, metrics, found)),),
        f"Spearman's ρ of the models' means ({counted(len(study.models), 'model')}), ties sharing ranks; in "
        f"each resample all means are ranked anew; {resampled(study)}. They say what other conversations "
        "would change, not other models. Where means are close to each other, drawing adds noise to the "
        "ranks and pulls ρ towards 0: an interval may then lie beside its ρ.",
    )


@few_noted
def turn_against_composite(study: Study) -> Analysis | Absent:
    """Each turn metric's mean of every model against its Composite."""
    name, title = "turn-against-composite", "Turn metrics against the Composite"
    if len(study.models) < FEWEST:
        return Absent(name, title, _too_few(study))
    composite = leading(study)
    metrics = defined(study, [metric for metric in TURN if metric.role != "diagnostic"])
    if not metrics or not defined(study, [composite]):
        return Absent(name, title, "no turn metric or no Composite is defined")
    found = _correlations(study, [composite, *metrics])
    rhos = [found[0, number + 1] for number in range(len(metrics))]
    means = Means(study, [composite.name, *(metric.name for metric in metrics)])
    table = DataTable(
        "turn_against_composite",
        titled(study, f"Rank correlation of each turn metric with the {label_of(composite)}, over models"),
        (Column("metric"), Column("counts as"), Column("rho", places=2), Column("models")),
        keys=2,
    )
    table.rows += [(m.label, m.role, rho, rho.n) for m, rho in zip(metrics, rhos, strict=True)]
    known = [(m, rho) for m, rho in zip(metrics, rhos, strict=True) if rho.mean is not None]
    if not known:
        return Absent(name, title, "no turn metric varies over three models")
    values = [rho.mean for _, rho in known if rho.mean is not None]
    reading = f"the ranking by {label_of(composite)} is closest to that by {_with_rho(known, max(values))}"
    if max(values) > min(values):
        reading += f" and farthest from that by {_with_rho(known, min(values))}"
    reading += f"; ρ differs from 0 beyond the interval for {sum(excludes_zero(rho) for _, rho in known)} of "
    reading += counted(len(known), "metric")
    return Analysis(
        name,
        title,
        sentence(reading),
        (table,),
        ((name, partial(_clouds, means, composite, metrics, rhos)),),
        "Dots are models, lines their 95 % intervals. Inputs are part of the Composite and go with it for "
        "that reason alone; Kendall tau, the gap and the draft's scores are not; "
        f"{resampled(study)}.",
    )


def _with_rho(known: Sequence[tuple[Metric, Interval]], value: float) -> str:
    """The metrics whose ρ this is, with its interval where it is one metric's."""
    these = [(label_of(metric), rho) for metric, rho in known if rho.mean == value]
    text = with_interval(these[0][1], 2) if len(these) == 1 else number_text(value, 2)
    return f"{listed([label for label, _ in these])} (ρ {text})"


def _too_few(study: Study) -> str:
    number = len(study.models)
    return TOO_FEW.format("is one" if number == 1 else f"are {number}")


def _correlations(study: Study, metrics: Sequence[Metric]) -> RankCorrelations:
    values = study.table.of_metrics([metric.name for metric in metrics], study.models)
    return rank_correlations(study.table.kernel, values)


def _matrix(metrics: Sequence[Metric], found: RankCorrelations) -> Figure:
    from attune_env.figures.marks import matrix
    from attune_env.figures.score_marks import footed
    from attune_env.figures.style import DIVERGING, panels

    size = len(metrics)
    values = np.full((size, size), np.nan)
    unsure = np.zeros((size, size), dtype=bool)
    for a, b in combinations(range(size), 2):
        rho = found[a, b]
        if rho.mean is not None:
            values[b, a], unsure[b, a] = rho.mean, not excludes_zero(rho)
    labels = [label_of(metric) for metric in metrics]
    figure, (axis,) = panels(width=6.5, height=1.9 + 0.29 * size)
    matrix(axis, values[1:, :-1], labels[1:], labels[:-1], low=-1, high=1, colours=DIVERGING,
           faint=unsure[1:, :-1])  # fmt: skip
    footed(figure, "Spearman's ρ over models (pale number: the 95 % interval holds 0)")
    return figure


def _clouds(means: Means, composite: Metric, metrics: Sequence[Metric], rhos: Sequence[Interval]) -> Figure:
    from attune_env.figures.score_marks import cloud, footed, unused
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    columns = min(4, len(metrics))
    rows = -(-len(metrics) // columns)
    figure, axes = panels(rows, columns, width=8.0, height=2.3 * rows + 0.3, sharex=True)
    for axis, metric, rho in zip(axes, metrics, rhos, strict=False):
        cloud(axis, means.of(composite.name), means.of(metric.name))
        text = "undefined" if rho.mean is None else number_text(rho.mean, 2)
        head = label_of(metric).replace(" Accuracy", "").replace("OM-HP", "OM − HP")
        headed(axis, f"{head}\nρ = {text}")
    unused(axes, len(metrics), columns)
    footed(figure, f"{label_of(composite)} (0–100), mean over conversations; each panel: mean of the metric")
    return figure
