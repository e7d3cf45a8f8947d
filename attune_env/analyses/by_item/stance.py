"""The yes/no questions asked twice: about the person, and in the person's place (a diagnostic)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_item.binary import PANELS, SIDES, agreement
from attune_env.analyses.by_item.shared import (
    drawn_text,
    items_or_why,
    missing_notes,
    model_places,
    ratios,
    summed_by_key,
)
from attune_env.analyses.by_score.shared import COVERAGE, coverage, few_noted, noun, titled
from attune_env.analyses.by_score.wording import (
    CHANCE,
    excludes_zero,
    how_many,
    names_of,
    of_all,
    sentence,
    span,
)
from attune_env.analyses.items import NOT_ASKED
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "wordings", "Observer wording against the person's own"
OBSERVER, OWN, GAIN, CHANGED = range(4)
HEADS: Final = (
    "observer wording (%)",
    "person's wording (%)",
    "difference (points)",
    "answers that change (%)",
)


@few_noted
def wordings(study: Study) -> Analysis | Absent:
    """What asking in the person's place changes: agreement in both wordings, and how many answers turn."""
    items = items_or_why(study, NAME, TITLE)
    if isinstance(items, Absent):
        return items
    twice = (items.said != NOT_ASKED).all(axis=0)
    if not twice.any():
        return Absent(NAME, TITLE, "no yes/no question was asked in both wordings")
    judged = items.truths.judgements

    def by_side(sums: Array) -> Array:
        rows, keys, _ = sums.shape
        added: Array = sums.reshape(rows, keys, 2, -1).sum(axis=3)
        return added

    observer, own = (agreement(study, items, said, twice) for said in items.said)
    right, again, counted = by_side(observer.right), by_side(own.right), by_side(observer.counted)
    valid = twice & (items.said >= 0).all(axis=0)
    changed, compared = (
        summed_by_key(study, judged.row, judged.side, 2, values & valid)
        for values in (items.said[0] != items.said[1], np.ones_like(valid))
    )
    found = ratios(
        study,
        np.stack([right, again, again - right, changed], axis=-1),
        np.stack([counted, counted, counted, compared], axis=-1),
    )
    table = DataTable(
        "wordings", titled(study, "Yes/no questions in both wordings"),
        (Column("model"), Column("asked about"),
         *(Column(head, name, places=1, scale=100) for head, name in
           zip(HEADS, ("observer", "own", "difference", "changed"), strict=True)),
         Column("n"), *COVERAGE),
        keys=2, foldable=("parsed", "answered", "unscored"),
    )  # fmt: skip
    faint = references(study.keys)
    for place, key in enumerate(study.keys):
        for side in (0, 1):
            one = found[place, side]
            if one[GAIN].mean is not None:
                if place in faint:
                    table.dim.add(len(table.rows))
                table.rows.append((key[0], SIDES[side], *one, one[GAIN].n, *coverage(study, key)))
    return Analysis(
        NAME,
        TITLE,
        _reading(study, found),
        (table,),
        (("wordings", partial(_panels, study, found)),),
        "Agreement with the person on the same yes/no questions, asked about the person (what the Composite "
        "uses) "
        "and again in the person's own wording: a diagnostic, no metric of the paper. Answers that change: "
        "of those "
        f"valid in both. {drawn_text(study)}; {CHANCE}.",
        missing_notes(items),
    )


def _reading(study: Study, found: npt.NDArray[np.object_]) -> str:
    places = [place for place in model_places(study) if found[place, 1, GAIN].mean is not None]
    better, worse = (
        sum(excludes_zero(found[p, 1, GAIN]) and sign * found[p, 1, GAIN].mean > 0 for p in places)
        for sign in (1, -1)
    )
    turned = [100 * found[p, 1, CHANGED].mean for p in places if found[p, 1, CHANGED].mean is not None]
    text = (
        f"asked in the person's place, {of_all(better, len(places), noun(study))} "
        f"{'agrees' if better == 1 or len(places) == 1 else 'agree'} more with what people wanted beyond the "
        f"interval, {how_many(worse)} less"
    )
    if turned:
        whose = f" of a {noun(study)}'s" if len(places) > 1 else " of its"
        text += f"; with the wording, {span(turned)} %{whose} answers about that change"
    return sentence(text)


def _panels(study: Study, found: npt.NDArray[np.object_]) -> Figure:
    from attune_env.figures.item_marks import same_reach
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import footed, row_height, zero_line
    from attune_env.figures.style import panels, style

    places = model_places(study)
    figure, axes = panels(1, 2, width=7.0, height=row_height(len(places)), sharey=True)
    for side, axis in enumerate(axes):
        interval_dots(axis, names_of(study.models), [found[p, side, GAIN] for p in places], scale=100)
        zero_line(axis)
        with style():
            axis.set_title(PANELS[side])
    same_reach(axes, list(found[places, :, GAIN].ravel()), scale=100, also=[0.0])
    footed(
        figure, "agreement in the person's wording less observer wording, percentage points, 95 % interval"
    )
    return figure
