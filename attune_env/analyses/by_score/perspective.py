"""Perspective gap: models see what was done better than what the person would have wanted, or not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    COVERAGE,
    Means,
    coverage,
    few_noted,
    noun,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import excludes_zero, how_many, names_of, of_all, sentence, span
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.comparisons import ALPHA, holm
from attune_env.statistics.sign_flip import sign_flip

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OM, HP, GAP = "avg_binary_om_accuracy", "avg_binary_human_accuracy", "perspective_gap_om_hp"


@few_noted
def perspective_gap(study: Study) -> Analysis | Absent:
    """Binary OM minus Binary HP accuracy of each model, with a sign-flip test by conversation."""
    title = "Perspective gap"
    differences = study.table.metric(GAP, study.models)
    if np.isnan(differences).all():
        return Absent("perspective-gap", title, "no conversation has both binary accuracies")
    means = Means(study, [OM, HP, GAP])
    test = sign_flip(study.table.kernel, differences, seed=study.seed)
    corrected = holm(test.p)
    table = DataTable(
        "perspective_gap",
        titled(study, "Perspective gap, points of 100"),
        (
            Column("model"),
            Column("Binary OM", "binary_om", places=1, scale=100),
            Column("Binary HP", "binary_hp", places=1, scale=100),
            Column("gap OM - HP", "gap", places=1, scale=100),
            Column("p", places=4),
            Column("p, Holm", "p_holm", places=4),
            Column("n"),
            *COVERAGE,
        ),
        dim=references(study.models),
    )
    for number, key in enumerate(study.models):
        gap = means.of(GAP)[number]
        p = None if np.isnan(test.p[number]) else float(test.p[number])
        p_holm = None if np.isnan(corrected[number]) else float(corrected[number])
        row = (key[0], means.of(OM)[number], means.of(HP)[number], gap, p, p_holm, gap.n)
        table.rows.append((*row, *coverage(study, key)))
    names = names_of(study.models)
    return Analysis(
        "perspective-gap",
        title,
        _reading(means.of(GAP), [row[5] for row in table.rows], noun(study)),
        (table,),
        (("perspective-gap", partial(_figure, means, names)),),
        "Gap = Binary OM (what the recorded model did) − Binary HP accuracy (what the person would have "
        f"wanted), within each conversation; {resampled(study)}. p: two-sided sign-flip test by "
        f"{study.table.unit}, p = (1 + b)/(1 + B) with {test.patterns:,} patterns; Holm over the models.",
    )


def _reading(gaps: Sequence[Interval], corrected: Sequence[object], what: str) -> str:
    known = [(gap, p) for gap, p in zip(gaps, corrected, strict=True) if gap.mean is not None]
    above = [100 * gap.mean for gap, _ in known if gap.mean is not None and gap.mean > 0]
    sure = sum(excludes_zero(gap) and (gap.mean or 0.0) > 0 for gap, _ in known)
    tested = sum(isinstance(p, float) and p < ALPHA and (gap.mean or 0.0) > 0 for gap, p in known)
    below = sum(excludes_zero(gap) and (gap.mean or 0.0) < 0 for gap, _ in known)
    text = f"what was done is read better than what was wanted by {of_all(len(above), len(known), what)}"
    if above:
        text += f", the gap being {span(above)} points of 100"
        if len(known) > 1:
            text += f"; its interval leaves out 0 in {how_many(sure)}, and Holm-corrected p < {ALPHA} in "
            text += how_many(tested)
        else:
            text += ", beyond its interval" if sure else ", not beyond its interval"
    if below:
        text += f"; the other way round beyond the interval in {below}"
    return sentence(text)


def _figure(means: Means, names: Sequence[str]) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import dumbbells, frame, row_height, zero_line
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels, style

    figure, axes = panels(1, 2, width=7.5, height=row_height(len(names)), sharey=True, width_ratios=(3, 2))
    firsts, seconds = ([one.mean for one in means.of(metric)] for metric in (OM, HP))
    dumbbells(axes[0], names, firsts, seconds, ("OM", "HP"), scale=100)
    interval_dots(axes[1], names, means.of(GAP), dim=references(means.study.models), scale=100)
    frame(axes[1], means.of(GAP), scale=100)
    zero_line(axes[1])
    headed(axes[0], "Done (OM), wanted (HP)")
    headed(axes[1], "Gap OM − HP")
    with style():
        axes[0].set_xlabel("accuracy, %")
        axes[1].set_xlabel("points of 100, with 95 % interval")
    return figure
