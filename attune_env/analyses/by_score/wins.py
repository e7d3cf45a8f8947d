"""Preferences head to head: which model follows the person's ranking of the responses more often."""

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
from attune_env.analyses.by_score.wording import (
    counted,
    excludes_zero,
    how_many,
    listed,
    names_of,
    of_all,
    plural_of,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Cell, Column, DataTable
from attune_env.report.tables import references
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.wins import METRIC, win_rates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rates = Sequence[Sequence[Interval | None]]


@few_noted
def preference_wins(study: Study) -> Analysis | Absent:
    """Kendall τ to the person's ranking: means, negative ones, and win rates between models."""
    title = "Preference win rates"
    values = study.table.metric(METRIC, study.models)
    if np.isnan(values).all():
        return Absent("preference-wins", title, "no conversation has a Kendall tau: nothing was picked")
    means = Means(study, [METRIC])
    rates = win_rates(study.table.kernel, values)
    names = names_of(study.models)
    taus = means.of(METRIC)
    tables = [_table(study, taus, rates)]
    figures = [("preference-wins", partial(_figure, means, rates, names))]
    if len(study.models) > 1:
        tables.append(_matrix_table(study, rates))
    return Analysis(
        "preference-wins",
        title,
        _reading(taus, rates, names, noun(study)),
        tuple(tables),
        tuple(figures),
        "τ ranks the three responses by comparisons won, for person and model, and is averaged over turns. A "
        "beats B on a conversation where its τ is higher, a tie counts ½; only conversations where both are "
        f"defined; {resampled(study)}. 0 is a ranking that has nothing to do with the person's. Of models "
        "that follow it equally well, chance puts about one pair in twenty beyond the interval.",
    )


def _reading(taus: Sequence[Interval], rates: Rates, names: Sequence[str], what: str) -> str:
    known = [(name, tau) for name, tau in zip(names, taus, strict=True) if tau.mean is not None]
    negative = [name for name, tau in known if (tau.mean or 0.0) < 0]
    sure = sum(excludes_zero(tau) and (tau.mean or 0.0) < 0 for _, tau in known)
    if len(known) == 1:
        text = f"mean Kendall τ of {known[0][0]} is {with_interval(known[0][1], 3)}"
    elif negative:
        text = (
            f"mean Kendall τ is negative for {of_all(len(negative), len(known), what)} "
            f"({listed(negative)}), beyond the interval for {how_many(sure)}"
        )
    else:
        text = f"mean Kendall τ is negative for none of {len(known)} {plural_of(what)}"
    beats = [sum(_above_half(rate) for rate in row) for row in rates]
    if len(known) > 1 and max(beats):
        best = [name for name, number in zip(names, beats, strict=True) if number == max(beats)]
        wins = "wins" if len(best) == 1 else "win"
        text += (
            f"; {listed(best)} {wins} more than half of the conversations, beyond the interval, against "
            f"{max(beats)} of {counted(len(known) - 1, f'other {what}')}, the most"
        )
    elif len(known) > 1:
        text += f"; no {what} wins more than half of the conversations against another beyond the interval"
    return sentence(text)


def _above_half(rate: Interval | None) -> bool:
    return rate is not None and rate.low is not None and rate.meaningful and rate.low > 0.5


def _table(study: Study, taus: Sequence[Interval], rates: Rates) -> DataTable:
    table = DataTable(
        "preference_tau",
        titled(study, "Kendall tau to the person's ranking, and win rates against the other models"),
        (
            Column("model"),
            Column("Kendall tau", "tau"),
            Column("mean win rate", share=True),
            Column("beats beyond the interval", "beats"),
            Column("beaten beyond the interval", "beaten"),
            Column("n"),
            *COVERAGE,
        ),
        dim=references(study.models),
    )
    for number, key in enumerate(study.models):
        row = [rate for rate in rates[number] if rate is not None]
        known = [rate.mean for rate in row if rate.mean is not None]
        mean = float(np.mean(known)) if known else None
        beats = sum(map(_above_half, row))
        beaten = sum(_above_half(other[number]) for other in rates)
        table.rows.append((key[0], taus[number], mean, beats, beaten, taus[number].n, *coverage(study, key)))
    return table


def _matrix_table(study: Study, rates: Rates) -> DataTable:
    table = DataTable(
        "preference_wins",
        titled(study, "Share of conversations where the model's tau is higher than the other's"),
        (Column("model"), Column("against"), Column("win rate", "win_rate"), Column("n")),
        keys=2,
    )
    for first, row in zip(study.models, rates, strict=True):
        for second, rate in zip(study.models, row, strict=True):
            if rate is not None:
                cells: tuple[Cell, ...] = (first[0], second[0], rate, rate.n)
                table.rows.append(cells)
    return table


def _figure(means: Means, rates: Rates, names: Sequence[str]) -> Figure:
    from attune_env.figures.marks import interval_dots, matrix
    from attune_env.figures.score_marks import frame, row_height, zero_line
    from attune_env.figures.score_marks import titled as headed
    from attune_env.figures.style import DIVERGING, panels, style

    many = len(names) > 1
    options = {"width_ratios": (1.1, 2)} if many else {}
    height = row_height(len(names)) + (0.9 if many else 0.0)
    figure, axes = panels(
        1,
        2 if many else 1,
        width=max(8.0, 4.4 + 0.28 * len(names)) if many else 4.5,
        height=height,
        sharey=True,
        **options,
    )
    taus, lines = means.of(METRIC), means.references(METRIC)
    if many:
        size = len(names)
        values, unsure = np.full((size, size), np.nan), np.zeros((size, size), dtype=bool)
        for a, row in enumerate(rates):
            for b, rate in enumerate(row):
                if rate is not None and rate.mean is not None:
                    values[a, b] = 100 * rate.mean
                    unsure[a, b] = not (_above_half(rate) or _above_half(rates[b][a]))
        matrix(axes[1], values, names, names, low=0, high=100, colours=DIVERGING, places=0, faint=unsure)
        headed(axes[1], "Row wins against column, %", names_above=bool(lines))
        with style():
            axes[1].set_xlabel("pale number: the 95 % interval holds 50")
    interval_dots(axes[0], names, taus, dim=references(means.study.models))
    frame(axes[0], taus, lines)
    zero_line(axes[0])
    headed(axes[0], "Mean Kendall τ", names_above=bool(lines))
    with style():
        axes[0].set_xlabel("τ (−1 to 1), with 95 % interval")
    return figure
