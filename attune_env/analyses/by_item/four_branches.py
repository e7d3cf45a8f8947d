"""The four branch scores: by how much models over- or underrate how well a reply did at each of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from attune_data.constants import BRANCHES
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_item.shared import (
    drawn_text,
    items_or_why,
    known,
    missing_notes,
    model_places,
    pooled,
    ratios,
    share,
)
from attune_env.analyses.by_score.shared import COVERAGE, coverage, few_noted, subject, titled
from attune_env.analyses.by_score.wording import CHANCE, excludes_zero, names_of, sentence, with_interval
from attune_env.analyses.study import Study
from attune_env.report.cells import Cell, Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Array
from attune_rewards.branches import MIDPOINT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "four-branches", "Four-branch error by branch"


@few_noted
def four_branches(study: Study) -> Analysis | Absent:
    """Signed and absolute errors of the predicted branch scores, by branch and model."""
    items = items_or_why(study, NAME, TITLE)
    if isinstance(items, Absent):
        return items
    truth = items.truths.branches
    error = np.moveaxis(items.branches - truth, 0, 1)  # (rows, keys, 4)
    both = ~np.isnan(error)
    if not both[:, model_places(study)].any():
        return Absent(NAME, TITLE, "no branch score is both rated and predicted")
    signed, absolute, counted = np.where(both, error, 0), np.where(both, np.abs(error), 0), both.astype(float)
    asked = np.moveaxis(items.reflected, 0, 1)[:, :, None] & ~np.isnan(truth)[:, None]
    found = ratios(study, np.stack([signed, absolute], -1), np.stack([counted] * 2, -1))
    answered = share(counted, asked.astype(float))
    constants = _constants(truth)
    table = DataTable(
        "four_branches", titled(study, "Errors of branch scores, points of 1 to 7"),
        (Column("model"), Column("branch"), Column("signed error", "signed_error", places=2),
         Column("absolute error", "absolute_error", places=2),
         Column("always the median", "median_mae", places=2),
         Column("always 4", "midpoint_mae", places=2), Column("n"),
         Column("answered here", share=True), *COVERAGE),
        keys=2,
        foldable=("parsed", "answered", "unscored", "answered here"),
    )  # fmt: skip
    both_sides = np.stack([pooled(study, signed), pooled(study, absolute)], -1)
    everyone = ratios(study, both_sides, np.stack([pooled(study, counted)] * 2, -1))
    if len(study.models) > 1:
        for branch, name in enumerate(BRANCHES):
            table.rows.append(
                _row("all models", name, everyone[branch], constants[:, branch], None, (None,) * 3)
            )
    faint = references(study.keys)
    for place, key in enumerate(study.keys):
        for branch, name in enumerate(BRANCHES):
            if found[place, branch, 0].mean is not None:
                if place in faint:
                    table.dim.add(len(table.rows))
                table.rows.append(_row(key[0], name, found[place, branch], constants[:, branch],
                                       known(answered[place, branch]), coverage(study, key)))  # fmt: skip
    return Analysis(
        NAME,
        TITLE,
        _reading(study, everyone),
        (table,),
        (("four-branches", partial(_panels, study, found, constants)),),
        "Predicted less rated score of each branch (1 to 7), over conversations with both; missing "
        "predictions "
        "are left out here (the canonical metric counts them as 4). Always the median, always 4: what such a "
        f"constant answer is off by in the mean. {drawn_text(study)}; {CHANCE}.",
        missing_notes(items),
    )


def _row(
    model: str,
    branch: str,
    pair: npt.NDArray[np.object_],
    constants: Array,
    answered: float | None,
    rest: tuple[Cell, ...],
) -> tuple[Cell, ...]:
    return model, branch, *pair, known(constants[0]), known(constants[1]), pair[0].n, answered, *rest


def _constants(truth: Array) -> Array:
    """(2, branches): mean absolute error of always the median, and of always 4."""
    found = np.full((2, truth.shape[1]), np.nan)
    for branch in range(truth.shape[1]):
        if (rated := truth[~np.isnan(truth[:, branch]), branch]).size:
            found[:, branch] = np.abs(rated - np.median(rated)).mean(), np.abs(rated - MIDPOINT).mean()
    return found


def _reading(study: Study, everyone: npt.NDArray[np.object_]) -> str:
    named = [
        (pair[0], pair[1], name)
        for pair, name in zip(everyone, BRANCHES, strict=True)
        if pair[0].mean is not None
    ]
    worst = max(named, key=lambda one: one[1].mean)
    sure = [one for one in named if excludes_zero(one[0])]
    skewed = max(sure or named, key=lambda one: abs(one[0].mean))
    way = "overrated" if skewed[0].mean > 0 else "underrated"
    error = f"({with_interval(skewed[0], 2, signed=True)})"
    return sentence(
        f"{subject(study, 'are', 'is')} furthest off on {worst[2]} ({with_interval(worst[1], 2)} points of "
        "1 to 7 in the mean); "
        + (
            f"{skewed[2]} is the branch most {way} {error}"
            if sure
            else f"no branch is over- or underrated beyond the interval, {skewed[2]} most nearly {error}"
        )
    )


def _panels(study: Study, found: npt.NDArray[np.object_], constants: Array) -> Figure:
    from attune_env.figures.item_marks import same_reach
    from attune_env.figures.marks import interval_dots, reference_line
    from attune_env.figures.score_marks import footed, row_height, zero_line
    from attune_env.figures.style import panels, style

    places = model_places(study)
    height = row_height(len(places), least=1.9)
    figure, axes = panels(2, len(BRANCHES), width=8.0, height=2 * height, sharey=True)
    for branch, name in enumerate(BRANCHES):
        for kind, what in enumerate(("signed error", "absolute error")):
            axis = axes[kind * len(BRANCHES) + branch]
            values = [found[place, branch, kind] for place in places]
            interval_dots(axis, names_of(study.models), values)
            if kind == 0:
                zero_line(axis)
            else:
                reference_line(axis, float(constants[0, branch]), "always the median")
            with style():
                axis.set_title(f"{name.capitalize()}" if kind == 0 else "", pad=6 if kind == 0 else 14)
                axis.set_xlabel(what)
    kinds = len(BRANCHES)
    for kind, also in ((0, [0.0]), (1, constants[0].tolist())):
        shown = [one for one in found[places, :, kind].ravel() if one.mean is not None]
        same_reach(axes[kind * kinds : (kind + 1) * kinds], shown, also=also)
    footed(figure, "predicted less rated, points of a scale of 1 to 7, with 95 % interval")
    return figure
