"""Comparisons of replies: how well choices are foreseen per question, and what else moves a model's picks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from attune_data.codebook import Codebook
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
    summed_by_key,
)
from attune_env.analyses.by_score.shared import COVERAGE, coverage, few_noted, noun, titled
from attune_env.analyses.by_score.wording import CHANCE as BY_CHANCE
from attune_env.analyses.by_score.wording import (
    excludes_zero,
    listed,
    names_of,
    of_all,
    sentence,
    with_interval,
)
from attune_env.analyses.items import NOT_ASKED, Items
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Array, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANCE: Final = 0.5
"""Picks are A or B."""
LEAST: Final = 20
"""A question with fewer comparisons is not named in a reading."""


@few_noted
def preference_questions(study: Study) -> Analysis | Absent:
    """Pairwise accuracy on each question of the comparisons, pooled and by model."""
    name, title = "preference-questions", "Preference per question"
    items = items_or_why(study, name, title)
    if isinstance(items, Absent):
        return items
    compared = items.truths.comparisons
    groups = len(compared.ids)
    asked = items.picks != NOT_ASKED
    if not asked.any():
        return Absent(name, title, "no comparison with a winner was asked")
    right = (items.picks == compared.winner) & asked
    above, below, given = (
        summed_by_key(study, compared.row, compared.question, groups, values)
        for values in (right, asked, items.picks >= 0)
    )
    everyone = ratios(study, pooled(study, above), pooled(study, below))
    singly = ratios(study, above, below)
    answered, book = share(given, below), Codebook.own()
    single = share(above, below)[model_places(study)]
    truths = np.bincount(compared.question, minlength=groups)
    table = DataTable(
        "preference_questions", titled(study, "Comparisons by question, all models together"),
        (Column("id"), Column("question", prose=True), Column("comparisons"),
         Column("accuracy (%)", "accuracy", places=1, scale=100), Column("lowest model", share=True),
         Column("highest model", share=True)),
    )  # fmt: skip
    by_model = DataTable(
        "preference_questions_by_model", titled(study, "Comparisons by question and model"),
        (Column("model"), Column("id"), Column("accuracy (%)", "accuracy", places=1, scale=100), Column("n"),
         Column("answered", share=True)),
        keys=2,
    )  # fmt: skip
    faint = references(study.keys)
    for q in range(groups):
        values = single[~np.isnan(single[:, q]), q]
        table.rows.append((
            compared.ids[q], book.pairwise_text(compared.ids[q]), int(truths[q]), everyone[q],
            float(values.min()) if values.size else None, float(values.max()) if values.size else None,
        ))  # fmt: skip
        for place, key in enumerate(study.keys):
            if (one := singly[place, q]).mean is not None:
                if place in faint:
                    by_model.dim.add(len(by_model.rows))
                by_model.rows.append((key[0], compared.ids[q], one, one.n, known(answered[place, q])))
    return Analysis(
        name,
        title,
        _questions_reading(compared.ids, list(everyone), truths),
        (table, by_model),
        (("preference-questions", partial(_questions, list(compared.ids), list(everyone), single)),),
        "Share of comparisons with a winner whose pick is the person's; a missing pick is wrong. Chance is "
        "50 %, "
        f"since picks are A or B. {drawn_text(study)}. Wordings are this project's own.",
        missing_notes(items),
    )


def _questions_reading(ids: tuple[str, ...], everyone: list[Interval], truths: npt.NDArray[np.int_]) -> str:
    named = [(one.mean, i) for i, one in enumerate(everyone) if one.mean is not None and truths[i] >= LEAST]
    sure = [i for i in range(len(ids)) if (low := everyone[i].low) is not None and low > CHANCE
            and everyone[i].meaningful]  # fmt: skip
    text = (
        f"choices are foreseen better than by chance on {of_all(len(sure), len(ids), 'question')} (interval "
        "above 50 %)"
    )
    if len(named) > 1:
        best, worst = max(named), min(named)
        ends = [f"{ids[i]} ({with_interval(everyone[i], 1, 100)} %)" for i in (best[1], worst[1])]
        text += f"; highest on {ends[0]}, lowest on {ends[1]}"
        if len(named) < sum(one.mean is not None for one in everyone):
            text += f", of questions with {LEAST} comparisons or more"
    return sentence(text)


def _questions(ids: list[str], everyone: list[Interval], single: Array) -> Figure:
    from attune_env.figures.item_marks import dots_with_marks
    from attune_env.figures.marks import reference_line
    from attune_env.figures.score_marks import footed
    from attune_env.figures.style import panels

    def short(name: str) -> str:
        text = Codebook.own().pairwise_text(name).removeprefix("Which of the two replies ").rstrip("?")
        return f"{name}  {text}"

    figure, (axis,) = panels(1, 1, width=6.8, height=max(2.0, 1.2 + 0.22 * len(ids)))
    order = sorted(range(len(ids)), key=lambda i: -(everyone[i].mean or 0.0))
    labels = [short(ids[i]) for i in order]
    dots_with_marks(axis, labels, [everyone[i] for i in order], None, single[:, order],
                    scale=100)  # fmt: skip
    reference_line(axis, 100 * CHANCE, "chance", above=True)
    note = "picks that are the person's, % of comparisons, with 95 % interval" + (
        "; grey: range of models" if len(single) > 1 else ""
    )
    footed(figure, note)
    return figure


@dataclass(frozen=True)
class Bias:
    """One bias: how often the model, and the person in the same comparisons, took one kind of reply."""

    model: list[Interval]
    """Per key: share of the model's picks."""
    person: list[Interval]
    excess: list[Interval]
    """Their difference, over the same comparisons."""


