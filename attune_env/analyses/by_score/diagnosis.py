"""Clinical affect gap: whether models read people with a diagnosis worse than people without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.people import Bools, diagnosis_groups, diagnosis_states, records
from attune_env.analyses.by_score.shared import (
    COVERAGE,
    between,
    corrected,
    coverage,
    few_noted,
    label_of,
    leading,
    noun,
    over_all,
    over_models,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import (
    CHANCE,
    counted,
    excludes_zero,
    few_named,
    listed,
    names_of,
    of_all,
    percent,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.analyses.turn_table import TurnTable
from attune_env.report.cells import Cell, Column, DataTable
from attune_env.statistics.bootstrap import MEANINGFUL, Array, Interval
from attune_env.statistics.comparisons import ALPHA
from attune_env.statistics.contrasts import Contrast, contrasts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "clinical-affect-gap", "Clinical affect gap"
POOLED: Final = {
    "avg_emotion_va_score": "Emotion VA",
    "avg_emotion_f1": "Emotion F1",
    "avg_binary_om_accuracy": "Binary OM",
    "avg_binary_human_accuracy": "Binary HP",
    "avg_pairwise_accuracy": "Pairwise",
}
VA: Final = "Emotion VA"
TAGGED: Final = "Emotion VA, tagged turns only"
TAGGED_F1: Final = "Emotion F1, tagged turns only"
NEUTRAL: Final = "neutral turns (of the data)"


@dataclass(frozen=True, slots=True)
class Gaps:
    """Contrasts of any diagnosis against none."""

    pooled: dict[str, Contrast]
    """Over models, by label."""
    models: list[Contrast]
    """Emotion VA of each model."""
    tagged: list[Contrast]
    """The same on tagged turns only."""


@few_noted
def clinical_affect_gap(study: Study) -> Analysis | Absent:
    """Any diagnosis against none: emotion and other scores, on all turns and on tagged turns only."""
    if study.conversations is None:
        return Absent(NAME, TITLE, "diagnoses stand in the conversations; give them with --ground-truth")
    states = diagnosis_states(study)
    inside, outside, unknown = (int((states == state).sum()) for state in ("any", "none", "unknown"))
    if not inside or not outside:
        have = f"{inside} with a diagnosis, {outside} without, {unknown} not stated"
        return Absent(NAME, TITLE, f"conversations of both groups are needed; there are {have}")
    turns = TurnTable.of(study, ["emotion_va_score", "emotion_f1"], study.models)
    gaps = _gaps(study, turns, states == "any", states == "none")
    if between(gaps.pooled[VA]).mean is None:
        return Absent(NAME, TITLE, "no model has an Emotion VA in both groups")
    names = names_of(study.models)
    left_out = f"; {counted(unknown, 'conversation')} without a statement left out" if unknown else ""
    return Analysis(
        NAME,
        TITLE,
        _reading(study, gaps, names),
        (_pooled_table(study, gaps), _model_table(study, gaps), *_diagnosis_tables(study, turns)),
        (
            ("clinical-affect-gap", partial(_figure, gaps, names)),
            ("clinical-affect-gap-metrics", partial(_metric_figure, gaps)),
        ),
        f"Difference of means: {counted(inside, 'conversation')} with people who state any diagnosis minus "
        f"{outside} with people who state none{left_out}. {sentence(resampled(study))} p: permutation of the "
        f"groups' labels; {CHANCE}. Turns without an emotion tag (neutral) reward an empty answer, so tagged "
        "turns are also taken alone, and the share of neutral turns stands beside.",
    )


def _gaps(study: Study, turns: TurnTable, inside: Bools, outside: Bools) -> Gaps:
    by_model = study.table.metric("avg_emotion_va_score", study.models)
    tagged = turns.tagged_only("emotion_va_score")
    columns = {
        label_of(leading(study)): _over(study, study.composite) / 100,
        **{label: _over(study, name) for name, label in POOLED.items()},
        TAGGED: over_models(tagged),
        TAGGED_F1: over_models(turns.tagged_only("emotion_f1")),
        NEUTRAL: _neutral(study),
    }
    values = np.concatenate([np.stack(list(columns.values()), axis=1), by_model, tagged], axis=1)
    found = contrasts(study.table.kernel, values, inside, outside, seed=study.seed)
    first, second = len(columns), len(columns) + len(study.models)
    return Gaps(dict(zip(columns, found[:first], strict=True)), found[first:second], found[second:])


def _over(study: Study, metric: str) -> Array:
    """(rows,): a metric's mean over models."""
    return over_models(study.table.metric(metric, study.models))


