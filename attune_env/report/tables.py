"""The tables of a scores file: leaderboard and the README's three groups, every mean with its interval.

Each is made once, as a `DataTable`, for pages and CSV files; `leaderboard`, `group_tables` and
`samples_table` are the same for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from attune_env.report.cells import Cell, Column, DataTable
from attune_env.report.groups import GROUPS, LEADERBOARD, METRICS, Metric
from attune_env.report.table import Table, interval_text
from attune_env.running.samples import sample_spread
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.scores import Key, Resample
from attune_episodes.policies import KINDS
from attune_rewards.tree import COMPOSITE

PILLARS = tuple(f"{pillar.name.capitalize()} {pillar.weight:.0%}" for pillar in COMPOSITE.children)
ROLES = (
    "counts as: total = the canonical Composite; input = enters it; beside = reported alongside; "
    "diagnostic = no paper metric."
)

Found = Mapping[Key, Mapping[str, Interval]]
"""(model, mode) -> metric -> mean with its interval."""


def role_of(em_model: str) -> str:
    """What kind of row a model is: `null`, `reader` or `ceiling` for built-in policies, else `model`."""
    provider, _, name = em_model.partition("/")
    if provider != "builtin" or name not in KINDS:
        return "model"
    return "null" if KINDS[name] in ("content-free", "shallow") else KINDS[name]


def mode_text(mode: str) -> str:
    """The mode, marked where it is not the benchmark's primary one."""
    return mode if mode == "default" else f"{mode} (not primary)"


def ranked(scores: Mapping[str, Any]) -> list[Key]:
    """(model, mode) by the mean of the leading Composite, best first; ties by name."""
    leading = LEADERBOARD[scores["metadata"]["settings"]["scoring"]][0]
    means = {(e["em_model"], e["mode"]): e.get(leading) for e in scores["aggregates"]}
    return sorted(means, key=lambda key: (-means[key] if means[key] is not None else float("inf"), key))


def intervals_of(table: ScoreTable, metrics: Sequence[str], keys: Sequence[Key]) -> Found:
    """The interval of each metric for each key, all from the same resamples."""
    columns = np.concatenate([table.metric(name, keys) for name in metrics], axis=1)
    found = iter(table.kernel.intervals(columns))
    by_metric = {name: [next(found) for _ in keys] for name in metrics}
    return {key: {name: by_metric[name][i] for name in metrics} for i, key in enumerate(keys)}


def references(keys: Iterable[Key]) -> set[int]:
    """Which rows are null policies or the ceiling."""
    return {number for number, key in enumerate(keys) if role_of(key[0]) in ("null", "ceiling")}


def leaderboard_data(scores: Mapping[str, Any], table: ScoreTable, keys: Sequence[Key]) -> DataTable:
    """Composite and its three pillars per (model, mode), in the order of `keys`, nulls marked."""
    reading = scores["metadata"]["settings"]["scoring"]
    leading, *pillars = LEADERBOARD[reading]
    other = "composite_score" if reading == "strict" else "composite_strict"
    heads = ("Strict", "Canonical") if reading == "strict" else ("Composite", "Strict")
    found = intervals_of(table, (leading, other, *pillars), keys)
    groups = {(e["em_model"], e["mode"]): e for e in scores["aggregates"]}
    shares = {"parsed": "parse_rate", "answered": "answered_share", "unscored": "unscored_share"}
    columns = (
        *KEY_COLUMNS,
        *(Column(head, name, places=1) for head, name in zip(heads, (leading, other), strict=True)),
        *(Column(head, name, places=1, scale=100) for head, name in zip(PILLARS, pillars, strict=True)),
        Column("n"),
        *(Column(head, share=True) for head in shares),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *_named(key),
            *found[key].values(),
            found[key][leading].n,
            *(groups[key].get(share) for share in shares.values()),
        )
        for key in keys
    ]
    return DataTable(
        "leaderboard",
        f"Leaderboard, {reading} reading, points of 100",
        columns,
        rows,
        notes(scores, found, table),
        references(keys),
        len(KEY_COLUMNS),
        ("kind", "mode", "n", *shares),
    )


def group_data(scores: Mapping[str, Any], table: ScoreTable, keys: Sequence[Key]) -> list[DataTable]:
    """One table per group of the README: a row per (model, mode), a column per metric with its role.

    Metrics that are undefined for every model are named in a note of the last table instead of shown.
    """
    found = intervals_of(table, list(METRICS), keys)
    shown = _shown(found)
    tables = []
    for title, group in GROUPS:
        metrics = [metric for metric in group if metric.name in shown]
        columns = (
            *KEY_COLUMNS,
            *(Column(f"{m.label} ({m.role})", m.name, m.places, m.scale) for m in metrics),
            Column("n"),
        )
        rows: list[tuple[Cell, ...]] = [
            (*_named(key), *(found[key][m.name] for m in metrics), _usual(found[key].values()))
            for key in keys
        ]
        name = title.lower().replace(" ", "_").replace("-", "_")
        tables.append(
            DataTable(
                name, title, columns, rows, [], references(keys), len(KEY_COLUMNS), ("kind", "mode", "n")
            )
        )
    fewer = sorted(
        {
            f"{metric.label} n = {found[key][metric.name].n} for {key[0]}"
            for metric in METRICS.values() if metric.name in shown
            for key in keys if found[key][metric.name].n != _usual(found[key].values())
        }
    )  # fmt: skip
    tables[-1].notes = [
        *([f"Defined in fewer conversations than n says: {_few(fewer)}."] if fewer else []),
        *([f"Not in these results: {', '.join(absent)}."] if (absent := _absent(found)) else []),
        ROLES,
        *notes(scores, found, table),
    ]
    return tables


