"""The leaderboard: Composite and pillars, every metric, what the means rest on, repeated samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.study import Absent, Study
from attune_env.report.figures.dots import Dots
from attune_env.results.samples import sample_spread
from attune_env.statistics.score_table import Key
from attune_env.tables.cells import Cell, Column, points, share
from attune_env.tables.groups import GROUPS, INPUTS, LEADERBOARD, METRICS, PARTIAL, TURN
from attune_env.tables.labels import READER, mode_text, quoted, role_of, standing
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval
from attune_rewards.metrics.registry import better
from attune_rewards.metrics.tree import COMPOSITE

PILLARS: Final = tuple(f"{pillar.name.capitalize()} {pillar.weight:.0%}" for pillar in COMPOSITE.children)
ROLES: Final = (
    "counts as: total = the canonical Composite; input = part of it; beside = reported alongside; "
    "diagnostic = not a metric from the paper."
)
KEY_COLUMNS: Final = ("model", "kind", "mode")
"""The columns that name a row of a table of models."""
SHARES: Final = {"parsed": "parse_rate", "answered": "answered_share", "unscored": "unscored_share"}
"""Coverage measure -> its name in aggregates."""
PUBLISHED: Final[Mapping[str, Mapping[str, float]]] = {
    "published: best annotator, human pilot": {"avg_pairwise_accuracy": 0.722},
    "published: best model, human pilot": {
        "avg_pairwise_accuracy": 0.665,
        "avg_binary_human_accuracy": 0.853,
    },
}
"""The authors' figures for other conversations (AttuneBench v1.0, 3 annotators, 7 conversations)."""


def named(key: Key) -> tuple[str, str, str]:
    """The cells of `KEY_COLUMNS`."""
    return key[0], role_of(key[0]), mode_text(key[1])


def leaderboard_table(study: Study) -> Table:
    """Composite and pillars of every (model, mode): kind by kind, in each the study's mode before others."""
    leading, *pillars = LEADERBOARD[study.variant]
    strict = study.variant == "strict"
    other = "composite_score" if strict else "composite_strict"
    heads = ("Strict Composite", "Canonical Composite")[:: 1 if strict else -1]
    if study.no_composite:
        leading, heads = PARTIAL, ("Strict, stages asked", heads[1])
    keys = sorted(study.ranked, key=lambda key: (standing(key[0]), key[1] != study.mode))
    found = study.means((leading, other, *pillars), keys)
    table = study.sheet(
        "leaderboard",
        "",
        (*KEY_COLUMNS, Column(heads[0], leading, places=1), Column(heads[1], other, places=1),
         *map(points, PILLARS, pillars), "n", *map(share, SHARES)),
        (
            (*named(key), *found[key].values(), found[key][leading].n,
             *map(study.aggregates[key].get, SHARES.values()))
            for key in keys
        ),
        keys=len(KEY_COLUMNS),
        notes=notes(study),
        foldable=("kind", "mode", "n", *SHARES),
    )  # fmt: skip
    table.title = f"Leaderboard, {study.variant} scoring, points of 100"
    return table


def notes(study: Study) -> list[str]:
    """The notes that a reader needs to trust the numbers of a leaderboard."""
    data = study.scores["metadata"]["data"]
    where = study.scores["metadata"].get("where")
    partial = [f"{quoted(model)}, {n}" for (model, mode), n in study.partial.items() if mode == study.mode]
    whole = study.conversations_of()
    no_composite = (
        "No run asked every stage that is annotated, so there is no Composite: the strict score is that "
        "of the stages asked. Compare only models that were asked the same stages."
    )
    return [
        *([no_composite] if study.no_composite else []),
        *([f"only the conversations with {where}."] if where else []),
        *(
            [f"Not ranked, since scored on fewer of the {whole} conversations: {'; '.join(partial)}."]
            if partial
            else []
        ),
        f"mean [95% percentile bootstrap interval], {study.table.resamples:,} resamples by "
        f"{study.table.unit}; data {study.data_name} {data['fingerprint']}.",
        "Canonical Composite = the benchmark's scoring, which rewards silence; for comparison with published "
        "scores. Strict Composite = an unanswered question scores 0; the verdict and the profile use it. "
        "Models come first, then baselines, the reader and the oracle; in each mode, each group is ranked by "
        f"the {study.variant} score. The leaderboard's pillars are {study.variant} too.",
        f"baseline = does not read the conversation, or reads only its surface; reader = {READER}; oracle = "
        "is given the annotations. parsed = readable replies (after repeats, if unreadable ones were "
        "asked for again), answered = scored items with a valid answer, unscored = items without one.",
    ]


