"""Yes/no questions one by one: on which of them models agree with people, and on which they do not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from attune_data.codebook import Codebook
from attune_data.constants import BINARY_BRANCHES
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_item.shared import (
    drawn_text,
    items_or_why,
    known,
    means,
    missing_notes,
    model_places,
    pooled,
    ratios,
    share,
    summed_by_key,
)
from attune_env.analyses.by_score.shared import COVERAGE, coverage, few_noted, subject, titled
from attune_env.analyses.by_score.wording import names_of, number_text, sentence
from attune_env.analyses.items import NOT_ASKED, Codes, Items
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "binary-questions", "Agreement per yes/no question"
SIDES: Final = ("did it (OM)", "wanted it (HP)")
PANELS: Final = ("What the reply did (OM)", "What was wanted (HP)")
LEAST: Final = 20
"""A question with fewer truths is not named in a reading."""


@dataclass(frozen=True)
class Agreement:
    """Right answers and answers, per conversation; groups are the questions of OM, then those of HP."""

    ids: tuple[str, ...]
    right: Array
    """(rows, keys, groups)"""
    counted: Array
    given: Array
    """Valid answers."""
    said_yes: Array
    truths: Array
    """(groups): judgements with a yes or no."""
    yes: Array
    """(groups): share of yes among them."""

    @property
    def majority(self) -> Array:
        """(groups): what always giving the more frequent answer of a question earns on these data."""
        return np.maximum(self.yes, 1 - self.yes)


def agreement(
    study: Study, items: Items, said: Codes, only: npt.NDArray[np.bool_] | None = None
) -> Agreement:
    """The agreement of answers, shape (keys, judgements), under the study's reading.

    In the canonical reading a missing answer is a no, in the strict one it is wrong. `only` leaves out
    answers, same shape as `said`.
    """
    judged = items.truths.judgements
    groups = 2 * len(judged.ids)
    group = (judged.side * len(judged.ids) + judged.question).astype(np.int32)
    counted = said != NOT_ASKED if only is None else only
    right = (said == 1) == judged.yes
    if study.reading == "strict":
        right &= said >= 0

    def by_key(values: npt.NDArray[np.bool_]) -> Array:
        return summed_by_key(study, judged.row, group, groups, values & counted)

    truths = np.bincount(group, minlength=groups).astype(np.float64)
    with np.errstate(invalid="ignore"):
        yes = np.bincount(group, judged.yes, groups) / truths
    return Agreement(
        judged.ids,
        by_key(right),
        by_key(np.ones_like(right)),
        by_key(said >= 0),
        by_key(said == 1),
        truths,
        yes,
    )


@few_noted
def binary_questions(study: Study) -> Analysis | Absent:
    """Agreement on each yes/no question, pooled and by model, beside the question's majority answer."""
    items = items_or_why(study, NAME, TITLE)
    if isinstance(items, Absent):
        return items
    found = agreement(study, items, items.said[0])
    if not found.counted.sum():
        return Absent(NAME, TITLE, "no yes/no question was asked and annotated")
    everyone = ratios(study, pooled(study, found.right), pooled(study, found.counted))
    singly = ratios(study, found.right, found.counted)
    order = [(side, q) for q in range(len(found.ids)) for side in (0, 1)]
    questions = len(found.ids)
    majority, book = found.majority, Codebook.own()
    table = DataTable(
        "binary_questions", titled(study, "Yes/no questions, all models together"),
        (Column("id"), Column("asked about"), Column("question", prose=True), Column("branch", prose=True),
         Column("truths"), Column("yes", "true_yes_share", share=True), Column("majority", share=True),
         Column("agreement (%)", "agreement", places=1, scale=100),
         Column("over majority (points)", "over_majority", places=1, scale=100)),
        keys=2,
        foldable=(),
    )  # fmt: skip
    by_model = DataTable(
        "binary_questions_by_model", titled(study, "Yes/no questions by model"),
         (Column("model"), Column("id"), Column("asked about"),
          Column("agreement (%)", "agreement", places=1, scale=100),
         Column("n"), Column("majority", share=True), Column("says yes", share=True),
         Column("answered", share=True)),
        keys=3,
    )  # fmt: skip
    said_yes, given = share(found.said_yes, found.counted), share(found.given, found.counted)
    faint = references(study.keys)
    for side, q in order:
        group = side * questions + q
        if not found.truths[group]:
            continue
        interval = everyone[group]
        over = None if interval.mean is None else interval.mean - majority[group]
        table.rows.append((
            found.ids[q], SIDES[side], book.binary_text(found.ids[q], observer=True),
            BINARY_BRANCHES.get(found.ids[q], "").replace("_", " "), int(found.truths[group]),
            known(found.yes[group]), known(majority[group]), interval, over,
        ))  # fmt: skip
        for place, key in enumerate(study.keys):
            one = singly[place, group]
            if one.mean is not None:
                if place in faint:
                    by_model.dim.add(len(by_model.rows))
                by_model.rows.append((
                    key[0], found.ids[q], SIDES[side], one, one.n, known(majority[group]),
                    known(said_yes[place, group]), known(given[place, group]),
                ))  # fmt: skip
    reading = (
        "strict: a missing answer is wrong"
        if study.reading == "strict"
        else "canonical: a missing answer is a no"
    )
    return Analysis(
        NAME,
        TITLE,
        _reading(study, found, means(list(everyone))),
        (_summary(study, found), table, by_model),
        (
            ("binary-questions", partial(_dots, study, found)),
            *(
                [("binary-questions-by-model", partial(_matrix, study, found))]
                if len(study.models) > 1
                else ()
            ),
        ),
        f"Share of right answers in observer wording, among judgements with a yes or no ({reading}). "
        "Majority: what giving each question its more frequent true answer earns on these data, reading "
        "nothing. "
        f"{drawn_text(study)}. Wordings are this project's own.",
        missing_notes(items),
    )