def samples_data(scores: Mapping[str, Any]) -> DataTable | None:
    """How far a model's samples lie apart, beside its conversations; None where no model has several."""
    reading = scores["metadata"]["settings"]["scoring"]
    spreads = sample_spread(scores, LEADERBOARD[reading][0])
    if not spreads:
        return None
    columns = (
        Column("model"),
        Column("mode"),
        Column("samples"),
        Column("mean", places=1),
        Column("sd over samples", places=2),
        Column("se over conversations", places=2),
    )
    rows: list[tuple[Cell, ...]] = [
        (one.em_model, mode_text(one.mode), one.samples, one.mean, one.sd_samples, one.se_conversations)
        for one in spreads
    ]
    note = (
        "sd over samples = of the samples' means: what asking again changes; se over conversations = what "
        "other conversations would change. Samples are compared on the conversations that all of them have."
    )
    title = f"Samples, {reading} Composite, points of 100"
    return DataTable("samples", title, columns, rows, [note], keys=2)


def leaderboard(scores: Mapping[str, Any], *, resample: Resample = "auto", seed: int = 0) -> Table:
    """`leaderboard_data` of everything that was scored, best first, for a terminal."""
    table = ScoreTable.of(scores["conversations"], resample=resample, seed=seed)
    return leaderboard_data(scores, table, ranked(scores)).shown()


def group_tables(scores: Mapping[str, Any], *, resample: Resample = "auto", seed: int = 0) -> list[Table]:
    """`GROUPS` for a terminal: a row per metric, a column per (model, mode), best first."""
    table = ScoreTable.of(scores["conversations"], resample=resample, seed=seed)
    keys = ranked(scores)
    found = intervals_of(table, list(METRICS), keys)
    shown = _shown(found)
    usual = max(_usual(values.values()) for values in found.values())
    heads = [f"{model} {mode_text(mode)}" for model, mode in keys]
    tables = [
        Table(
            title,
            ("metric", "counts as", *heads),
            [
                (metric.label, metric.role, *(_cell(found[key][metric.name], metric, usual) for key in keys))
                for metric in group
                if metric.name in shown
            ],
            keys=2,
        )
        for title, group in GROUPS
    ]
    absent = _absent(found)
    tables[-1].notes = [
        f"n = {usual} where no other n is given."
        + (f" Not in these results: {', '.join(absent)}." if absent else ""),
        ROLES,
        *notes(scores, found, table),
    ]
    return tables


def samples_table(scores: Mapping[str, Any]) -> Table | None:
    """`samples_data` for a terminal."""
    data = samples_data(scores)
    return None if data is None else data.shown()


KEY_COLUMNS = (Column("model"), Column("kind"), Column("mode"))
"""What names a row of a table about models."""


def _named(key: Key) -> tuple[str, str, str]:
    return key[0], role_of(key[0]), mode_text(key[1])


def _usual(intervals: Iterable[Interval]) -> int:
    return max(interval.n for interval in intervals)


def _shown(found: Found) -> set[str]:
    """The metrics that some model has a value of."""
    return {name for values in found.values() for name, one in values.items() if one.mean is not None}


def _absent(found: Found) -> list[str]:
    shown = _shown(found)
    return [metric.label for metric in METRICS.values() if metric.name not in shown]


def _few(texts: Sequence[str], most: int = 6) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def _cell(interval: Interval, metric: Metric, usual: int) -> str:
    text = interval_text(interval, places=metric.places, scale=metric.scale)
    return text if interval.mean is None or interval.n == usual else f"{text} n={interval.n}"


def notes(scores: Mapping[str, Any], found: Found, table: ScoreTable) -> list[str]:
    """What a reader must know to trust the numbers above."""
    lines = [
        f"mean [95 % percentile bootstrap interval], {table.resamples:,} resamples by {table.unit}; "
        f"data {scores['metadata']['data']['provenance']} {scores['metadata']['data']['fingerprint']}.",
        "Composite = the benchmark's reading, which pays for silence; Strict = what was asked and not "
        "answered is 0.",
        "null = reads nothing of the conversation or its surface only; ceiling = is shown the annotations. "
        "parsed = replies that were read, answered = scored items with a valid answer, unscored = items "
        "without an annotation.",
    ]
    if where := scores["metadata"].get("where"):
        lines.insert(0, f"only the conversations with {where}.")
    if any(not i.meaningful and i.mean is not None for values in found.values() for i in values.values()):
        lines.append(f"† fewer than five {table.unit}s: the interval is not meaningful.")
    return lines
