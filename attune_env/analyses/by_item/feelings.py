"""Feelings as they were felt and as models read them: how far off, in which direction, which for which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from attune_data.affect import EMOTIONS, ITEMS
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
from attune_env.analyses.by_score.wording import counted, names_of, percent, sentence, with_interval
from attune_env.analyses.items import NONE, OTHER, Items, TagPairs
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "feelings", "Which feeling is read as which"
POINTS: Final = np.array([(item.valence, item.arousal) for item in ITEMS])
"""(20, 2): valence and arousal of each item, 0 to 1."""
FELT, READ = len(EMOTIONS) + 1, len(EMOTIONS) + 2
"""Rows and columns of a confusion: the items and `invented`; the items, `other` and `missed`."""
INVENTED, MISSED = FELT - 1, READ - 1
LEAST: Final = 10
"""An item with fewer matched pairs is not named in a reading, and its arrow is not drawn."""


@dataclass(frozen=True)
class Readings:
    """Pairs of a felt and a read item, as sums per conversation."""

    pairs: Array
    """(rows, keys, 20): matched pairs with two known items, by the felt one."""
    errors: Array
    """(rows, keys, 20, 2): read less felt, valence and arousal, added up."""
    distance: Array
    """(rows, keys, 20): their distances in the plane, added up."""
    exact: Array
    """(rows, keys, 20): pairs of an item with itself."""
    felt: Array
    """(rows, keys, 20): felt ones in answered turns."""
    loose: Array
    """(rows, keys, 3): missed felt ones; read ones that nobody felt; names outside the 20 items."""
    confusion: Array
    """(keys, FELT, READ): counts."""


def readings(study: Study, tags: TagPairs, keys: int) -> Readings:
    """The sums of a study's tag pairs."""
    rows, items = len(study.table.ids), len(EMOTIONS)
    felt, read = tags.felt, tags.read
    matched = (felt != NONE) & (read != NONE) & (read != OTHER)
    offset = np.zeros((len(felt), 2))
    offset[matched] = POINTS[read[matched]] - POINTS[felt[matched]]

    def by_item(mask: Array, values: Array | None = None) -> Array:
        place = (tags.row[mask] * keys + tags.key[mask]) * items + felt[mask]
        weights = None if values is None else values[mask]
        return np.bincount(place, weights, rows * keys * items).reshape(rows, keys, items).astype(np.float64)

    def by_key(mask: Array) -> Array:
        place = tags.row[mask] * keys + tags.key[mask]
        return np.bincount(place, minlength=rows * keys).reshape(rows, keys).astype(np.float64)

    place = np.where(felt == NONE, INVENTED, felt), np.where(read == NONE, MISSED, read)
    flat = (tags.key * FELT + place[0]) * READ + place[1]
    return Readings(
        by_item(matched),
        np.stack([by_item(matched, offset[:, axis]) for axis in (0, 1)], axis=-1),
        by_item(matched, np.hypot(*offset.T)),
        by_item(matched & (felt == read)),
        by_item(felt != NONE),
        np.stack([by_key(read == NONE), by_key(felt == NONE), by_key(read == OTHER)], axis=-1),
        np.bincount(flat, minlength=keys * FELT * READ).reshape(keys, FELT, READ).astype(np.float64),
    )


@few_noted
def feelings(study: Study) -> Analysis | Absent:
    """Valence-arousal error by model and by felt item, and the confusion of items."""
    items = items_or_why(study, NAME, TITLE)
    if isinstance(items, Absent):
        return items
    found = readings(study, items.tags, len(items.keys))
    if not pooled(study, found.pairs).sum():
        return Absent(NAME, TITLE, "no felt item was matched with a read one")
    by_item = _by_item(study, found)
    return Analysis(
        NAME,
        TITLE,
        _reading(study, found),
        (_by_model(study, items, found), by_item, _confusions(study, found)),
        (
            ("feelings-error", partial(_errors, study, found)),
            ("feelings-circumplex", partial(_circumplex, study, found)),
            ("feelings-confusion", partial(_confusion, study, found)),
        ),
        "Felt and read items are paired by the matching of the emotion VA metric, turn by turn; an error is "
        "read less felt on the unit scales of valence and arousal. Felt items without a partner are missed, "
        "read ones without a partner invented, names outside the 20 items other; turns without a valid "
        "answer "
        f"are left out. {drawn_text(study)}.",
        missing_notes(items),
    )


