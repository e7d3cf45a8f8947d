"""Who leads: the Composite and its pillars, every metric in the README's three groups, and samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    LOWER_IS_BETTER,
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
    few_named,
    how_many,
    listed,
    names_of,
    of_all,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.report.coverage import coverage_data
from attune_env.report.groups import LEADERBOARD, TURN, WIDE, Metric
from attune_env.report.pilot import pilot_note
from attune_env.report.tables import (
    KEY_COLUMNS,
    PILLARS,
    group_data,
    leaderboard_data,
    references,
    samples_data,
)
from attune_env.running.samples import sample_spread
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.scores import Key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GAP = "perspective_gap_om_hp"
"""Has an analysis of its own."""
BESIDES = len(KEY_COLUMNS) + 1
"""Columns of a table of a group that hold no metric: what names the row, and n."""


@few_noted
def leaderboard(study: Study) -> Analysis | Absent:
    """The leading Composite and its three pillars of each model, with what their numbers rest on."""
    table = leaderboard_data(study.scores, study.table, study.keys)
    table.title = titled(study, table.title)
    metric = leading(study)
    name = label_of(metric)
    means = Means(study, LEADERBOARD[study.reading])
    if all(one.mean is None for one in means.of(metric.name)):
        return Absent("leaderboard", "Leaderboard", f"no conversation has a {name} in mode {study.mode}")
    return Analysis(
        "leaderboard",
        "Leaderboard",
        sentence(_reading(study, means, metric)),
        (table,),
        (("leaderboard", partial(_pillars, means)),),
        f"Means over conversations, in points of 100; {resampled(study)}, the same resamples for all models. "
        "Dashed: the baseline, which is the best null policy, and the ceiling, where they were run. An arrow "
        "names a ceiling that lies outside the panel.",
        (pilot_note(),),
    )


def _reading(study: Study, means: Means, metric: Metric) -> str:
    """First and last, and who lies below the baseline: a first place down there is no achievement."""
    names, values, name = names_of(study.models), means.of(metric.name), label_of(metric)
    known = [
        (who, key, one, one.mean)
        for who, key, one in zip(names, study.models, values, strict=True)
        if one.mean is not None
    ]
    who, first, highest, _ = known[0]
    lines = [(line, value) for line, value, _ in means.references(metric.name)]
    null = means.reference(metric.name, "null")
    below = [other for other, _, _, value in known if null and value < lines[0][1]]
    baseline = f"the baseline {lines[0][0]}, which gets {lines[0][1]:.1f}" if below else ""
    gap = ""
    if null and who in below:
        gap = f" ({with_interval(_difference(study, first, null), signed=True)} to the baseline, paired)"
    score = f"{with_interval(highest)}{gap}"
    if len(known) == 1:
        text = f"the {name} of {who} is {score}"
    elif gap:
        text = f"no {noun(study)} reaches {baseline}; the highest is {who} with a {name} of {score}"
    else:
        text = f"first is {who} with a {name} of {score}"
    if len(known) > 1:
        second, last = known[1], known[-1]
        lead = _difference(study, first, second[1])
        how = "ahead of" if excludes_zero(lead) else "not clearly ahead of"
        text += (
            f", {how} {second[0]} ({with_interval(lead, signed=True)}, paired); the last of "
            f"{counted(len(known), noun(study))}, {last[0]}, has {with_interval(last[2])}"
        )
    if below and (len(known) == 1 or not gap):
        text += f"; {few_named(below) if len(known) > 1 else 'it'} {'lies' if len(below) == 1 else 'lie'} "
        text += f"below {baseline}"
    told = lines[1:] if below else lines
    return f"{text}; {', '.join(f'{line} gets {value:.1f}' for line, value in told)}" if told else text


def _difference(study: Study, first: Key, second: Key) -> Interval:
    """First minus second on the leading Composite, paired by conversation."""
    pair = study.table.metric(study.composite, [first, second])
    return study.table.kernel.intervals(pair[:, :1] - pair[:, 1:])[0]


@few_noted
def metric_groups(study: Study) -> Analysis | Absent:
    """Every metric that was scored, in the groups of the official README."""
    tables = [t for t in group_data(study.scores, study.table, study.keys) if len(t.columns) > BESIDES]
    for table in tables:
        table.title = titled(study, table.title)
    turn = defined(study, [m for m in TURN if m.role != "diagnostic" and m.name != GAP])
    wide = defined(study, [m for m in WIDE if m.role == "input"])
    if not turn and not wide:
        return Absent("metrics", "Every metric", f"no metric of a report is defined in mode {study.mode}")
    names = names_of(study.models)
    rests_on = coverage_data(study.scores, study.table, study.keys)
    means = Means(study, [m.name for m in (*turn, *wide)])
    if len(study.models) == 1:
        shown = sum(len(table.columns) - BESIDES for table in tables)
        reading = f"{counted(shown, 'metric')} of {names[0]}, each with its interval"
    else:
        reading = _leaders(study, means, [m for m in (*turn, *wide) if m.role == "input"], names)
    figures = [
        (name, partial(_metrics, means, metrics))
        for name, metrics in (("turn-metrics", turn), ("conversation-metrics", wide))
        if metrics
    ]
    return Analysis(
        "metrics",
        "Every metric",
        sentence(reading),
        (*tables, replace(rests_on, title=titled(study, rests_on.title))),
        tuple(figures),
        f"Means over conversations of what is defined, {resampled(study)}. Each metric is marked as an input "
        "of the canonical Composite, as reported beside it, or as a diagnostic that the paper does not have.",
    )


@few_noted
def samples(study: Study) -> Analysis | Absent:
    """How much asking again changes, beside what other conversations would change."""
    table = samples_data(study.scores)
    spreads = [one for one in sample_spread(study.scores, study.composite) if one.mode == study.mode]
    if table is None or not spreads:
        reason = "no model was asked several times; attune run --samples K does that"
        return Absent("samples", "Samples", reason)
    everywhere = sample_spread(study.scores, study.composite)
    rows = [row for row, one in zip(table.rows, everywhere, strict=True) if one.mode == study.mode]
    table = replace(table, rows=rows, title=titled(study, table.title))
    widest = max(spreads, key=lambda one: one.sd_samples)
    error = widest.se_conversations
    reading = (
        f"asking again moves the mean of {names_of([(widest.em_model, study.mode)])[0]} by "
        f"{widest.sd_samples:.2f} points (standard deviation over {widest.samples} samples)"
    )
    if error is not None:
        reading += f", other conversations would by {error:.2f} (standard error)"
    return Analysis("samples", "Samples", sentence(reading), (table,), (), table.notes[0])


def _leaders(study: Study, means: Means, inputs: Sequence[Metric], names: Sequence[str]) -> str:
    """Who has the highest mean on how many inputs of the Composite; a shared first place is nobody's."""
    first = [best[0] for metric in inputs if len(best := _best(means, metric)) == 1]
    of = f"{counted(len(inputs), 'input')} of the Composite"
    if not first:
        return f"no {noun(study)} has the highest mean on any of {of} alone"
    times = {name: first.count(i) for i, name in enumerate(names)}
    most = max(times.values())
    leaders = [name for name, number in times.items() if number == most]
    if most == len(inputs):
        return f"the highest mean on all {len(inputs)} inputs of the Composite is that of {leaders[0]}"
    leading_some = sum(1 for number in times.values() if number)
    shared = len(inputs) - len(first)
    return (
        f"{of_all(leading_some, len(names), noun(study))} {'has' if leading_some == 1 else 'have'} the "
        f"highest mean on at least one of {of}, {listed(leaders)} on most ({most}"
        f"{' each' if len(leaders) > 1 else ''})"
        + (f"; on {how_many(shared)} it is shared" if shared else "")
    )