def _neutral(study: Study) -> Array:
    """Share of the annotated turns of each conversation that carry no tag."""
    shares = []
    for record in records(study):
        tags = [t.mood_shift_tags for t in (record.turns if record else ()) if t.mood_shift_tags is not None]
        shares.append(np.mean([not one for one in tags]) if tags else np.nan)
    return np.array(shares, dtype=np.float64)


def _reading(study: Study, gaps: Gaps, names: Sequence[str]) -> str:
    gap = gaps.pooled[VA]
    difference = between(gap)
    word = "lower" if (difference.mean or 0.0) < 0 else "higher"
    points = f"{with_interval(difference, scale=100, signed=True)} points"
    text = (
        f"Emotion VA is {word} with people who state a diagnosis ({100 * (gap.inside.mean or 0):.1f} against "
        f"{100 * (gap.outside.mean or 0):.1f} %, {points})"
    )
    if not difference.meaningful:
        text += f", and fewer than {MEANINGFUL} {study.table.unit}s on a side are too few to tell whether "
        text += "that is chance"
    elif not excludes_zero(difference):
        text = (
            f"no difference of Emotion VA between people with and without a diagnosis beyond the interval "
            f"({points})"
        )
    text += _other_scores(gaps)
    known = [
        (name, between(one), p)
        for name, one, p in zip(names, gaps.models, corrected(gaps.models), strict=True)
        if p is not None
    ]
    if len(known) > 1:
        low, high = ([one for one in known if sign * (one[1].mean or 0.0) > 0] for sign in (-1, 1))
        text += f"; lower for {of_all(len(low), len(known), noun(study))}, {_clear(low)}"
        if any(excludes_zero(difference) for _, difference, _ in high):
            text += f"; higher for {len(high)}, {_clear(high)}"
    tagged = between(gaps.pooled[TAGGED])
    if tagged.mean is not None:
        text += f"; Emotion VA on tagged turns only {with_interval(tagged, scale=100, signed=True)}"
    neutral = gaps.pooled[NEUTRAL]
    if between(neutral).mean is not None:
        text += (
            f", {percent(neutral.inside.mean or 0)} against {percent(neutral.outside.mean or 0)} of turns "
            "being neutral"
        )
    return sentence(text)


def _other_scores(gaps: Gaps) -> str:
    """Which scores besides Emotion VA differ, so that the sentence denies nothing that its table holds."""
    others = {label: between(one) for label, one in gaps.pooled.items() if label not in (VA, TAGGED, NEUTRAL)}
    differ = [
        f"{label} ({with_interval(one, scale=100, signed=True)})"
        for label, one in others.items()
        if excludes_zero(one)
    ]
    if not differ and not any(one.meaningful for one in others.values()):
        return ""
    if not differ:
        return "; no other score differs beyond the interval"
    return f"; of the other scores {listed(differ, len(differ))} differ{'s' if len(differ) == 1 else ''}"


def _clear(found: Sequence[tuple[str, Interval, float]]) -> str:
    """For how many of these models the interval leaves out 0, and how many are left by the correction."""
    sure = [(name, p) for name, difference, p in found if excludes_zero(difference)]
    tested = [name for name, p in sure if p < ALPHA]
    text = f"beyond the interval for {few_named([name for name, _ in sure])}"
    return text if len(tested) == len(sure) else f"{text}, with Holm's correction for {few_named(tested)}"


def _contrast_columns(inside: str = "any diagnosis") -> tuple[Column, ...]:
    return (
        Column(inside, "inside", places=1, scale=100),
        Column("none", "outside", places=1, scale=100),
        Column("difference", places=1, scale=100),
        Column("p", places=4),
        Column(f"n {inside}", "n_inside"),
        Column("n none", "n_outside"),
    )


def _cells(one: Contrast) -> tuple[Cell, ...]:
    return one.inside, one.outside, between(one), one.p, one.inside.n, one.outside.n


