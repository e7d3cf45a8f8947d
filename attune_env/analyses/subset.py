"""A chosen subset of the conversations against all others: every reported metric, model by model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from attune_data.errors import SettingsError, one_line
from attune_data.selection.facts import Facts, facts_of
from attune_data.selection.where import Condition, Wanted, Where
from attune_env.analyses.analysis import Analysis
from attune_env.analyses.by_score.shared import between, defined, noun, resampled, titled
from attune_env.analyses.by_score.wording import (
    counted,
    excludes_zero,
    listed,
    names_of,
    of_all,
    sentence,
    with_interval,
)
from attune_env.analyses.study import Study
from attune_env.report.cells import Column, DataTable
from attune_env.report.groups import GROUPS, LEADERBOARD, METRICS, Metric
from attune_env.report.tables import references, role_of
from attune_env.statistics.contrasts import Contrast, contrasts
from attune_env.statistics.scores import Key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bools = npt.NDArray[np.bool_]
FIGURE: Final = ("avg_emotion_va_score", "avg_binary_om_accuracy", "avg_binary_human_accuracy",
                 "avg_pairwise_accuracy")  # fmt: skip
"""What the figure shows beside the leading Composite, where it is defined."""
_UNKNOWN: Final = Wanted("unknown")


def where_of(flags: Mapping[str, Sequence[str]], where: str | None) -> Where:
    """The conditions of command line flags (field -> values, any of which will do) and of a `--where` text.

    `any`, `none` and `unknown` are the words they are in `where`; everything else is taken as it stands.

    Raises SettingsError without any condition, or where the text cannot be read.
    """
    conditions = [
        Condition(field, "=", tuple(_wanted(value) for value in values))
        for field, values in flags.items()
        if values
    ]
    if where is not None:
        conditions += Where.parse(where).conditions
    if not conditions:
        raise SettingsError(
            'no condition: say which conversations, such as --diagnosis ADHD or --where "who_5<13"'
        )
    return Where(tuple(conditions))


def _wanted(value: str) -> Wanted:
    plain = value.strip()
    special = any(sign in plain for sign in ",|\"'=<>!") or not plain
    return Wanted(plain, quoted=special)


def sides(study: Study, where: Where) -> tuple[Bools, Bools]:
    """(inside, outside): which rows of the study's table meet all conditions, and which decidedly do not.

    A conversation that does not state a field is on neither side, unless another condition rules it out.
    """
    if study.conversations is None:
        raise SettingsError("a subset is chosen by profiles and topics: name the conversations with --data")
    inside, outside = [], []
    for identity in study.table.ids:
        facts = facts_of(study.conversations.by_id[identity])
        inside.append(all(condition.holds(facts) for condition in where.conditions))
        outside.append(any(_ruled_out(condition, facts) for condition in where.conditions))
    return np.array(inside, dtype=bool), np.array(outside, dtype=bool)


def _ruled_out(condition: Condition, facts: Facts) -> bool:
    stated = not Condition(condition.name, "=", (_UNKNOWN,)).holds(facts)
    return stated and not condition.holds(facts)


def subset_contrast(study: Study, where: Where) -> Analysis:
    """Every reported metric inside and outside of the subset, with intervals on the difference.

    Raises SettingsError where nothing is on one of the sides.
    """
    inside, outside = sides(study, where)
    for side, what in ((inside, f"with {where}"), (outside, f"that decidedly lack {where}")):
        if not side.any():
            raise SettingsError(one_line(f"there is no scored conversation {what}: nothing to compare"))
    metrics = {m.name: m for _, group in GROUPS for m in defined(study, group, study.keys)}
    found = _contrasts(study, list(metrics.values()), inside, outside)
    tables = []
    for title, group in GROUPS:
        shown = [metric for metric in group if metric.name in metrics]
        if shown:
            tables.append(_table(study, where, title, shown, found))
    unsure = int((~inside & ~outside).sum())
    few = any(not between(one).meaningful and one.difference.mean is not None for one in found.values())
    tables[-1].notes = [
        "difference = subset - others, in the metric's unit; p by permutation of who belongs to the subset, "
        "two-sided, uncorrected: with many rows some are small by chance.",
        *(
            [f"{counted(unsure, 'conversation')} on neither side: what was asked is not stated there."]
            if unsure
            else []
        ),
        *(
            [f"† fewer than five {study.table.unit}s on a side: the interval is not meaningful."]
            if few
            else []
        ),
    ]
    return Analysis(
        "subset",
        "The subset against the others",
        _reading(study, where, found, int(inside.sum()), int(outside.sum())),
        tuple(tables),
        (("subset", lambda: _figure(study, metrics, found, str(where))),),
        f"Mean over the conversations of the subset minus mean over the others; {resampled(study)}, both "
        "means made anew in each.",
    )


def _contrasts(
    study: Study, metrics: Sequence[Metric], inside: Bools, outside: Bools
) -> dict[tuple[Key, str], Contrast]:
    values = np.concatenate([m.scale * study.table.metric(m.name, study.keys) for m in metrics], axis=1)
    found = contrasts(study.table.kernel, values, inside, outside, seed=study.seed)
    places = [(key, metric.name) for metric in metrics for key in study.keys]
    return dict(zip(places, found, strict=True))


def _table(
    study: Study,
    where: Where,
    group: str,
    metrics: Sequence[Metric],
    found: Mapping[tuple[Key, str], Contrast],
) -> DataTable:
    places = max(metric.places for metric in metrics) if group != "Composite" else 2
    columns = [
        Column("metric", prose=True), Column("counts as", prose=True), Column("model"),
        Column("kind", prose=True), Column("subset", places=places), Column("n subset"),
        Column("others", places=places), Column("n others"), Column("difference", places=places),
        Column("p", places=4),
    ]  # fmt: skip
    title = titled(study, one_line(f"{group}: {where} against the others"))
    table = DataTable(f"subset_{Column(group).key}", title, columns, keys=4)
    for metric in metrics:
        for key in study.keys:
            one = found[key, metric.name]
            if role_of(key[0]) in ("null", "ceiling"):
                table.dim.add(len(table.rows))
            table.rows.append(
                (metric.label, metric.role, key[0], role_of(key[0]), one.inside, one.inside.n, one.outside,
                 one.outside.n, between(one), one.p)
            )  # fmt: skip
    return table


def _reading(
    study: Study, where: Where, found: Mapping[tuple[Key, str], Contrast], inside: int, outside: int
) -> str:
    name = METRICS[study.composite].label.partition(" (")[0]
    known = {
        key: between(found[key, study.composite]) for key in study.models if (key, study.composite) in found
    }
    sizes = f"{counted(inside, 'conversation')} against {outside}"
    told = {key: one for key, one in known.items() if one.mean is not None}
    if not told:
        return sentence(f"with {where}: {sizes}; no {name} on both sides")
    if len(told) == 1:
        ((key, one),) = told.items()
        change = f"differs by {with_interval(one, signed=True)} points"
        beyond = "" if excludes_zero(one) else ", not beyond the interval"
        return sentence(f"with {where} ({sizes}): the {name} of {names_of([key])[0]} {change}{beyond}")
    lower = [key for key, one in told.items() if (one.mean or 0.0) < 0]
    clear = [key for key, one in told.items() if excludes_zero(one)]
    which = (
        f"; beyond the interval {'differs' if len(clear) == 1 else 'differ'} {listed(names_of(clear))}"
        if clear
        else "; no difference is beyond its interval"
    )
    return sentence(
        f"with {where} ({sizes}): {of_all(len(lower), len(told), noun(study))} "
        f"{'scores' if len(lower) == 1 else 'score'} lower on the {name} there{which} (95 % intervals, "
        "uncorrected)"
    )


def _figure(
    study: Study, metrics: Mapping[str, Metric], found: Mapping[tuple[Key, str], Contrast], where: str
) -> Figure:
    from attune_env.figures.marks import interval_dots, reference_line
    from attune_env.figures.style import name_text, panels, style

    shown = [metrics[name] for name in (LEADERBOARD[study.reading][0], *FIGURE) if name in metrics]
    names = names_of(study.keys)
    figure, axes = panels(
        1, len(shown), width=2.0 + 1.75 * len(shown), height=1.3 + 0.24 * len(names), sharey=True
    )
    for axis, metric in zip(axes, shown, strict=True):
        gaps = [between(found[key, metric.name]) for key in study.keys]
        reference_line(axis, 0.0, "")
        interval_dots(axis, names, gaps, dim=references(study.keys))
        with style():
            axis.set_title(metric.label.partition(" (")[0], fontsize=9)
            axis.set_xlabel("points of 100" if metric.name == study.composite else "share, 0 to 1")
    with style():
        figure.supxlabel(f"{name_text(where)} minus the others, 95 % interval", fontsize=9)
    return figure
