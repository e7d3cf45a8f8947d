"""Learning curves: how scores move with training, where results name a run and a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attune_data.finite import finite
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    COVERAGE,
    Means,
    coverage,
    few_noted,
    label_of,
    leading,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import counted, excludes_zero, sentence, with_interval
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import LEADERBOARD
from attune_env.report.tables import PILLARS
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.scores import Key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "learning-curves", "Learning curves"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model as a step of a run."""

    step: float
    key: Key


@few_noted
def learning_curves(study: Study) -> Analysis | Absent:
    """The Composite and its pillars over training steps, a line a run."""
    runs = _runs(study)
    if not runs:
        reason = "no result names a training run and step (`attune.training`)"
        return Absent(NAME, TITLE, reason)
    means = Means(study, LEADERBOARD[study.reading])
    ends = [points for points in runs.values() if len(points) > 1]
    columns = [
        study.table.metric(study.composite, [points[-1].key])
        - study.table.metric(study.composite, [points[0].key])
        for points in ends
    ]
    gains = study.table.kernel.intervals(np.concatenate(columns, axis=1)) if ends else []
    named = dict(zip([run for run, points in runs.items() if len(points) > 1], gains, strict=True))
    return Analysis(
        NAME,
        TITLE,
        _reading(study, runs, named, means),
        (_table(study, runs, means),),
        ((NAME, partial(_figure, runs, means)),),
        "Each checkpoint is scored like any model, on the same conversations; the gain from the first to the "
        f"last step is paired by conversation; {resampled(study)}. Dashed: the baseline (the best "
        "null policy) and a ceiling that is near, where they were run.",
    )


def _runs(study: Study) -> dict[str, list[Checkpoint]]:
    """Run -> its checkpoints in this mode by step; of two models at one step the first by name."""
    found: dict[str, dict[float, Key]] = {}
    for entry in sorted(study.entries, key=lambda e: (e["em_model"], e["mode"])):
        marks = entry.get("attune")
        training = marks.get("training") if isinstance(marks, Mapping) else None
        key = (entry["em_model"], entry["mode"])
        if not isinstance(training, Mapping) or entry["mode"] != study.mode:
            continue
        if (step := finite(training.get("step"))) is not None:
            found.setdefault(str(training.get("run") or "run"), {}).setdefault(step, key)
    return {
        run: [Checkpoint(step, steps[step]) for step in sorted(steps)] for run, steps in sorted(found.items())
    }


def _reading(
    study: Study, runs: Mapping[str, Sequence[Checkpoint]], gains: Mapping[str, Interval], means: Means
) -> str:
    head = label_of(leading(study))
    if not gains:
        number = sum(map(len, runs.values()))
        text = f"{counted(number, 'checkpoint')} of {counted(len(runs), 'run')}"
        return sentence(f"{text}, none with a second step")
    parts = []
    for run, gain in list(gains.items())[:3]:
        points = runs[run]
        word = "changes by" if excludes_zero(gain) else "does not change beyond the interval:"
        change = f"{word} {with_interval(gain, signed=True)} points of {head}"
        parts.append(f"run {run} {change} from step {points[0].step:g} to {points[-1].step:g}")
        means_of = [means.found[point.key][study.composite].mean for point in points]
        known = [(mean, point.step) for mean, point in zip(means_of, points, strict=True) if mean is not None]
        if known and max(known)[1] != points[-1].step:
            parts[-1] += f", best at {max(known)[1]:g}"
    more = f"; {len(gains) - 3} more in the table" if len(gains) > 3 else ""
    return sentence("; ".join(parts) + more)


def _table(study: Study, runs: Mapping[str, Sequence[Checkpoint]], means: Means) -> DataTable:
    metrics = LEADERBOARD[study.reading]
    table = DataTable(
        "learning_curves",
        titled(study, "Training steps, points of 100"),
        (
            Column("run"),
            Column("step", places=0),
            Column("model"),
            Column(label_of(leading(study)), metrics[0], places=1),
            *(
                Column(head, name, places=1, scale=100)
                for head, name in zip(PILLARS, metrics[1:], strict=True)
            ),
            Column("n"),
            *COVERAGE,
        ),
        keys=3,
    )
    for run, points in runs.items():
        for point in points:
            found = means.found[point.key]
            values = [found[name] for name in metrics]
            table.rows.append(
                (run, point.step, point.key[0], *values, values[0].n, *coverage(study, point.key))
            )
    return table


def _figure(runs: Mapping[str, Sequence[Checkpoint]], means: Means) -> Figure:
    from attune_env.figures.courses import steps, zone
    from attune_env.figures.score_marks import footed, keyed
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import PALETTE, panels, style

    metrics = LEADERBOARD[means.study.reading]
    heads = (label_of(leading(means.study)), *PILLARS)
    shown = list(runs)[: len(PALETTE)]
    figure, axes = panels(1, len(metrics), width=8.5, height=2.9)
    for axis, metric, head in zip(axes, metrics, heads, strict=True):
        scale = 1.0 if metric == metrics[0] else 100.0
        values: list[Interval] = []
        for run, colour in zip(shown, PALETTE, strict=False):
            points = runs[run]
            values += (one := [means.found[point.key][metric] for point in points])
            steps(axis, [point.step for point in points], one, colour=colour, scale=scale)
        zone(axis, values, means.references(metric), scale)
        headed(axis, head, names_above=True)
    for number, axis in enumerate(axes):  # one name or two above each panel
        keyed(axis, list(zip(shown, PALETTE, strict=False))[number :: len(axes)])
    with style():
        axes[0].set_ylabel("points of 100, with 95 % interval")
    footed(figure, "training step")
    return figure
