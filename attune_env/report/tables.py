"""The tables of a scores file: leaderboard and the README's three groups, every mean with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attune_env.report.groups import GROUPS, LEADERBOARD, Metric
from attune_env.report.table import DASH, Table, interval_text, share_text
from attune_env.running.samples import sample_spread
from attune_env.statistics.bootstrap import RESAMPLES, Interval
from attune_env.statistics.scores import Key, Resample, intervals, resampled_unit
from attune_episodes.policies import KINDS

PILLARS = ("Emotion 24%", "Evaluation 49%", "Holistic 27%")


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


def leaderboard(scores: Mapping[str, Any], *, resample: Resample = "auto", seed: int = 0) -> Table:
    """Composite and its three pillars per (model, mode), best first, nulls marked."""
    entries = scores["conversations"]
    reading = scores["metadata"]["settings"]["scoring"]
    columns = LEADERBOARD[reading]
    other = "composite_score" if reading == "strict" else "composite_strict"
    found = intervals(entries, (*columns, other), resample=resample, seed=seed)
    groups = {(e["em_model"], e["mode"]): e for e in scores["aggregates"]}
    heads = ("Strict", "Canonical") if reading == "strict" else ("Composite", "Strict")
    table = Table(
        f"Leaderboard, {reading} reading, points of 100",
        ("model", "kind", "mode", *heads, *PILLARS, "n", "parsed", "answered", "unscored"),
        foldable=("mode", "n", "parsed", "answered", "unscored"),
        keys=3,
    )
    for number, key in enumerate(ranked(scores)):
        group, values = groups[key], found[key]
        kind = role_of(key[0])
        if kind in ("null", "ceiling"):
            table.dim.add(number)
        table.rows.append(
            (
                key[0],
                kind,
                mode_text(key[1]),
                interval_text(values[columns[0]], places=1),
                interval_text(values[other], places=1),
                *(interval_text(values[column], places=1, scale=100) for column in columns[1:]),
                str(values[columns[0]].n),
                share_text(group.get("parse_rate")),
                share_text(group.get("answered_share")),
                share_text(group.get("unscored_share")),
            )
        )
    table.notes = notes(scores, found, resample)
    return table


def group_tables(scores: Mapping[str, Any], *, resample: Resample = "auto", seed: int = 0) -> list[Table]:
    """One table per group of the README: metrics as rows, (model, mode) as columns, best first.

    Metrics that are undefined for every model are named in a note instead of shown.
    """
    entries = scores["conversations"]
    metrics = [metric for _, group in GROUPS for metric in group]
    found = intervals(entries, [m.name for m in metrics], resample=resample, seed=seed)
    keys = ranked(scores)
    usual = max(interval.n for values in found.values() for interval in values.values())
    tables = []
    absent = []
    for title, group in GROUPS:
        heads = (f"{model} {mode_text(mode)}" for model, mode in keys)
        table = Table(title, ("metric", "counts as", *heads), keys=2)
        for metric in group:
            values = [found[key][metric.name] for key in keys]
            if all(interval.mean is None for interval in values):
                absent.append(metric.label)
                continue
            table.rows.append((metric.label, metric.role, *(_cell(i, metric, usual) for i in values)))
        tables.append(table)
    tables[-1].notes = [
        f"n = {usual} where no other n is given."
        + (f" Not in these results: {', '.join(absent)}." if absent else ""),
        "counts as: input = enters the canonical Composite; beside = reported alongside; "
        "diagnostic = no paper metric.",
        *notes(scores, found, resample),
    ]
    return tables


def samples_table(scores: Mapping[str, Any]) -> Table | None:
    """How far a model's samples lie apart, beside its conversations; None where no model has several."""
    reading = scores["metadata"]["settings"]["scoring"]
    spreads = sample_spread(scores, LEADERBOARD[reading][0])
    if not spreads:
        return None
    table = Table(
        f"Samples, {reading} Composite, points of 100",
        ("model", "mode", "samples", "mean", "sd over samples", "se over conversations"),
        keys=2,
    )
    for one in spreads:
        error = DASH if one.se_conversations is None else f"{one.se_conversations:.2f}"
        numbers = (str(one.samples), f"{one.mean:.1f}", f"{one.sd_samples:.2f}", error)
        table.rows.append((one.em_model, mode_text(one.mode), *numbers))
    table.notes = [
        "sd over samples = of the samples' means: what asking again changes; se over conversations = what "
        "other conversations would change. Samples are compared on the conversations that all of them have."
    ]
    return table


def _cell(interval: Interval, metric: Metric, usual: int) -> str:
    text = interval_text(interval, places=metric.places, scale=metric.scale)
    return text if interval.mean is None or interval.n == usual else f"{text} n={interval.n}"


def notes(
    scores: Mapping[str, Any], found: Mapping[Key, Mapping[str, Interval]], resample: Resample
) -> list[str]:
    """What a reader must know to trust the numbers above."""
    entries = scores["conversations"]
    unit = resampled_unit(entries, resample)
    lines = [
        f"mean [95% percentile bootstrap interval], {RESAMPLES:,} resamples by {unit}; "
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
        lines.append(f"† fewer than five {unit}s: the interval is not meaningful.")
    return lines