def _summary(study: Study, found: Agreement) -> DataTable:
    """Both sides by model: agreement, and how often it says yes."""
    questions = len(found.ids)
    table = DataTable(
        "binary_answers", titled(study, "Yes/no answers by model"),
        (Column("model"), Column("asked about"), Column("agreement (%)", "agreement", places=1, scale=100),
         Column("n"), Column("majority", share=True), Column("says yes (%)", "says_yes", places=1, scale=100),
         Column("is yes", "true_yes_share", share=True), Column("answered here", share=True), *COVERAGE),
        keys=2,
        foldable=("parsed", "answered", "unscored"),
    )  # fmt: skip
    sides = [slice(side * questions, (side + 1) * questions) for side in (0, 1)]
    right, counted, yes, given = (
        np.stack([sums[:, :, part].sum(axis=2) for part in sides], axis=2)
        for sums in (found.right, found.counted, found.said_yes, found.given)
    )
    agreed, says = ratios(study, right, counted), ratios(study, yes, counted)
    answered = share(given, counted)
    best, rate = _rates(found)
    faint = references(study.keys)
    for place, key in enumerate(study.keys):
        for side in (0, 1):
            one = agreed[place, side]
            if one.mean is None:
                continue
            if place in faint:
                table.dim.add(len(table.rows))
            table.rows.append((
                key[0], SIDES[side], one, one.n, best[side], says[place, side], rate[side],
                known(answered[place, side]), *coverage(study, key),
            ))  # fmt: skip
    return table


def _rates(found: Agreement) -> tuple[list[float | None], list[float | None]]:
    """Majority share and share of yes of each side, over its truths."""
    questions = len(found.ids)
    best: list[float | None] = []
    rate: list[float | None] = []
    for side in (0, 1):
        part = slice(side * questions, (side + 1) * questions)
        truths, yes = found.truths[part], np.nan_to_num(found.yes[part])
        total = truths.sum()
        best.append(float((truths * np.maximum(yes, 1 - yes)).sum() / total) if total else None)
        rate.append(float((truths * yes).sum() / total) if total else None)
    return best, rate


