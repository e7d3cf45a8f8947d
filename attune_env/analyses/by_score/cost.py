"""What a score costs: calls, tokens and dollars per conversation against the Composite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.shared import (
    COVERAGE,
    coverage,
    few_noted,
    label_of,
    leading,
    noun,
    resampled,
    titled,
)
from attune_env.analyses.by_score.wording import counted, listed, names_of, sentence
from attune_env.analyses.items import taken_by
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.statistics.bootstrap import Array, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME, TITLE = "cost", "Cost against score"
FACTS: Final = {
    "cost": ("cost", "US dollars a conversation"),
    "calls": ("calls", "calls a conversation"),
    "tokens_in": ("tokens in", "tokens a conversation"),
    "tokens_out": ("tokens out", "tokens a conversation"),
    "seconds": ("seconds", "seconds a conversation"),
}
"""What result files say, as `SPENT` has it -> its head in the table, its axis in the figure."""
FAR: Final = 20.0
"""From this ratio of largest to smallest on, an axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Of each fact one interval a model: the mean over conversations."""

    score: list[Interval]
    facts: Mapping[str, list[Interval]]


@few_noted
def cost_against_score(study: Study) -> Analysis | Absent:
    """Dollars, calls and tokens of each model, from its result files, against its Composite."""
    if study.results is None:
        return Absent(NAME, TITLE, "costs stand in the result files; give them with --results")
    values, read = _facts(study)
    known = [i for i in range(len(FACTS)) if np.nansum(values[:, :, i]) > 0]
    if not known:
        found = (
            f"{counted(read, 'result file')} of these models found" if read else "no result file was found"
        )
        return Absent(NAME, TITLE, f"no calls and no costs are recorded; {found}")
    models = len(study.models)
    scores = study.table.metric(study.composite, study.models)
    columns = [scores, *(values[:, :, i] for i in known)]
    found_all = study.table.kernel.intervals(np.concatenate(columns, axis=1))
    parts = [found_all[i * models : (i + 1) * models] for i in range(len(known) + 1)]
    facts = list(FACTS)
    spent = Spent(parts[0], {facts[i]: part for i, part in zip(known, parts[1:], strict=True)})
    names = names_of(study.models)
    return Analysis(
        NAME,
        TITLE,
        _reading(study, spent, names),
        (_table(study, spent, values),),
        (("cost", partial(_figure, study, spent, names)),),
        f"Means over conversations of what {counted(read, 'result file')} say: recorded cost, calls (judges "
        f"aside) and tokens as the server counted them; {resampled(study)}. A model without a recorded cost "
        "may be local, or its prices were not known to the run.",
    )


def _facts(study: Study) -> tuple[Array, int]:
    """(rows, models, FACTS) from the result files, and how many were read; 0 dollars count as not known."""
    taken, columns = taken_by(study), [study.keys.index(key) for key in study.models]
    return taken.facts[:, columns], int(taken.read[:, columns].sum())


def _reading(study: Study, spent: Spent, names: Sequence[str]) -> str:
    fact = next(iter(spent.facts))
    known = [
        (name, one.mean, score.mean)
        for name, one, score in zip(names, spent.facts[fact], spent.score, strict=True)
        if one.mean is not None and score.mean is not None
    ]
    if not known:
        return sentence(f"{FACTS[fact][1]} are recorded, but not for a model with a Composite")
    head = label_of(leading(study))
    cheap, dear = min(known, key=lambda one: one[1]), max(known, key=lambda one: one[1])
    low, high = (f"{_spend_text(spend)} ({name}, {head} {score:.1f})" for name, spend, score in (cheap, dear))
    text = f"{FACTS[fact][1]}: {low}"
    if dear[1] > cheap[1]:
        text += f" to {high}"
    if len(known) > 1:
        front = [name for name, spend, score in known
                 if not any(s <= spend and v > score for _, s, v in known)]  # fmt: skip
        text += f"; no other scores higher at the same or a lower cost than {listed(front)}"
        missing = len(names) - len(known)
        text += f" ({counted(missing, noun(study))} without a record)" if missing else ""
    return sentence(text)


def _spend_text(value: float) -> str:
    """Three digits, none after the point from 100 on: `0.230`, `23.0`, `2,770`."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def _table(study: Study, spent: Spent, values: Array) -> DataTable:
    metric = leading(study)
    facts = list(FACTS)
    table = DataTable(
        "cost",
        titled(study, "Cost and calls, means per conversation"),
        (
            Column("model"),
            Column(label_of(metric), metric.name, places=1),
            *(Column(FACTS[fact][0], fact, places=4 if fact == "cost" else 1) for fact in spent.facts),
            *((Column("cost in all", places=2),) if "cost" in spent.facts else ()),
            Column("n"),
            *COVERAGE,
        ),
        notes=["cost in US dollars; n = conversations whose result file says what it took."],
    )
    for number, key in enumerate(study.models):
        of_model = [part[number] for part in spent.facts.values()]
        dollars = values[:, number, facts.index("cost")]
        whole = (float(np.nansum(dollars)) if (~np.isnan(dollars)).any() else None,)
        total = whole if "cost" in spent.facts else ()
        n = max(one.n for one in of_model)
        table.rows.append((key[0], spent.score[number], *of_model, *total, n, *coverage(study, key)))
    return table


def _figure(study: Study, spent: Spent, names: Sequence[str]) -> Figure:
    from attune_env.figures.marks import interval_dots
    from attune_env.figures.score_marks import frame, row_height
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import panels, style

    shown = [fact for fact in ("cost", "tokens_out", "calls") if fact in spent.facts] or list(spent.facts)
    figure, axes = panels(1, 1 + len(shown), width=8.0, height=row_height(len(names)), sharey=True)
    interval_dots(axes[0], names, spent.score)
    frame(axes[0], spent.score)
    headed(axes[0], label_of(leading(study)))
    for axis, fact in zip(axes[1:], shown, strict=True):
        values = spent.facts[fact]
        known = [one.mean for one in values if one.mean]
        with style():
            if known and max(known) / min(known) > FAR:
                axis.set_xscale("log")
        interval_dots(axis, names, values)
        headed(axis, FACTS[fact][0].capitalize())
        with style():
            if axis.get_xscale() == "linear":
                axis.set_xlim(left=0)
            axis.set_xlabel(FACTS[fact][1])
    with style():
        axes[0].set_xlabel("points of 100")
    return figure
