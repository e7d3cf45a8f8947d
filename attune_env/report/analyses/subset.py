"""A chosen subset of the conversations compared with all others: in a sentence, and by every metric."""

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
from attune_env.report.analyses.summary import apart
from attune_env.report.analyses.verdict import by_score, deciding, judged
from attune_env.report.figures.dots import Dots
from attune_env.statistics.comparisons import ALPHA, holm
from attune_env.statistics.contrasts import Bools, Contrast, contrasts
from attune_env.tables.cells import Column
from attune_env.tables.groups import GROUPS
from attune_env.tables.labels import counted, quoted, role_of, short_names
from attune_env.tables.table import Table
from attune_rewards.metrics.metric import Metric

_UNKNOWN: Final = Wanted("unknown")
ANSWERED: Final = 5
"""Most models with a sentence of their own; the others are in the tables."""


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
            'no condition: choose conversations, for example with --where "diagnosis=ADHD,who_5<13"'
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


def subset_answer(study: Study, where: Where) -> list[str]:
    """A sentence for each model: its score in the subset, and how far it is from its score on the others.

    A difference is clear if its interval excludes 0 and its p, Holm-corrected over the models, is below 0.05.
    If only policies were scored, the sentences are about those that the verdict compares.
    """
    inside, outside = sides(study, where)
    metric, keys = deciding(study), by_score(study, judged(study))
    values = study.table.metric(metric.column, keys)
    found = contrasts(study.table.kernel, metric.scale * values, inside, outside, seed=study.seed)
    corrected = holm(np.array([np.nan if one.p is None else one.p for one in found]))
    names, before, sentences = short_names([model for model, _ in keys]), "", []
    for place, one in enumerate(found[:ANSWERED]):
        if one.inside.mean is None:
            continue
        scored = int((~np.isnan(values[:, place])).sum())
        those = f"On the {one.inside.n} of {counted(scored, 'conversation')} with {where}, "
        score = f"{quoted(names[place])} scores {one.inside.mean:.1f} of 100"
        same, before = those == before, those
        compared = _beside_others(study, one, scored, float(corrected[place]))
        sentences.append(one_line(f"{'' if same else those}{score}{compared}."))
    if len(found) > ANSWERED:
        sentences.append(f"The tables have {counted(len(found) - ANSWERED, 'more model', 'more models')}.")
    return sentences


def _beside_others(study: Study, found: Contrast, scored: int, p: float) -> str:
    """`, 3.4 points (-0.2 to 7.1) below the 158 others: no clear difference`; empty without others."""
    difference = between(found)
    if difference.mean is None:
        return ""
    points, way = apart(difference)
    rest = "others" if found.inside.n + found.outside.n == scored else "that are known not to match"
    far = f", {points} {way or 'from'} the {found.outside.n} {rest}"
    if not difference.meaningful:
        return f"{far}: too few {study.table.unit}s to tell"
    clear = difference.leaves_out_zero and p < ALPHA
    return f"{far}: {'a clear' if clear else 'no clear'} difference"


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