def _pooled_table(study: Study, gaps: Gaps) -> DataTable:
    table = DataTable(
        "clinical_affect_gap",
        titled(study, f"Any diagnosis against none{over_all(study)}, points of 100"),
        (Column("metric"), *_contrast_columns()),
    )
    table.rows += [(label, *_cells(one)) for label, one in gaps.pooled.items()]
    return table


def _model_table(study: Study, gaps: Gaps) -> DataTable:
    table = DataTable(
        "clinical_affect_gap_by_model",
        titled(study, "Emotion VA, any diagnosis against none, points of 100"),
        (
            Column("model"),
            *_contrast_columns(),
            Column("p, Holm", "p_holm", places=4),
            Column("difference, tagged turns only", "difference_tagged", places=1, scale=100),
            *COVERAGE,
        ),
        notes=["Holm over the models."],
    )
    rows = zip(study.models, gaps.models, corrected(gaps.models), gaps.tagged, strict=True)
    for key, one, p_holm, tagged in rows:
        table.rows.append((key[0], *_cells(one), p_holm, between(tagged), *coverage(study, key)))
    return table


def _diagnosis_tables(study: Study, turns: TurnTable) -> list[DataTable]:
    """Each diagnosis against none: the Composite and Emotion VA over all models."""
    groups = diagnosis_groups(study)
    columns = {
        label_of(leading(study)): _over(study, study.composite) / 100,
        VA: _over(study, "avg_emotion_va_score"),
        TAGGED: over_models(turns.tagged_only("emotion_va_score")),
        "Binary OM": _over(study, "avg_binary_om_accuracy"),
    }
    values = np.stack(list(columns.values()), axis=1)
    table = DataTable(
        "by_diagnosis",
        titled(study, f"Each diagnosis against none{over_all(study)}, points of 100"),
        (
            Column("diagnosis"),
            Column("metric"),
            *_contrast_columns("this diagnosis"),
            Column("p, Holm", "p_holm", places=4),
        ),
        keys=2,
        notes=["One person may state several. Holm over the diagnoses of a metric."],
    )
    found = [
        contrasts(study.table.kernel, values, group.inside, group.outside, seed=study.seed)
        for group in groups
    ]
    for number, label in enumerate(columns):
        for group, one, p_holm in zip(groups, found, corrected([one[number] for one in found]), strict=True):
            table.rows.append((group.name, label, *_cells(one[number]), p_holm))
    return [table] if groups else []


def _figure(gaps: Gaps, names: Sequence[str]) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import frame, keyed, row_height, zero_line
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import BLUE, ORANGE, panels, style

    figure, axes = panels(1, 3, width=8.0, height=row_height(len(names)) + 0.2, sharey=True)
    none, some = ([getattr(one, side) for one in gaps.models] for side in ("outside", "inside"))
    interval_dots(axes[0], names, none, colour=BLUE, scale=100, offset=-0.16)
    interval_dots(axes[0], names, some, colour=ORANGE, scale=100, offset=0.16)
    frame(axes[0], [*none, *some], scale=100)
    keyed(axes[0], [("no diagnosis", BLUE), ("any diagnosis", ORANGE)])
    headed(axes[0], "Emotion VA", names_above=True)
    for axis, found, head in (
        (axes[1], gaps.models, "All turns"),
        (axes[2], gaps.tagged, "Tagged turns"),
    ):
        differences = [between(one) for one in found]
        interval_dots(axis, names, differences, scale=100)
        frame(axis, differences, scale=100)
        zero_line(axis)
        headed(axis, head, names_above=True)
    with style():
        axes[0].set_xlabel("mean, %, with 95 % interval")
        for axis in axes[1:]:
            axis.set_xlabel("any − none, points of 100")
    return figure


def _metric_figure(gaps: Gaps) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import footed, frame, row_height, zero_line
    from attune_env.figures.style import panels

    shown = {label: between(one) for label, one in gaps.pooled.items()}
    figure, (axis,) = panels(width=6.0, height=row_height(len(shown)))
    interval_dots(axis, list(shown), list(shown.values()), scale=100)
    frame(axis, list(shown.values()), scale=100)
    zero_line(axis)
    footed(figure, "any diagnosis − none, points of 100, with 95 % interval")
    return figure
