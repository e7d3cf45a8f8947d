"""Turn drift: whether models read people better or worse as a conversation goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    COVERAGE,
    coverage,
    few_noted,
    noun,
    over_models,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import (
    CHANCE,
    counted,
    excludes_zero,
    few_named,
    names_of,
    of_all,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.analyses.turn_table import FEWEST, THIRDS, TurnTable
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Array, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIFTING: Final = {
    "binary_om_accuracy": "Binary OM",
    "binary_human_accuracy": "Binary HP",
    "emotion_va_score": "Emotion VA",
    "emotion_f1": "Emotion F1",
    "pairwise_accuracy": "Pairwise",
}
"""Turn scores whose course is shown."""


@dataclass(frozen=True, slots=True)
class Course:
    """One metric over the thirds of conversations."""

    label: str
    lines: Array
    """(models, 3) means over conversations."""
    pooled: list[Interval]
    """Of the three thirds, over all models."""
    change: Interval
    """Last − first, over all models."""
    changes: list[Interval]
    """Last − first of each model."""


@few_noted
def turn_drift(study: Study) -> Analysis | Absent:
    """First, middle and last third of conversations: five turn metrics, pooled and per model."""
    title = "Turn drift"
    turns = TurnTable.of(study, list(DRIFTING), study.models)
    long = np.unique(turns.conversation[turns.third >= 0]).size
    if not long:
        return Absent(
            "turn-drift", title, f"no scored conversation has {FEWEST} turns with scores of single turns"
        )
    courses = _courses(study, turns)
    if not courses:
        return Absent("turn-drift", title, "no turn metric is defined in both the first and the last third")
    names = names_of(study.models)
    short = turns.conversations - long
    left_out = f"; {counted(short, 'shorter conversation')} left out" if short else ""
    return Analysis(
        "turn-drift",
        title,
        _reading(courses, names, noun(study)),
        (_pooled_table(study, courses), _model_table(study, courses)),
        (
            ("turn-drift", partial(_figure, courses)),
            ("turn-drift-by-model", partial(_by_model, courses, names, references(study.models))),
        ),
        f"Turn k of T is in third ⌊3 (k − 1)/T⌋, in conversations of at least {FEWEST} turns ({long} of them"
        f"{left_out}). Each third is the mean over its turns, then over models, then over conversations; the "
        f"change is taken within each conversation; {resampled(study)}; {CHANCE}. Canonical turn scores, in "
        "which a turn without judgements or comparisons counts as 1.",
    )


def _courses(study: Study, turns: TurnTable) -> list[Course]:
    columns: list[Array] = []
    labels: list[str] = []
    models = len(study.models)
    for metric, label in DRIFTING.items():
        thirds = turns.thirds(metric)
        change = thirds[:, :, 2] - thirds[:, :, 0]
        if np.isnan(change).all():
            continue
        labels.append(label)
        columns.append(
            np.concatenate(
                [thirds.reshape(len(thirds), -1), change, over_models(thirds), over_models(change)[:, None]],
                axis=1,
            )
        )
    if not columns:
        return []
    found = study.table.kernel.intervals(np.concatenate(columns, axis=1))
    width = 4 * models + 4
    courses = []
    for number, label in enumerate(labels):
        part = found[number * width : (number + 1) * width]
        means = [np.nan if one.mean is None else one.mean for one in part[: 3 * models]]
        courses.append(
            Course(
                label,
                np.array(means).reshape(models, 3),
                part[4 * models : 4 * models + 3],
                part[-1],
                part[3 * models : 4 * models],
            )
        )
    return courses


def _reading(courses: Sequence[Course], names: Sequence[str], what: str) -> str:
    moved = [course for course in courses if excludes_zero(course.change)]
    if not moved:
        widest = max(courses, key=lambda course: abs(course.change.mean or 0.0))
        return sentence(
            f"no metric changes beyond its interval from the first to the last third of conversations; the "
            f"largest change is {with_interval(widest.change, scale=100, signed=True)} points of 100 "
            f"({widest.label})"
        )
    lead = max(moved, key=lambda course: abs(course.change.mean or 0.0))
    sign = 1 if (lead.change.mean or 0.0) > 0 else -1
    same = [(n, c) for n, c in zip(names, lead.changes, strict=True) if sign * (c.mean or 0.0) > 0]
    sure = [name for name, change in same if excludes_zero(change)]
    first, _, last = lead.pooled
    others = [course.label for course in courses if course not in moved]
    text = (
        f"{lead.label} {'rises' if sign > 0 else 'falls'} from {100 * (first.mean or 0):.1f} % in the first "
        f"third to {100 * (last.mean or 0):.1f} % in the last "
        f"({with_interval(lead.change, scale=100, signed=True)} points), in "
        f"{of_all(len(same), len(lead.changes), what)}"
    )
    if len(names) > 1:
        text += f", beyond the {what}'s own interval in {few_named(sure)}"
    if len(moved) > 1:
        rest = ", ".join(
            f"{c.label} {with_interval(c.change, scale=100, signed=True)}" for c in moved if c is not lead
        )
        text += f"; {rest}"
    if others:
        text += f"; no change beyond the interval in {', '.join(others)}"
    return sentence(text)


def _pooled_table(study: Study, courses: Sequence[Course]) -> DataTable:
    table = DataTable(
        "turn_drift",
        titled(study, "Turn drift, all models, points of 100"),
        (
            Column("metric"),
            *(Column(f"{third} third", places=1, scale=100) for third in THIRDS),
            Column("last - first", "change", places=1, scale=100),
            Column("models down", "models_down"),
            Column("beyond their interval", "models_down_beyond"),
            Column("models"),
            Column("n"),
        ),
    )
    for course in courses:
        known = [one for one in course.changes if one.mean is not None]
        down = [one for one in known if (one.mean or 0.0) < 0]
        sure = sum(map(excludes_zero, down))
        table.rows.append(
            (course.label, *course.pooled, course.change, len(down), sure, len(known), course.change.n)
        )
    return table


def _model_table(study: Study, courses: Sequence[Course]) -> DataTable:
    table = DataTable(
        "turn_drift_by_model",
        titled(study, "Turn drift by model, last third - first third, points of 100"),
        (
            Column("model"),
            *(Column(course.label, places=1, scale=100) for course in courses),
            Column("n"),
            *COVERAGE,
        ),
        dim=references(study.models),
    )
    for number, key in enumerate(study.models):
        changes = [course.changes[number] for course in courses]
        table.rows.append((key[0], *changes, max(one.n for one in changes), *coverage(study, key)))
    return table


def _figure(courses: Sequence[Course]) -> Figure:
    from attune_env.figures.courses import courses as draw
    from attune_env.figures.score_marks import footed
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    figure, axes = panels(1, len(courses), width=8.0, height=2.7)
    for axis, course in zip(axes, courses, strict=True):
        draw(axis, THIRDS, course.lines, course.pooled, scale=100)
        headed(axis, course.label)
    axes[0].set_ylabel("mean, % (grey: each model)" if len(courses[0].lines) > 1 else "mean, %")
    footed(figure, "third of the conversation")
    return figure


def _by_model(courses: Sequence[Course], names: Sequence[str], dim: set[int]) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import footed, frame, row_height, zero_line
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    figure, axes = panels(1, len(courses), width=8.0, height=row_height(len(names)), sharey=True)
    for axis, course in zip(axes, courses, strict=True):
        interval_dots(axis, names, course.changes, dim=dim, scale=100)
        frame(axis, course.changes, scale=100)
        zero_line(axis)
        headed(axis, course.label)
    footed(figure, "last third − first third, points of 100, with 95 % interval")
    return figure
