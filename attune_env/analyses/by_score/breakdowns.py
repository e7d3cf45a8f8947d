"""Topics and traits: with whom and about what models read people better or worse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.people import Group, topic_groups, trait_groups
from attune_env.analyses.by_score.shared import (
    between,
    corrected,
    few_noted,
    label_of,
    leading,
    over_all,
    over_models,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import (
    counted,
    excludes_zero,
    how_many,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Cell, Column, DataTable
from attune_env.statistics.bootstrap import MEANINGFUL, Array
from attune_env.statistics.comparisons import ALPHA
from attune_env.statistics.contrasts import Contrast, contrasts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN: Final = {
    "avg_emotion_va_score": "Emotion VA",
    "avg_binary_om_accuracy": "Binary OM",
    "avg_binary_human_accuracy": "Binary HP",
    "avg_pairwise_accuracy": "Pairwise",
}
"""What is shown beside the Composite."""
DRAWS: Final = 2_000
"""Permutations a group: there are many groups."""
MOST: Final = 24
"""Groups that a figure shows, the largest first; tables hold all."""

Found = Sequence[tuple[Group, Sequence[Contrast]]]
"""Each group with a contrast per metric, the Composite first."""


@few_noted
def topics(study: Study) -> Analysis | Absent:
    """Each category of topics against all others."""
    name, title = "topics", "Topics"
    if study.conversations is None:
        return Absent(name, title, "topics stand in the conversations; give them with --ground-truth")
    groups = topic_groups(study)
    if len(groups) < 2:
        return Absent(
            name, title, f"{counted(len(groups), 'category', 'categories')} of topics; two are needed"
        )
    found = _contrasted(study, groups)
    means = [(g.name, one[0].inside) for g, one in found if one[0].inside.mean is not None]
    if len(means) < 2:
        return Absent(name, title, "fewer than two categories have a Composite")
    sure = [pair for pair in means if pair[1].meaningful]
    means = sure if len(sure) > 1 else means
    best, worst = max(means, key=lambda m: m[1].mean or 0.0), min(means, key=lambda m: m[1].mean or 0.0)
    reading = (
        f"mean {label_of(leading(study))}{over_all(study)} runs from {with_interval(worst[1])} ({worst[0]}) "
        f"to {with_interval(best[1])} ({best[0]}); {_differing(study, found, 'category')}"
    )
    return Analysis(
        name,
        title,
        sentence(reading),
        (_table(study, "topics", "Each category of topics against the others", "category", found),),
        (("topics", partial(_figure, study, found, levels=True)),),
        _method(study, "Each category against all conversations of other categories"),
    )


@few_noted
def traits(study: Study) -> Analysis | Absent:
    """Questionnaires split at their published cut or their median."""
    name, title = "traits", "Traits"
    if study.conversations is None:
        return Absent(name, title, "profiles stand in the conversations; give them with --ground-truth")
    groups = trait_groups(study)
    found = [(g, one) for g, one in _contrasted(study, groups) if between(one[0]).mean is not None]
    if not found:
        return Absent(name, title, "no questionnaire splits the scored conversations into two groups")
    sure = [pair for pair in found if between(pair[1][0]).meaningful]
    group, one = max(sure or found, key=lambda pair: abs(pair[1][0].difference.mean or 0.0))
    reading = (
        f"the largest difference of the {label_of(leading(study))} is with {group.text}: "
        f"{with_interval(between(one[0]), signed=True)} points against the rest; "
        f"{_differing(study, found, 'split')}"
    )
    return Analysis(
        name,
        title,
        sentence(reading),
        (_table(study, "traits", "Questionnaires, each group against the rest", "group", found),),
        (("traits", partial(_figure, study, found, levels=False)),),
        _method(study, "Groups by published screening cuts where there are any, else above the median"),
    )


def _contrasted(study: Study, groups: Sequence[Group]) -> Found:
    values = _values(study)
    kernel, seed = study.table.kernel, study.seed
    return [(g, contrasts(kernel, values, g.inside, g.outside, draws=DRAWS, seed=seed)) for g in groups]


def _values(study: Study) -> Array:
    """(rows, 1 + SHOWN): means over models; the Composite in points, the others in shares."""
    names = (study.composite, *SHOWN)
    return np.stack([over_models(study.table.metric(name, study.models)) for name in names], axis=1)


def _differing(study: Study, found: Found, what: str) -> str:
    """How many groups differ on the Composite, of those that are large enough for their interval to tell."""
    composites = [one[0] for _, one in found]
    every = [(between(one), p) for one, p in zip(composites, corrected(composites), strict=True)]
    told = [(difference, p) for difference, p in every if difference.meaningful]
    sure = [p for difference, p in told if excludes_zero(difference)]
    tested = sum(p is not None and p < ALPHA for p in sure)
    fewer = f"fewer than {MEANINGFUL} {study.table.unit}s on a side"
    if not told:
        return f"every {what} has {fewer}, too few to tell a difference"
    differ = "differs" if 1 in (len(sure), len(told)) else "differ"
    text = (
        f"{how_many(len(sure))} of {counted(len(told), what)} {differ} beyond the interval, "
        f"{how_many(tested)} after Holm's correction"
    )
    left_out = len(every) - len(told)
    return f"{text} ({counted(left_out, what)} with {fewer} not counted)" if left_out else text


def _method(study: Study, groups: str) -> str:
    return (
        f"{groups}{over_all(study)}; conversations that do not say are left out. p: two-sided, by {DRAWS:,} "
        "permutations of the groups' labels, on the leading Composite; Holm over the groups; "
        f"{resampled(study)}. Groups overlap in people and topics: a difference is no cause."
    )


def _table(study: Study, name: str, title: str, head: str, found: Found) -> DataTable:
    table = DataTable(
        name,
        titled(study, f"{title}{over_all(study)}, points of 100"),
        (
            Column(head),
            Column("n"),
            Column("n others", "n_outside"),
            Column(label_of(leading(study)), "composite", places=1),
            Column("others", "outside", places=1),
            Column("difference", places=1),
            Column("p", places=4),
            Column("p, Holm", "p_holm", places=4),
            *(Column(f"{label}, difference", places=1, scale=100) for label in SHOWN.values()),
        ),
    )
    for (group, one), p_holm in zip(found, corrected([one[0] for _, one in found]), strict=True):
        first, *rest = one
        cells: tuple[Cell, ...] = (group.name, first.inside.n, first.outside.n, first.inside, first.outside)
        table.rows.append((*cells, between(first), first.p, p_holm, *(between(other) for other in rest)))
    return table


def _figure(study: Study, found: Found, *, levels: bool) -> Figure:
    """A row per group: means of the Composite and the others (`levels`), else differences to the rest."""
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import footed, frame, row_height, zero_line
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels

    shown = list(found[:MOST])
    if levels:
        shown.sort(key=lambda pair: -(pair[1][0].inside.mean or 0.0))
    labels = [f"{group.name} ({one[0].inside.n})" for group, one in shown]
    heads = (label_of(leading(study)), *SHOWN.values())
    kept = [i for i in range(len(heads)) if any(one[i].difference.mean is not None for _, one in shown)]
    figure, axes = panels(1, len(kept), width=8.5, height=row_height(len(shown)), sharey=True)
    for axis, metric in zip(axes, kept, strict=True):
        scale = 1.0 if metric == 0 else 100.0
        values = [one[metric].inside if levels else between(one[metric]) for _, one in shown]
        interval_dots(axis, labels, values, scale=scale)
        frame(axis, values, scale=scale)
        if not levels:
            zero_line(axis)
        headed(axis, heads[metric])
    what = f"{'mean' if levels else 'group − rest'}{over_all(study)}"
    footed(figure, f"{what}, points of 100, with 95 % interval (in brackets: conversations)")
    return figure