def _by_model(study: Study, items: Items, found: Readings) -> DataTable:
    table = DataTable(
        "feelings_by_model", titled(study, "Errors of feelings by model"),
        (Column("model"), Column("valence error", "valence_error"), Column("arousal error", "arousal_error"),
         Column("distance"), Column("pairs", "pairs"), Column("same item", share=True),
         Column("missed", share=True), Column("invented a turn", "invented_per_turn", places=2),
         Column("other names", "other_names"), Column("turns unanswered", share=True), *COVERAGE),
        dim=references(study.keys),
        foldable=("parsed", "answered", "unscored", "other names", "turns unanswered"),
    )  # fmt: skip
    pairs = found.pairs.sum(axis=2)
    sums = np.concatenate([found.errors.sum(axis=2), found.distance.sum(axis=2)[:, :, None]], axis=2)
    intervals = ratios(study, sums, np.repeat(pairs[:, :, None], 3, axis=2))
    exact = share(found.exact.sum(axis=2), pairs)
    missed = share(found.loose[:, :, 0], found.felt.sum(axis=2))
    turns, silent = items.tags.turns.sum(axis=1), items.tags.silent.sum(axis=1)
    for place, key in enumerate(study.keys):
        invented, other = found.loose[:, place, 1].sum(), found.loose[:, place, 2].sum()
        asked = turns[place] + silent[place]
        table.rows.append((
            key[0], *intervals[place], int(pairs[:, place].sum()), known(exact[place]), known(missed[place]),
            float(invented / turns[place]) if turns[place] else None, int(other),
            float(silent[place] / asked) if asked else None, *coverage(study, key),
        ))  # fmt: skip
    return table


def _by_item(study: Study, found: Readings) -> DataTable:
    table = DataTable(
        "feelings_by_item", titled(study, "Errors by felt item, all models together"),
        (Column("felt"), Column("valence"), Column("arousal"), Column("valence error", "valence_error"),
         Column("arousal error", "arousal_error"), Column("pairs", "pairs"), Column("same item", share=True),
         Column("missed", share=True), Column("most often read as", "read_as", prose=True),
         Column("in", "read_as_share", share=True)),
    )  # fmt: skip
    pairs, exact = pooled(study, found.pairs), pooled(study, found.exact)
    intervals = ratios(study, pooled(study, found.errors), np.repeat(pairs[:, :, None], 2, axis=2))
    total = found.confusion[model_places(study)].sum(axis=0)
    same = share(exact, pairs)
    for item, name in enumerate(EMOTIONS):
        felt = total[item].sum()
        if not felt:
            continue
        other = total[item, : OTHER + 1].copy()
        other[item] = 0
        top = int(other.argmax())
        read_as = (*EMOTIONS, "a name outside the 20")[top] if other[top] else "–"
        table.rows.append((
            name, *POINTS[item], *intervals[item], int(pairs[:, item].sum()), known(same[item]),
            float(total[item, MISSED] / felt), read_as,
            float(other[top] / total[item, : OTHER + 1].sum()) if other[top] else None,
        ))  # fmt: skip
    return table


def _confusions(study: Study, found: Readings) -> DataTable:
    """Counts in long form: pooled over models, and each model's own."""
    table = DataTable(
        "feelings_confusion", titled(study, "Which item is read as which: counts"),
        (Column("model"), Column("felt"), Column("read as", "read_as"), Column("count"),
         Column("of the felt item", "share_of_felt", share=True)),
        keys=3,
    )  # fmt: skip
    heads, columns = (*EMOTIONS, "(nobody felt it)"), (*EMOTIONS, "(a name outside the 20)", "(missed)")
    places = model_places(study)
    blocks = [("all models", found.confusion[places].sum(axis=0))] if len(places) > 1 else []
    blocks += [(key[0], found.confusion[place]) for place, key in enumerate(study.keys)]
    for name, counts in blocks:
        for felt, read in np.argwhere(counts > 0):
            part = counts[felt, read] / counts[felt].sum() if felt != INVENTED else None
            table.rows.append((name, heads[felt], columns[read], int(counts[felt, read]), part))
    return table