def _best(means: Means, metric: Metric) -> list[int]:
    """The models with the best mean: several where it is shared."""
    sign = -1 if metric.name in LOWER_IS_BETTER else 1
    values = [None if one.mean is None else sign * one.mean for one in means.of(metric.name)]
    best = max((value for value in values if value is not None), default=None)
    return [i for i, value in enumerate(values) if value is not None and value == best]


def _pillars(means: Means) -> Figure:
    from attune_env.figures.score_marks import footed, row_height
    from attune_env.figures.style import panels

    columns = LEADERBOARD[means.study.reading]
    heads = (label_of(leading(means.study)), *PILLARS)
    height = row_height(len(means.study.models))
    figure, axes = panels(1, 4, width=8.0, height=height, sharey=True)
    for axis, name, head in zip(axes, columns, heads, strict=True):
        _panel(axis, means, name, head, 1.0 if name == columns[0] else 100.0)
    footed(figure, "points of 100, mean with 95 % interval")
    return figure


def _metrics(means: Means, metrics: Sequence[Metric]) -> Figure:
    from attune_env.figures.score_marks import footed, row_height, unused
    from attune_env.figures.style import panels

    columns = min(3, len(metrics))
    rows = -(-len(metrics) // columns)
    height = row_height(len(means.study.models)) * rows
    figure, axes = panels(rows, columns, width=8.0, height=height, sharey=True)
    for axis, metric in zip(axes, metrics, strict=False):
        _panel(axis, means, metric.name, metric.label.replace(" (-1 to 1)", ""), metric.scale)
    unused(axes, len(metrics), columns)
    footed(figure, "mean over conversations with 95 % interval, each panel on its own scale")
    return figure


def _panel(axis: Axes, means: Means, metric: str, head: str, scale: float) -> None:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import frame
    from attune_env.figures.score_marks import titled as headed

    models = means.study.models
    interval_dots(axis, names_of(models), means.of(metric), dim=references(models), scale=scale)
    lines = means.references(metric)
    frame(axis, means.of(metric), lines, scale)
    headed(axis, head, names_above=bool(lines))