def metric_tables(study: Study) -> list[Table]:
    """One table per group of metrics: a row per model, a column per metric with its role."""
    found = study.means(list(METRICS), study.keys)
    usual = {key: max(one.n for one in values.values()) for key, values in found.items()}
    shown = {name for values in found.values() for name, one in values.items() if one.mean is not None}
    published = PUBLISHED if study.scores["metadata"]["data"]["provenance"] == "benchmark" else {}
    tables = []
    for title, group in GROUPS:
        metrics = [metric for metric in group if metric.column in shown]
        if not metrics:
            continue
        table = study.sheet(
            title.lower().replace(" ", "_").replace("-", "_"),
            title,
            (*KEY_COLUMNS,
             *(Column(f"{m.label}, {m.role}", m.column, m.places, m.scale) for m in metrics), "n"),
            ((*named(key), *(found[key][m.column] for m in metrics), usual[key]) for key in study.keys),
            keys=3,
            foldable=("kind", "mode", "n"),
        )  # fmt: skip
        for name, values in published.items():
            if any(metric.column in values for metric in metrics):
                table.dim.add(len(table.rows))
                table.rows.append((name, "", "", *(values.get(m.column) for m in metrics), 7))
        tables.append(table)
    if not tables:
        raise Absent(f"no reported metric is defined in mode {study.mode}")
    absent = [metric.label for name, metric in METRICS.items() if name not in {*shown, PARTIAL}]
    fewer = [
        f"{metric.label} n = {found[key][name].n} for {quoted(key[0])}"
        for name, metric in METRICS.items() if name in shown
        for key in study.keys if found[key][name].n != usual[key]
    ]  # fmt: skip
    more = f" and {len(fewer) - 6} more" if len(fewer) > 6 else ""
    tables[-1].notes = [
        *([f"Defined in fewer conversations than n: {'; '.join(fewer[:6])}{more}."] if fewer else []),
        *([f"Not in these results: {', '.join(absent)}."] if absent else []),
        ROLES,
        *notes(study),
    ]
    return tables


def coverage_table(study: Study) -> Table:
    """Every mean twice: over scored values, and with unscored values as 0."""
    shown = study.defined(METRICS.values(), study.keys)
    values = study.table.of_metrics([m.column for m in shown], study.keys)
    held = study.table.has_result(study.keys)
    filled = np.where(held[:, :, None] & np.isnan(values), 0.0, values)
    kernel, rows = study.table.kernel, []
    means, zeros = (iter(kernel.intervals(one.reshape(len(one), -1))) for one in (values, filled))
    for key, results in zip(study.keys, map(int, held.sum(axis=0)), strict=True):
        for metric in shown:
            mean, zero = scaled(next(means), metric.scale), scaled(next(zeros), metric.scale)
            filled_mean = zero if better(metric.column) == "higher" else None
            rows.append((
                *named(key), metric.label, metric.role, mean, filled_mean, mean.n,
                 results, 1 - mean.n / results if results else None,
                study.aggregates[key].get("parse_rate"),
            ))  # fmt: skip
    return study.sheet(
        "means_rest_on",
        "What the means rest on",
        (*KEY_COLUMNS, "metric", "counts as", Column("mean over scored", "mean"),
         Column("mean, unscored as 0", "mean_unscored_as_0"), "n", "results", share("unscored"),
         share("parsed")),
        rows,
        keys=5,
        notes=[
            "n = conversations where the metric is defined; results = conversations that the model was "
            "scored on; unscored = 1 - n/results. Errors, distances and gaps have no second mean, since 0 is "
            "not their lowest score."
        ],
        foldable=("kind", "mode", "parsed"),
    )  # fmt: skip