def _reading(study: Study, found: Readings) -> str:
    pairs, errors = pooled(study, found.pairs).sum(axis=1), pooled(study, found.errors).sum(axis=1)
    valence, arousal = ratios(study, errors, np.repeat(pairs[:, None], 2, axis=1))
    exact = pooled(study, found.exact).sum() / pairs.sum()
    text = (
        f"over {counted(int(pairs.sum()), 'matched pair')} {subject(study, 'read', 'reads')} "
        f"{percent(exact)} of feelings as the very item, {with_interval(valence, 3, signed=True)} off in "
        f"valence and {with_interval(arousal, 3, signed=True)} in arousal (scales of 0 to 1)"
    )
    total = found.confusion[model_places(study)].sum(axis=0)[:OTHER, :OTHER].copy()
    matched = total.sum(axis=1)
    np.fill_diagonal(total, 0)
    total[matched < LEAST] = 0
    if total.any():
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(matched[:, None] > 0, total / matched[:, None], 0)
        felt, read = np.unravel_index(int(rate.argmax()), rate.shape)
        few = ((matched > 0) & (matched < LEAST)).any()
        of = f", of feelings with {LEAST} pairs or more," if few else ""
        text += (
            f"; the most frequent confusion{of} is {EMOTIONS[felt]} read as {EMOTIONS[read]} "
            f"({percent(rate[felt, read])} of {counted(int(matched[felt]), 'pair')})"
        )
    return sentence(text)


def _errors(study: Study, found: Readings) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import row_height, zero_line
    from attune_env.figures.style import panels, style

    pairs = found.pairs.sum(axis=2)
    intervals = ratios(study, found.errors.sum(axis=2), np.repeat(pairs[:, :, None], 2, axis=2))
    places = model_places(study)
    figure, axes = panels(1, 2, width=7.4, height=row_height(len(places)), sharey=True)
    ends = ("pleasanter →", "more aroused →")
    for axis, side, name, end in zip(axes, (0, 1), ("Valence", "Arousal"), ends, strict=True):
        interval_dots(axis, names_of(study.models), [intervals[place, side] for place in places])
        zero_line(axis)
        with style():
            axis.set_title(name)
            axis.set_xlabel(f"read less felt, 0 to 1 ({end})")
            axis.locator_params(axis="x", nbins=5)
    return figure


def _circumplex(study: Study, found: Readings) -> Figure:
    from attune_env.figures.item_marks import arrows
    from attune_env.figures.score_marks import footed
    from attune_env.figures.style import panels

    pairs = pooled(study, found.pairs)
    intervals = ratios(study, pooled(study, found.errors), np.repeat(pairs[:, :, None], 2, axis=2))
    figure, axes = panels(1, 2, width=8.0, height=4.2, sharey=True)
    for axis, polarity in zip(axes, ("negative", "positive"), strict=True):
        chosen = [i for i, item in enumerate(ITEMS) if item.polarity == polarity]
        arrows(
            axis, [EMOTIONS[i] for i in chosen], POINTS[chosen], [tuple(intervals[i]) for i in chosen],
            least=LEAST, left=polarity == "negative", title=f"Felt: {polarity} items",
        )  # fmt: skip
    axes[0].set_ylabel("arousal, 0 to 1")
    footed(
        figure, "valence, 0 to 1 (dot: felt item; arrow: to the mean of what it is read as, 95 % interval)"
    )
    return figure


def _confusion(study: Study, found: Readings) -> Figure:
    from attune_env.figures.item_marks import share_matrix
    from attune_env.figures.style import panels, style

    total = found.confusion[model_places(study)].sum(axis=0)
    order = sorted(range(len(EMOTIONS)), key=lambda i: (POINTS[i, 0], EMOTIONS[i]))
    rows, columns = [*order, INVENTED], [*order, OTHER, MISSED]
    with np.errstate(invalid="ignore"):
        parts = (total / total.sum(axis=1, keepdims=True))[np.ix_(rows, columns)]
    figure, (axis,) = panels(1, 1, width=8.0, height=6.4)
    names = [EMOTIONS[i] for i in order]
    share_matrix(
        axis, parts,
        [f"{n} ({int(total[i].sum())})" for n, i in zip([*names, "nobody felt it"], rows, strict=True)],
        [*names, "other name", "missed"], apart=(len(order), len(order)),
    )  # fmt: skip
    with style():
        axis.set_xlabel("read as, % of the row")
        axis.set_ylabel(
            "felt (how often, all turns and models)" if len(study.models) > 1 else "felt (how often)"
        )
    return figure