def _reading(study: Study, found: Agreement, everyone: Array) -> str:
    questions = len(found.ids)
    best, _ = _rates(found)
    above, below = pooled(study, found.right).sum(axis=0), pooled(study, found.counted).sum(axis=0)
    parts = []
    for side, what in ((0, "on what a reply did"), (1, "on what people wanted")):
        part = slice(side * questions, (side + 1) * questions)
        if below[part].sum() and (null := best[side]) is not None:
            agreed = 100 * above[part].sum() / below[part].sum()
            parts.append(f"{what} in {agreed:.1f} % of answers (always the majority: {100 * null:.1f} %)")
    text = f"{subject(study, 'agree', 'agrees')} with people {' and '.join(parts)}"
    over = np.where(found.truths >= LEAST, everyone - found.majority, np.nan)
    if not np.isnan(over).all():
        top, last = int(np.nanargmax(over)), int(np.nanargmin(over))
        ends = [
            f"{number_text(100 * over[g], signed=True)} ({found.ids[g % questions]}, "
            f"{('OM', 'HP')[g // questions]})"
            for g in (last, top)
        ]
        text += f"; agreement less the majority runs from {ends[0]} to {ends[1]} points"
        if np.isnan(over).sum() > np.isnan(everyone).sum():
            text += f", over questions with {LEAST} truths or more"
    return sentence(text)


def _short(question: str) -> str:
    text = Codebook.own().binary_text(question, observer=False).removeprefix("Did the reply ")
    return f"{question}  {text.partition(',')[0].rstrip('?')}"


def _order(study: Study, found: Agreement) -> list[int]:
    """Questions by how far they lie above the majority, both sides together; those with few left out."""
    questions = len(found.ids)
    mean = share(pooled(study, found.right), pooled(study, found.counted))
    over = np.nan_to_num(mean - found.majority).reshape(2, questions).sum(axis=0)
    asked = [q for q in range(questions) if found.truths.reshape(2, questions)[:, q].max() >= LEAST]
    return sorted(asked or range(questions), key=lambda q: (-over[q], q))


def _dots(study: Study, found: Agreement) -> Figure:
    from attune_env.figures.item_marks import dots_with_marks
    from attune_env.figures.score_marks import footed
    from attune_env.figures.style import panels

    questions = len(found.ids)
    order = _order(study, found)
    everyone = ratios(study, pooled(study, found.right), pooled(study, found.counted)).reshape(2, questions)
    places = model_places(study)
    single = share(found.right, found.counted)[places].reshape(len(places), 2, questions)
    figure, axes = panels(1, 2, width=8.0, height=max(2.2, 1.2 + 0.19 * len(order)), sharey=True, sharex=True)
    for side, axis in enumerate(axes):
        dots_with_marks(
            axis, [_short(found.ids[q]) for q in order], [everyone[side, q] for q in order],
            found.majority.reshape(2, questions)[side, order], single[:, side, order],
            named=("models", "majority answer"), scale=100, title=PANELS[side],
        )  # fmt: skip
    several = "; grey: range of models" if len(places) > 1 else ""
    footed(figure, f"agreement with the person, % of answers, with 95 % interval{several}")
    return figure


def _matrix(study: Study, found: Agreement) -> Figure:
    from attune_env.figures.item_marks import signed_matrix
    from attune_env.figures.score_marks import footed
    from attune_env.figures.style import panels

    questions, places = len(found.ids), model_places(study)
    order = _order(study, found)
    over = 100 * (share(found.right, found.counted)[places] - found.majority).reshape(
        len(places), 2, questions
    )
    figure, axes = panels(
        1, 2, width=max(8.0, 3.6 + 0.5 * len(places)), height=max(2.6, 1.6 + 0.19 * len(order)), sharey=True
    )
    for side, axis in enumerate(axes):
        labels = [_short(found.ids[q]) for q in order]
        signed_matrix(axis, over[:, side, order].T, labels, names_of(study.models),
                      title=PANELS[side])  # fmt: skip
    footed(figure, "agreement less the question's majority share, percentage points")
    return figure