def _bias(study: Study, items: Items, kind: npt.NDArray[np.int_], where: npt.NDArray[np.bool_]) -> Bias:
    """`kind`, (keys, items), is the side 0 or 1 that the bias is for; `where`: where it is known."""
    compared = items.truths.comparisons
    used = where & (items.picks >= 0)
    one = np.zeros(len(compared.row), dtype=np.int32)
    picked, won, below = (
        summed_by_key(study, compared.row, one, 1, values & used)[:, :, 0]
        for values in (items.picks == kind, compared.winner == kind, np.ones_like(used))
    )
    found = ratios(
        study, np.stack([picked, won, picked - won], axis=2), np.repeat(below[:, :, None], 3, axis=2)
    )
    return Bias(*(list(found[:, i]) for i in range(3)))


def position_bias(study: Study, items: Items) -> Bias:
    """Towards the reply shown first (side A of the prompt), where the result file says which that was."""
    return _bias(study, items, (items.swapped == 1).astype(np.int_), items.swapped >= 0)


def length_bias(study: Study, items: Items) -> Bias:
    """Towards the longer text, in characters, where the two differ."""
    lengths = items.truths.comparisons.lengths
    longer = (lengths[:, 1] > lengths[:, 0]).astype(np.int_)
    where = (lengths >= 0).all(axis=1) & (lengths[:, 0] != lengths[:, 1])
    shape = items.picks.shape
    return _bias(study, items, np.broadcast_to(longer, shape), np.broadcast_to(where, shape))


@few_noted
def preference_bias(study: Study) -> Analysis | Absent:
    """Position bias and length bias of the picks, each against what people chose in the same comparisons."""
    name, title = "preference-bias", "Position and length bias"
    items = items_or_why(study, name, title)
    if isinstance(items, Absent):
        return items
    if not (items.picks >= 0).any():
        return Absent(name, title, "no comparison was answered")
    position, length = position_bias(study, items), length_bias(study, items)
    unknown = [key[0] for key, one in zip(study.keys, position.excess, strict=True) if one.mean is None]
    table = DataTable(
        "preference_bias", titled(study, "Position and length bias of picks"),
        (Column("model"), Column("picks the first (%)", "picks_first", places=1, scale=100),
         Column("person's is first (%)", "person_first", places=1, scale=100),
         Column("position bias (points)", "position_bias", places=1, scale=100),
         Column("picks the longer (%)", "picks_longer", places=1, scale=100),
         Column("person's is longer (%)", "person_longer", places=1, scale=100),
         Column("length bias (points)", "length_bias", places=1, scale=100),
         Column("n first"), Column("n longer"), *COVERAGE),
        dim=references(study.keys),
        foldable=("parsed", "answered", "unscored", "n first", "n longer"),
    )  # fmt: skip
    for place, key in enumerate(study.keys):
        a, b = position.excess[place], length.excess[place]
        table.rows.append((
            key[0], position.model[place], position.person[place], a, length.model[place],
            length.person[place],
            b, a.n, b.n, *coverage(study, key),
        ))  # fmt: skip
    notes = missing_notes(items)
    if unknown:
        notes += (
            "Which reply was shown first is not in the result files of "
            f"{listed(names_of([(m, '') for m in unknown]))}"
            ": no position bias.",
        )
    return Analysis(
        name,
        title,
        _bias_reading(study, position, length),
        (table,),
        (("preference-bias", partial(_biases, study, position, length)),),
        "Bias: share of the model's picks that are the reply shown first (side A of the prompt), or the one "
        "with "
        "more characters, less the same share of the person's choices in the same answered comparisons with "
        "a "
        f"winner. 0 is no bias, whatever people prefer. {drawn_text(study)}; {BY_CHANCE}.",
        notes,
    )


def _bias_reading(study: Study, position: Bias, length: Bias) -> str:
    places, names = model_places(study), names_of(study.models)
    parts = []
    for bias, what in ((position, "the reply shown first"), (length, "the longer reply")):
        known_ = [
            (bias.excess[p], n) for p, n in zip(places, names, strict=True) if bias.excess[p].mean is not None
        ]
        if not known_:
            continue
        sure = [(one, n) for one, n in known_ if excludes_zero(one)]
        largest, name = max(sure or known_, key=lambda pair: abs(pair[0].mean or 0.0))
        by = f"{with_interval(largest, 1, 100, signed=True)} points"
        if len(known_) == 1:
            beyond = "" if sure else ", not beyond the interval"
            more = "less" if (largest.mean or 0.0) < 0 else "more"
            parts.append(f"the {noun(study)} takes {what} {more} often than people do ({by}){beyond}")
            continue
        biased = of_all(len(sure), len(known_), noun(study))
        favour = "favours or avoids" if len(sure) == 1 else "favour or avoid"
        parts.append(
            f"{biased} {favour} {what} beyond the interval, {name} {'most' if sure else 'most nearly'} ({by} "
            "against people's choices)"
        )
    return sentence("; ".join(parts) or "neither bias can be told from these results")


def _biases(study: Study, position: Bias, length: Bias) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import row_height, zero_line
    from attune_env.figures.style import panels, style

    places = model_places(study)
    figure, axes = panels(1, 2, width=7.0, height=row_height(len(places)), sharey=True)
    heads = ("Towards the reply shown first", "Towards the longer reply")
    for axis, bias, head in zip(axes, (position, length), heads, strict=True):
        interval_dots(axis, names_of(study.models), [bias.excess[place] for place in places], scale=100)
        zero_line(axis)
        with style():
            axis.set_title(head)
            axis.set_xlabel("share of picks less people's, points")
            if all(bias.excess[place].mean is None for place in places):
                axis.set_xlim(-1, 1)
                axis.text(0.5, 0.5, "not in these result files", ha="center", transform=axis.transAxes)
    return figure
