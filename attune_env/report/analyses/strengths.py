"""The report's profile: on which parts of the strict Composite each model does better, and by how much."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.study import Absent, Study, label_of
from attune_env.report.analyses.verdict import judged
from attune_env.report.figures.dots import Dots
from attune_env.tables.cells import HOLM, Column, P
from attune_env.tables.groups import METRICS
from attune_env.tables.labels import quoted, role_of, short_names
from attune_env.tables.table import Table
from attune_rewards.metrics.tree import LEAF, LEAVES

PRIOR = "builtin/prior"


def part_name(leaf: str) -> str:
    """A strict part's name for readers: `What the reply did`, `Fit of the assistant`."""
    part = LEAF[leaf]
    if part.canonical:
        return label_of(METRICS[part.canonical])
    return part.label or leaf.replace("_", " ").capitalize()


def profile_tables(study: Study) -> list[Table]:
    """Each strict part of each model as (score − prior)/(1 − prior), summed over conversations.

    Beside it, on the same scale, that of the study's baseline, or else of the best baseline on the part, and
    the paired difference from it, which is tested.
    """
    prior = (PRIOR, study.mode)
    if prior not in study.keys:
        run = "run `attune run builtin prior DATA` and score it too"
        raise Absent(f"the policy {quoted('prior')} was not scored: {run}")
    chosen = [key for key in study.keys if key[0] == study.baseline]
    keys = [key for key in judged(study) if key not in (prior, *chosen)]
    parts = [leaf for leaf in LEAVES if f"strict_{leaf}" in study.table.metrics]
    if not keys or not parts:
        raise Absent("no model has strict scores for individual parts")
    names = [f"strict_{leaf}" for leaf in parts]
    blind = chosen or [key for key in study.keys if role_of(key[0]) == "baseline" and key not in keys]
    rivals = [prior, *(key for key in blind if key != prior)]
    values, others = study.table.of_metrics(names, keys), study.table.of_metrics(names, rivals)
    base = others[:, :1]
    totals = np.where(np.isnan(base), 0.0, np.nan_to_num(others)).sum(axis=0)
    whole = np.where((np.isnan(others) & ~np.isnan(base)).any(axis=0), -np.inf, totals)
    lead = whole.argmax(axis=0)  # of equals the first: prior
    leads = [len(rivals) - 1 if chosen else int(place) for place in lead]
    best = np.stack([others[:, [lead], place] for place, lead in enumerate(leads)], axis=-1)
    both = ~np.isnan(values) & ~np.isnan(base) & ~np.isnan(best)
    gains, over, room = (
        np.where(both, one, 0.0).reshape(len(both), -1) for one in (values - base, values - best, 1.0 - base)
    )
    found, apart = (iter(study.table.kernel.ratios(one, room)) for one in (gains, over))
    tests = iter(study.tested(np.where(both, values - best, np.nan).reshape(len(both), -1)))
    rows = []
    for number, key in enumerate(keys):
        for place, leaf in enumerate(parts):
            gain, difference, p, shared = next(found), next(apart), next(tests), both[:, number, place]
            n = int(shared.sum())
            if n and gain.mean is not None:
                score, low, top = (
                    float(one[shared, at, place].mean())
                    for one, at in ((values, number), (base, 0), (best, 0))
                )
                rival = short_names([rivals[leads[place]][0]])[0]
                rows.append((key[0], part_name(leaf), replace(gain, n=n), (top - low) / (1 - low), rival,
                             replace(difference, n=n), *p, score, low, n, leaf))  # fmt: skip
    other = "baseline" if chosen else "best baseline"
    columns = (
        *("model", "part", Column("gain", places=2), Column(other, "best_baseline", places=2), "its name"),
        *(Column(f"over the {other}", "over_best", places=2), P, HOLM, "score", "prior"),
        *(Column("conversations", "n"), Column("name in files", "name")),
    )
    title = f"Profile: share of the way from {quoted('prior')} (0) to the annotations (1)"
    return [study.sheet("profile", title, columns, rows, keys=2)]


PROFILE = Analysis(
    "profile",
    "Profile",
    "On which parts does each model do better?",
    "Gain is (score − prior) / (1 − prior) for each part of the strict Composite, summed over "
    "conversations: 0 is the score of `prior`, and 1 is that of the annotations. The bars show its 95% "
    "intervals over {units}; the mark is {best_on_part}. The difference from the mark is tested (sign "
    "flips, Holm-corrected); the dot is filled where p < 0.05, and the summary counts these. Even if an "
    "interval excludes the mark, the difference may not be significant: p is corrected for testing all "
    "parts of all models at once, while the intervals are not, and a difference that only a few {units} "
    "show cannot have a small p. The table also shows the difference, on the scale of the gain, with "
    "its interval and p. Values beyond the axis are written at its edge, beside their dot.",
    profile_tables,
    {"profile": Dots("profile", ["gain"], split="model", label="part", mark="best_baseline", test="p_holm",
                     line=0.0, limits=(-1.05, 1.05),
                     unit="(score − prior) / (1 − prior), with 95% interval")},
    chapter="The answer",
    place=2,
)  # fmt: skip
ANALYSES: Final = (PROFILE,)
