"""PANAS item by item: whether models foresee how each feeling changes, against assuming that nothing does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS, POLARITY
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
from attune_env.analyses.by_score.wording import (
    CHANCE,
    counted,
    excludes_zero,
    how_many,
    names_of,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "panas-items", "PANAS by item"
MEASURES: Final = ("predicted change", "real change", "absolute error", "error of no change", "gain")
PREDICTED, REAL, ERROR, NAIVE, GAIN = range(len(MEASURES))


@few_noted
def panas_items(study: Study) -> Analysis | Absent:
    """Predicted against real change of each PANAS item, and the error against that of no change."""
    items = items_or_why(study, NAME, TITLE)
    if isinstance(items, Absent):
        return items
    before, after = items.truths.affect.before, items.truths.affect.after
    said = np.moveaxis(items.affect, 0, 1)  # (rows, keys, 20)
    naive = np.broadcast_to(np.abs(after - before)[:, None], said.shape)
    error = np.abs(said - after[:, None])
    values = np.stack(
        [
            said - before[:, None],
            np.broadcast_to((after - before)[:, None], said.shape),
            error,
            naive,
            naive - error,
        ],
        axis=-1,
    )
    both = ~np.isnan(values).any(axis=-1)
    if not both[:, model_places(study)].any():
        return Absent(NAME, TITLE, "no PANAS item is known before, after and predicted")
    sums, given = np.where(both[..., None], values, 0.0), both.astype(float)
    counts = np.repeat(given[..., None], len(MEASURES), axis=-1)
    everyone = ratios(study, pooled(study, sums), pooled(study, counts))
    models = ratios(study, sums.sum(axis=2), counts.sum(axis=2))
    asked = np.moveaxis(items.reflected, 0, 1)[:, :, None] & ~np.isnan(before + after)[:, None]
    answered = share(given.sum(axis=2), asked.sum(axis=2).astype(float))
    columns = (
        Column("predicted change", places=2), Column("real change", places=2),
        Column("absolute error", places=2),
        Column("error of no change", places=2), Column("gain over no change", places=2), Column("n"),
    )  # fmt: skip
    by_item = DataTable(
        "panas_items", titled(study, "PANAS items, all models together, points of 1 to 7"),
        (Column("item"), Column("side"), *columns), keys=2,
    )  # fmt: skip
    for i, name in enumerate(EMOTIONS):
        if everyone[i, ERROR].mean is not None:
            by_item.rows.append((name, POLARITY[name], *everyone[i], everyone[i, ERROR].n))
    by_model = DataTable(
        "panas_items_by_model", titled(study, "PANAS items by model, points of 1 to 7"),
        (Column("model"), *columns, Column("answered here", share=True), *COVERAGE),
        dim=references(study.keys), foldable=("parsed", "answered", "unscored", "answered here"),
    )  # fmt: skip
    for place, key in enumerate(study.keys):
        by_model.rows.append((
            key[0], *models[place], models[place, ERROR].n, known(answered[place]), *coverage(study, key)
        ))  # fmt: skip
    return Analysis(
        NAME,
        TITLE,
        _reading(
            study,
            everyone,
            ratios(study, pooled(study, sums.sum(axis=2)), pooled(study, counts.sum(axis=2))),
        ),
        (by_model, by_item),
        (
            ("panas-items", partial(_items, everyone)),
            ("panas-items-by-model", partial(_models, study, models)),
        ),
        "Over items known before, after and predicted: change is after less before; gain is the error of "
        "assuming "
        f"no change less the model's, above 0 where it foresees better. {drawn_text(study)}; {CHANCE}.",
        missing_notes(items),
    )


def _reading(study: Study, everyone: npt.NDArray[np.object_], total: npt.NDArray[np.object_]) -> str:
    better = sum(excludes_zero(one[GAIN]) and one[GAIN].mean > 0 for one in everyone)
    worse = sum(excludes_zero(one[GAIN]) and one[GAIN].mean < 0 for one in everyone)
    known = sum(one[GAIN].mean is not None for one in everyone)
    return sentence(
        f"{subject(study, 'are', 'is')} {with_interval(total[ERROR], 2)} points of 1 to 7 off an item in the "
        f"mean, assuming no change would be {with_interval(total[NAIVE], 2)}; of {counted(known, 'item')} "
        f"{how_many(better)} {'is' if better == 1 else 'are'} foreseen better than that beyond the interval, "
        f"{how_many(worse)} worse"
    )


def _items(everyone: npt.NDArray[np.object_]) -> Figure:
    from attune_env.figures.item_marks import pairs_of_dots
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import zero_line
    from attune_env.figures.style import panels, style

    order = [i for i in range(len(EMOTIONS)) if everyone[i, REAL].mean is not None]
    order.sort(key=lambda i: (POLARITY[EMOTIONS[i]] == "negative", -everyone[i, REAL].mean))
    names = [EMOTIONS[i] for i in order]
    figure, axes = panels(1, 2, width=7.0, height=max(2.2, 1.2 + 0.21 * len(order)), sharey=True)
    pairs_of_dots(axes[0], names, [everyone[i, REAL] for i in order], [everyone[i, PREDICTED] for i in order],
                  ("real", "predicted"), title="Change over the conversation")  # fmt: skip
    interval_dots(axes[1], names, [everyone[i, GAIN] for i in order])
    with style():
        axes[0].set_xlabel("after less before, points of 1 to 7")
        axes[1].set_title("Gain over assuming no change", pad=16)
        axes[1].set_xlabel("points of 1 to 7 (right: better)")
        for axis in axes:
            zero_line(axis)
    return figure


def _models(study: Study, models: npt.NDArray[np.object_]) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import row_height, zero_line
    from attune_env.figures.style import panels, style

    places = model_places(study)
    figure, (axis,) = panels(1, 1, width=5.2, height=row_height(len(places)))
    interval_dots(axis, names_of(study.models), [models[place, GAIN] for place in places])
    zero_line(axis)
    with style():
        axis.set_xlabel("gain over assuming no change, points of 1 to 7")
    return figure
