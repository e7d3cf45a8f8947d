"""Which conversations are hard to read, and whether conversations or models differ more."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    few_noted,
    label_of,
    leading,
    noun,
    over_all,
    over_models,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import counted, plural_of, sentence
from attune_env.analyses.study import Study
from attune_env.analyses.turn_table import turn_places
from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import Metric
from attune_env.statistics.bootstrap import Array, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@few_noted
def difficulty(study: Study) -> Analysis | Absent:
    """Mean and spread of the leading Composite over models for each conversation, and by length."""
    title = "Difficulty of conversations"
    metric = leading(study)
    values = study.table.metric(metric.name, study.models)
    mean = over_models(values[:, :, None])[:, 0]
    known = np.flatnonzero(~np.isnan(mean))
    if known.size < 2:
        return Absent(
            "difficulty", title, f"{counted(known.size, 'conversation')} with a Composite; two needed"
        )
    order = known[np.argsort(mean[known], kind="stable")]
    lengths = {name: len(places) for name, places in turn_places(study).items()}
    by_length = _by_length(study, mean, lengths)
    models = np.nanmean(values[known], axis=0)
    models = models[~np.isnan(models)]
    between = float(np.std(mean[known], ddof=1))
    reading = (
        f"mean {label_of(metric)}{over_all(study)} runs from {mean[order[0]]:.1f} "
        f"({study.table.ids[order[0]]}) to {mean[order[-1]]:.1f} ({study.table.ids[order[-1]]}), "
        f"standard deviation {between:.1f} points"
    )
    if len(models) > 1:
        spread = float(np.std(models, ddof=1))
        many = plural_of(noun(study))
        more = f"conversations differ more than {many}" if between > spread else f"{many} differ more"
        reading += f"; between the {len(models)} {many} it is {spread:.1f}: {more}"
    return Analysis(
        "difficulty",
        title,
        sentence(reading),
        (
            _conversations(study, metric, values, mean, order, lengths),
            *([_lengths(study, metric, by_length)] if by_length else []),
        ),
        (("difficulty", partial(_figure, metric, values, mean, order, by_length)),),
        f"Mean over the models that were scored on a conversation, {counted(len(study.models), 'model')} in "
        "all; the bar is one standard deviation between models. Standard deviations with n − 1. By length: "
        f"{resampled(study)}.",
    )


def _by_length(study: Study, mean: Array, lengths: Mapping[str, int]) -> dict[int, Interval]:
    """Turns of a conversation -> mean over such conversations."""
    turns = np.array([lengths[identity] for identity in study.table.ids])
    found = sorted(set(turns[(turns > 0) & ~np.isnan(mean)].tolist()))
    if not found:
        return {}
    columns = np.stack([np.where(turns == number, mean, np.nan) for number in found], axis=1)
    return dict(zip(found, study.table.kernel.intervals(columns), strict=True))


def _conversations(
    study: Study,
    metric: Metric,
    values: Array,
    mean: Array,
    order: npt.NDArray[np.int64],
    lengths: Mapping[str, int],
) -> DataTable:
    by_id = study.conversations.by_id if study.conversations is not None else {}
    table = DataTable(
        "difficulty",
        titled(study, f"Conversations by mean {label_of(metric)}{over_all(study)}, hardest first"),
        (
            Column("conversation"),
            Column("category", prose=True),
            Column("turns"),
            Column("mean", places=1),
            Column("sd over models", places=1),
            Column("lowest", places=1),
            Column("highest", places=1),
            Column("models"),
        ),
    )
    for row in order:
        scores = values[row][~np.isnan(values[row])]
        identity = study.table.ids[row]
        record = by_id.get(identity)
        category = record.metadata.category if record is not None and record.metadata else None
        spread = float(np.std(scores, ddof=1)) if scores.size > 1 else None
        table.rows.append(
            (
                identity,
                category or "",
                lengths[identity] or None,
                float(mean[row]),
                spread,
                float(scores.min()),
                float(scores.max()),
                int(scores.size),
            )
        )
    return table


def _lengths(study: Study, metric: Metric, by_length: Mapping[int, Interval]) -> DataTable:
    table = DataTable(
        "difficulty_by_length",
        titled(study, f"Mean {label_of(metric)}{over_all(study)} by number of turns"),
        (Column("turns"), Column("mean", places=1), Column("n")),
    )
    table.rows += [(turns, interval, interval.n) for turns, interval in by_length.items()]
    return table


def _figure(
    metric: Metric,
    values: Array,
    mean: Array,
    order: npt.NDArray[np.int64],
    by_length: Mapping[int, Interval],
) -> Figure:
    from attune_env.figures.courses import courses, ladder
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels, style

    wide = 2 if by_length else 1
    options = {"width_ratios": (3, 1.4)} if wide == 2 else {}
    figure, axes = panels(1, wide, width=8.0, height=3.0, sharey=True, **options)
    spread = np.array([np.nanstd(values[row], ddof=1) if (~np.isnan(values[row])).sum() > 1 else 0.0
                       for row in order])  # fmt: skip
    ladder(axes[0], mean[order], spread)
    headed(axes[0], "Each conversation")
    with style():
        several = values.shape[1] > 1
        axes[0].set_xlabel(
            "conversations, hardest first" + (" (bar: ±1 sd between models)" if several else "")
        )
        axes[0].set_ylabel(
            metric.label.replace("(0-100)", "(0–100)" + (", mean over models" if several else ""))
        )
    if by_length:
        steps = [str(turns) for turns in by_length]
        courses(axes[1], steps, np.empty((0, len(steps))), list(by_length.values()))
        headed(axes[1], "By length")
        with style():
            axes[1].set_xlabel("turns of the conversation")
    return figure