def scaled(interval: Interval, scale: float) -> Interval:
    """An interval in another unit."""
    ends = (interval.mean, interval.low, interval.high)
    mean, low, high = (None if end is None else end * scale for end in ends)
    return Interval(mean, low, high, interval.n, interval.units)


def samples_table(scores: Mapping[str, Any], mode: str = "") -> list[Table]:
    """The spread of a model's samples beside that of its conversations; nothing if no model has several."""
    variant = scores["metadata"]["settings"]["scoring"]
    rows: list[tuple[Cell, ...]] = [
        (one.em_model, mode_text(one.mode), one.samples, one.mean, one.sd_samples, one.se_conversations)
        for one in sample_spread(scores, LEADERBOARD[variant][0])
        if mode in ("", one.mode)
    ]
    columns = (
        "model", "mode", "samples", Column("mean", places=1), Column("sd over samples", places=2),
        Column("se over conversations", places=2),
    )  # fmt: skip
    note = (
        "sd over samples = standard deviation of the samples' means (the effect of sampling again); se over "
        "conversations = standard error (the effect of using other conversations). Samples are compared on "
        "the conversations that they all cover."
    )
    title = f"Samples, {variant} Composite, points of 100"
    return [Table(title, columns, rows, [note], keys=2, name="samples")] if rows else []


def _every(study: Study) -> list[Table]:
    return [*metric_tables(study), coverage_table(study), *samples_table(study.scores, study.mode)]


def _first(study: Study) -> list[Table]:
    if not study.defined([study.leading], study.keys):
        raise Absent(f"no conversation has a {study.leading.label} in mode {study.mode}")
    return [leaderboard_table(study)]


def printed_tables(study: Study, *, every: bool = False) -> list[Table]:
    """The tables of a terminal: the leaderboard; with `every` also samples and all metrics."""
    if not every:
        return [leaderboard_table(study)]
    metrics = [table.transposed("metric") for table in metric_tables(study)]
    return [leaderboard_table(study), *samples_table(study.scores), *metrics]


@dataclass(frozen=True)
class Pillars(Dots):
    """The leading Composite and its pillars."""

    def columns_of(self, table: Table) -> list[str]:
        """They depend on the scoring variant."""
        first, _, *pillars = [head.key for head in table.heads[len(KEY_COLUMNS) :]]
        return [first, *pillars[: len(PILLARS)]]


LEADERS = Analysis(
    "leaderboard",
    "Leaderboard",
    "Who scores highest, and on which pillar?",
    "Means over conversations, with 95% bootstrap intervals from the same resamples for all models. The "
    "oracle is shown in the table only. The headings give each pillar's share of the Composite. Emotion "
    "covers what the person felt at each turn; Evaluation covers what the reply did, what was wanted and "
    "which reply was preferred; Holistic covers affect, answers and ratings after the conversation.",
    _first,
    {
        "leaderboard": Pillars(
            "leaderboard", (), where=("mode", None), unit="points of 100, with 95% interval"
        )
    },
    chapter="The answer",
    place=3,
)
EVERY_METRIC = Analysis(
    "metrics",
    "Every metric",
    "How does each model do on each metric?",
    "Means over the conversations where a metric is defined. Each metric is marked as an input to the "
    "canonical Composite, as reported beside it, or as a diagnostic that is not in the paper. "
    "Published figures come from other conversations and are shown only beside results on the benchmark's "
    "data.",
    _every,
    {
        "turn-metrics": Dots("turn_by_turn_scores", [m.column for m in TURN if m.role != "diagnostic"],
                             across=3, unit="mean, each panel on its own scale"),
        "conversation-metrics": Dots("conversation_wide_scores", [m.column for m in INPUTS], across=3,
                                     unit="mean, each panel on its own scale"),
    },
    chapter="Models against each other",
    place=2,
)  # fmt: skip
ANALYSES: Final = (LEADERS, EVERY_METRIC)
