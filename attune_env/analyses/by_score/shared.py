"""What analyses of scores share: which metrics, references to compare with, pooled values, common columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Final

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.by_score.wording import counted, names_of, plural_of
from attune_env.analyses.study import Study
from attune_env.report.cells import Cell, Column
from attune_env.report.groups import METRICS, TURN, WIDE, Metric
from attune_env.report.tables import intervals_of, mode_text, role_of
from attune_env.statistics.bootstrap import MEANINGFUL, Array, Interval
from attune_env.statistics.comparisons import holm
from attune_env.statistics.contrasts import Contrast
from attune_env.statistics.scores import Key
from attune_rewards.metrics import better

MEASURED: Final = tuple(metric for metric in (*TURN, *WIDE) if metric.role == "input")
"""What the canonical Composite is made of."""
COVERAGE: Final = (
    Column("parsed", share=True),
    Column("answered", share=True),
    Column("unscored", share=True),
)
"""How much of what was asked the numbers of a row rest on."""
LOWER_IS_BETTER: Final = frozenset(name for name in METRICS if better(name) == "lower")


Reference = tuple[str, float, bool]
"""A line behind the models: name, value, and whether an axis must hold it."""
Analyse = Callable[[Study], Analysis | Absent]


def few_noted(analyse: Analyse) -> Analyse:
    """The analysis with its `†` explained, and with a word in its reading where no interval says much."""

    @wraps(analyse)
    def noted(study: Study) -> Analysis | Absent:
        found = analyse(study)
        if isinstance(found, Absent):
            return found
        for table in found.tables:
            cells = [cell for row in table.rows for cell in row if isinstance(cell, Interval)]
            note = f"† fewer than five {study.table.unit}s: the interval is not meaningful."
            if (
                any(not cell.meaningful and cell.mean is not None for cell in cells)
                and note not in table.notes
            ):
                table.notes.append(note)
        units = study.table.kernel.units
        if units >= MEANINGFUL:
            return found
        warning = f"with {counted(units, study.table.unit)} no interval says much"
        return replace(found, reading=f"{found.reading.rstrip('.')}; {warning}.")

    return noted


def titled(study: Study, text: str) -> str:
    """A table's title with the mode, marked where it is not the primary one."""
    return f"{text}; mode {mode_text(study.mode)}"


def noun(study: Study) -> str:
    """What the study compares: `model`, or `policy` where nothing but built-in policies was scored."""
    return "policy" if all(key[0].startswith("builtin/") for key in study.models) else "model"


def subject(study: Study, plural: str, singular: str) -> str:
    """`models agree`, `policies agree`, or `the model agrees` where there is one."""
    if len(study.models) == 1:
        return f"the {noun(study)} {singular}"
    return f"{plural_of(noun(study))} {plural}"


def over_all(study: Study) -> str:
    """` over models`, ` over policies`; nothing where there is one."""
    return f" over {plural_of(noun(study))}" if len(study.models) > 1 else ""


def leading(study: Study) -> Metric:
    """The Composite of the study's reading."""
    return METRICS[study.composite]


def defined(study: Study, metrics: Sequence[Metric], keys: Sequence[Key] | None = None) -> list[Metric]:
    """Those of `metrics` that some of the models has a value of."""
    chosen = study.models if keys is None else keys
    return [m for m in metrics if not np.isnan(study.table.metric(m.name, chosen)).all()]


def coverage(study: Study, key: Key) -> tuple[Cell, ...]:
    """The cells of `COVERAGE` for one model."""
    for group in study.scores["aggregates"]:
        if (group["em_model"], group["mode"]) == key:
            return tuple(group.get(name) for name in ("parse_rate", "answered_share", "unscored_share"))
    return (None, None, None)


class Means:
    """Means with intervals of some metrics for every model and policy of a study, all computed at once."""

    def __init__(self, study: Study, metrics: Sequence[str]) -> None:
        self.study = study
        self.found = intervals_of(study.table, list(dict.fromkeys(metrics)), study.keys)

    def of(self, metric: str) -> list[Interval]:
        """One interval a model, in the order of `study.models`."""
        return [self.found[key][metric] for key in self.study.models]

    def references(self, metric: str) -> list[Reference]:
        """The baseline and the ceiling: lines behind the models, the baseline always on the axis.

        Empty where none was run; a policy that has a row of its own is no line.
        """
        found = ((self.reference(metric, "null"), True), (self.reference(metric, "ceiling"), False))
        return [
            (names_of([key])[0], mean, held)
            for key, held in found
            if key is not None and (mean := self.found[key][metric].mean) is not None
        ]

    def reference(self, metric: str, role: str) -> Key | None:
        """The best policy of a role among those that are not compared as models."""
        sign = -1 if metric in LOWER_IS_BETTER else 1
        known = [
            (sign * mean, key)
            for key in self.study.keys
            if key not in self.study.models
            and role_of(key[0]) == role
            and (mean := self.found[key][metric].mean) is not None
        ]
        return max(known)[1] if known else None


def between(contrast: Contrast) -> Interval:
    """The difference of two groups, meaningful only where both hold enough units."""
    units = min(contrast.inside.units, contrast.outside.units)
    return replace(contrast.difference, units=units)


def corrected(found: Sequence[Contrast]) -> list[float | None]:
    """The p of each contrast with Holm's correction over all of them."""
    p = np.array([np.nan if one.p is None else one.p for one in found], dtype=np.float64)
    return [None if np.isnan(value) else float(value) for value in holm(p)]


def over_models(values: Array) -> Array:
    """The mean over models of each conversation: shape (rows, models, …) to (rows, …); NaN where none is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
    return mean


def pooled(study: Study, values: Array) -> list[Interval]:
    """Means over models, then conversations, with intervals: a column each of (rows, models, columns)."""
    return study.table.kernel.intervals(over_models(values))


def resampled(study: Study) -> str:
    """How intervals were made, for a method."""
    return (
        f"intervals are 95 % percentile bootstrap intervals over {study.table.unit}s "
        f"({study.table.resamples:,} resamples)"
    )


def label_of(metric: Metric) -> str:
    """A metric's name without its range, for panels and sentences."""
    return metric.label.partition(" (")[0].partition(",")[0]
