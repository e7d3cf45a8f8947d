"""A chosen subset of the conversations compared with all others: every reported metric, model by model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

import numpy as np

from attune_data.errors import SettingsError, one_line
from attune_data.selection.facts import Facts, facts_of
from attune_data.selection.where import Condition, Wanted, Where
from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.participants import between
from attune_env.report.analyses.study import Study
from attune_env.report.figures.dots import Dots
from attune_env.statistics.contrasts import Bools, contrasts
from attune_env.tables.cells import Column
from attune_env.tables.groups import GROUPS
from attune_env.tables.labels import counted, role_of
from attune_env.tables.table import Table
from attune_rewards.metrics.metric import Metric

_UNKNOWN: Final = Wanted("unknown")


def where_of(flags: Mapping[str, Sequence[str]], where: str | None) -> Where:
    """The conditions of command line flags (field -> values, any of which will do) and of a `--where` text.

    `any`, `none` and `unknown` mean what they mean in `where`; everything else is taken literally.

    Raises SettingsError without any condition, or if the text cannot be read.
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
            'no condition: choose conversations, for example with --diagnosis ADHD or --where "who_5<13"'
        )
    return Where(tuple(conditions))


def _wanted(value: str) -> Wanted:
    plain = value.strip()
    special = any(sign in plain for sign in ",|\"'=<>!") or not plain
    return Wanted(plain, quoted=special)


def sides(study: Study, where: Where) -> tuple[Bools, Bools]:
    """(inside, outside): which rows of the study's table meet all conditions, and which fail one.

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

    Raises SettingsError if one of the sides is empty.
    """
    inside, outside = sides(study, where)
    for side, what in ((inside, f"with {where}"), (outside, f"known to lack {where}")):
        if not side.any():
            raise SettingsError(
                one_line(f"there is no scored conversation {what}, so there is nothing to compare")
            )
    tables = [
        table for title, group in GROUPS if (table := _table(study, where, title, group, inside, outside))
    ]
    unsure = counted(int((~inside & ~outside).sum()), "conversation")
    tables[-1].notes = [
        "difference = subset - others, in the metric's unit; p is from a two-sided permutation test of "
        "membership in the subset, uncorrected, so with many rows some values are small by chance."
    ]
    if not (inside | outside).all():
        tables[-1].notes.append(f"{unsure} on neither side, because the field is not stated there.")
    sizes = f"{counted(int(inside.sum()), 'conversation')} against {int(outside.sum())}"
    return Analysis(
        "subset",
        "The subset against the others",
        one_line(f"Does any metric differ with {where} ({sizes})?"),
        "Mean over the conversations in the subset minus the mean over the others; each resample redraws "
        "both groups.",
        lambda _: tables,
        {tables[-1].name: Dots(tables[-1].name, ["difference"], split="metric", label="model", line=0.0,
                               unit="subset minus the others, 95% interval")},
        signal="difference",
    )  # fmt: skip


def _table(
    study: Study, where: Where, title: str, group: Sequence[Metric], inside: Bools, outside: Bools
) -> Table | None:
    metrics = study.defined(group, study.keys)
    if not metrics:
        return None
    values = np.concatenate([m.scale * study.table.metric(m.column, study.keys) for m in metrics], axis=1)
    found = contrasts(study.table.kernel, values, inside, outside, seed=study.seed)
    places = 2 if title == "Composite" else max(metric.places for metric in metrics)
    return study.sheet(
        f"subset_{Column(title).key}",
        one_line(f"{title}: {where} against the others"),
        (
            "model",
            "kind",
            "metric",
            "counts as",
            Column("subset", places=places),
            "n subset",
            Column("others", places=places),
            "n others",
            Column("difference", places=places),
            Column("p", places=4),
        ),
        (
            (key[0], role_of(key[0]), metric.label, metric.role, one.inside, one.inside.n, one.outside,
             one.outside.n, between(one), one.p)
            for (metric, key), one in zip(product(metrics, study.keys), found, strict=True)
        ),
        keys=4,
    )  # fmt: skip
