"""The report's verdict: each model against a baseline and the oracle, and what it can and cannot read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from attune_data.errors import one_line
from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.study import Study, label_of
from attune_env.figures.plots import Dots
from attune_env.report.groups import LEADERBOARD, METRICS
from attune_env.report.names import counted, listed, role_of, short_names
from attune_env.report.table import HOLM, Column, Table
from attune_env.running.samples import sample_spread
from attune_env.statistics.bootstrap import MEANINGFUL, Interval
from attune_env.statistics.comparisons import ALPHA
from attune_env.statistics.score_table import Key
from attune_rewards.metric import Metric
from attune_rewards.tree import LEAF, LEAVES

PRIOR = "builtin/prior"
NEEDED = ("builtin/surface", "builtin/asked", PRIOR)
"""Baselines whose absence the summary mentions."""
ABOVE, SAME, BELOW, FEW = "above", "indistinguishable", "below", "too little data"
MUCH = 0.05
"""Share of unreadable replies from which the summary mentions them."""


def part_name(leaf: str) -> str:
    """A strict part's name for readers: `What the reply did`, `Rating of managing`."""
    part = LEAF[leaf]
    if part.canonical:
        return label_of(METRICS[part.canonical])
    return part.label or leaf.replace("_", " ").capitalize()


def deciding(study: Study) -> Metric:
    """The Composite that decides: the strict one, since the canonical one ignores what is not answered.

    In files without strict scores, the leading one.
    """
    strict = METRICS[LEADERBOARD["strict"][0]]
    return strict if study.defined([strict]) else study.leading


def by_score(study: Study, keys: Iterable[Key]) -> list[Key]:
    """The keys that have a deciding Composite, the highest mean first; ties stay in their order."""
    values = study.table.metric(deciding(study).column, keys := list(keys))
    means = {key: column[~np.isnan(column)] for key, column in zip(keys, values.T, strict=True)}
    return sorted((key for key in keys if means[key].size), key=lambda key: -means[key].mean())


def best_of(study: Study, role: str) -> Key | None:
    """The policy of a role with the highest deciding Composite."""
    return next(iter(by_score(study, (key for key in study.keys if role_of(key[0]) == role))), None)


def judged(study: Study) -> list[Key]:
    """The models; if only policies were scored, those that read the text."""
    readers = [key for key in study.models if role_of(key[0]) not in ("baseline", "oracle")]
    return readers or list(study.models)


def verdict_tables(study: Study) -> list[Table]:
    """The deciding Composite of each model minus that of a baseline, paired by conversation.

    The baseline is the study's, or else the best one, in which case models that read nothing are left out.
    """
    chosen = (study.baseline, study.mode) if study.baseline else None
    baseline, oracle = chosen or best_of(study, "baseline"), best_of(study, "oracle")
    if baseline is None:
        raise Absent("no baseline was scored: run `attune run builtin all DATA` and score them too")
    against = study.models if chosen else judged(study)
    keys = [key for key in by_score(study, against) if key != baseline]
    if not keys:
        raise Absent("nothing else was scored" if chosen else "only baselines were scored")
    metric = deciding(study)
    values = study.table.metric(metric.column, [*keys, baseline])
    differences = values[:, :-1] - values[:, -1:]
    intervals = study.table.kernel.intervals(differences)
    *means, low = study.table.intervals(metric.column, [*keys, baseline])
    top = study.table.intervals(metric.column, [oracle])[0].mean if oracle else None
    rows = [
        (key[0], _verdict(difference, p), short_names([baseline[0]])[0], mean, low.mean, difference, p,
         None if top is None or mean.mean is None else top - mean.mean, difference.n)
        for key, mean, difference, (_, p) in zip(
            keys, means, intervals, study.tested(differences), strict=True
        )
    ]  # fmt: skip
    table = study.sheet(
        "verdict",
        one_line(f"Verdict: each model against {study.baseline or 'the best baseline'}, points of 100"),
        (
            "model",
            "verdict",
            "baseline",
            Column(label_of(metric), metric.column, places=1),
            Column("baseline's", "baseline_mean", places=1),
            Column("difference", places=1),
            HOLM,
            Column("below the oracle", "below_oracle", places=1),
            Column("conversations", "n"),
        ),
        rows,
        notes=_limits(study),
        foldable=("baseline",),
    )
    return [table]


def _limits(study: Study) -> list[str]:
    """The participants that the numbers rest on, and the randomness that they leave out."""
    notes = [
        f"{counted(study.participants, 'participant')} in all; intervals and p are over {study.table.unit}s."
    ]
    if not study.only_policies and not sample_spread(study.scores):
        notes.append(
            "Each reply was sampled once: intervals and tests leave out the model's own randomness (measure "
            "it with attune run … --samples 3)."
        )
    return notes


def _verdict(difference: Interval, p: float | None) -> str:
    if not difference.meaningful:
        return FEW
    if p is None or p >= ALPHA:
        return SAME
    return ABOVE if (difference.mean or 0.0) > 0 else BELOW


def profile_tables(study: Study) -> list[Table]:
    """Each strict part of each model as (score − prior)/(1 − prior), summed over conversations.

    Beside it that of the best baseline on the part, which the model is tested against.
    """
    prior = (PRIOR, study.mode)
    if prior not in study.keys:
        raise Absent("the policy prior was not scored: run `attune run builtin prior DATA` and score it too")
    keys = [key for key in judged(study) if key != prior]
    parts = [leaf for leaf in LEAVES if f"strict_{leaf}" in study.table.metrics]
    if not keys or not parts:
        raise Absent("no model has strict scores of single parts")
    names = [f"strict_{leaf}" for leaf in parts]
    rivals = [prior, *(k for k in study.keys if role_of(k[0]) == "baseline" and k not in (*keys, prior))]
    values, blind = study.table.of_metrics(names, keys), study.table.of_metrics(names, rivals)
    base = blind[:, :1]
    both = ~np.isnan(values) & ~np.isnan(base)
    totals = np.where(np.isnan(base), 0.0, np.nan_to_num(blind)).sum(axis=0)
    whole = np.where((np.isnan(blind) & ~np.isnan(base)).any(axis=0), -np.inf, totals)
    leads = [int(place) for place in whole.argmax(axis=0)]  # of equals the first: prior
    best = np.stack([blind[:, [lead], place] for place, lead in enumerate(leads)], axis=-1)
    above, below = (np.where(both, one, 0.0).reshape(len(both), -1) for one in (values - base, 1.0 - base))
    found = iter(study.table.kernel.ratios(above, below))
    tests = iter(study.tested(np.where(both, values - best, np.nan).reshape(len(both), -1)))
    rows = []
    for number, key in enumerate(keys):
        for place, leaf in enumerate(parts):
            gain, (_, p), shared = next(found), next(tests), both[:, number, place]
            n = int(shared.sum())
            if n and gain.mean is not None:
                score, low, top = (
                    float(one[shared, at, place].mean())
                    for one, at in ((values, number), (base, 0), (best, 0))
                )
                rival = short_names([rivals[leads[place]][0]])[0]
                rows.append((key[0], part_name(leaf), replace(gain, n=n), (top - low) / (1 - low), rival, p,
                             score, low, n, leaf))  # fmt: skip
    columns = (
        *("model", "part", Column("gain", places=2), Column("best baseline", places=2), "its name", HOLM),
        *("score", "prior", Column("conversations", "n")),
        Column("name in files", "name"),
    )
    title = "Profile: share of the way from prior (0) to the annotations (1)"
    return [study.sheet("profile", title, columns, rows, keys=2)]


def summary(study: Study) -> list[str]:
    """At most six sentences, none with more than two numbers."""
    try:
        (table,) = verdict_tables(study)
    except Absent as reason:
        return [f"There is no verdict: {reason}."]
    names = short_names([str(model) for model in table.column("model")])
    baseline = str(table.column("baseline")[0])
    reads = study.baseline and role_of(study.baseline) != "baseline"
    says = {
        ABOVE: ("scores", "score", "significantly above", ""),
        SAME: ("is", "are", "indistinguishable from", ", on these conversations"),
        BELOW: ("scores", "score", "significantly below", "" if reads else ", which does not read the text"),
        FEW: ("has", "have", "too little data to be compared with", ""),
    }
    lines: list[str] = []
    for verdict, (one, several, relation, more) in says.items():
        these = [name for name, said in zip(names, table.column("verdict"), strict=True) if said == verdict]
        if these:
            verb = one if len(these) == 1 else several
            other = baseline if lines else f"{baseline}, {_standing(study)}"
            lines.append(f"{listed(these)} {verb} {relation} {other}{more}.")
    difference = table.intervals("difference")[0]
    if difference.mean is not None:
        first = f"The highest score, that of {names[0]}," if len(names) > 1 else "Its score"
        sign, way = (1, "above") if difference.mean > 0 else (-1, "below")
        ends = (sign * (end or 0.0) for end in (difference.low, difference.high))
        low, high = sorted(round(end, 1) + 0.0 for end in ends)  # no -0.0
        between = f" ({low:.1f} to {high:.1f})" if difference.meaningful and low < high else ""
        lines.append(f"{first} is {abs(difference.mean):.1f} points{between} {way} that baseline.")
    return [*lines, *_parts(study), *_unreadable(study)][:6]


def _standing(study: Study) -> str:
    """The place of the verdict's baseline among those scored."""
    if study.baseline:
        return "the chosen baseline"
    scored = {key[0] for key in study.keys if role_of(key[0]) == "baseline"}
    missing = [name.partition("/")[2] for name in NEEDED if name not in scored]
    without = f" ({listed(missing)} {'was' if len(missing) == 1 else 'were'} not)" if missing else ""
    rank = f"the best of the {len(scored)} baselines" if len(scored) > 1 else "the only baseline"
    return f"{rank} scored{without}"


def _parts(study: Study) -> list[str]:
    """The parts that some model predicts better than the best baseline on each, and the others."""
    try:
        (table,) = profile_tables(study)
    except Absent:
        return []
    parts = [name[:1].lower() + name[1:] for name in map(str, table.column("part"))]
    tests = zip(parts, table.intervals("gain"), table.column("p_holm"), strict=True)
    better = {part for part, gain, p in tests if isinstance(p, float) and _verdict(gain, p) == ABOVE}
    yes, no = ([part for part in dict.fromkeys(parts) if (part in better) == kind] for kind in (True, False))
    one = len(set(table.column("model"))) == 1
    who, nobody, none = (
        ("it does", "It does not do so", "it does not do")
        if one
        else ("at least one model does", "None does so", "no model does")
    )
    against = "Against the best baseline on each part"
    if not yes:
        return [f"{against}, {none} significantly better on {listed(no, 5)}."] if no else []
    return [
        f"{against}, {who} significantly better on {listed(yes, 5)}.",
        *([f"{nobody} on {listed(no, 5)}."] if no else []),
    ]


def _unreadable(study: Study) -> list[str]:
    rates = {key[0]: study.aggregates[key].get("parse_rate") for key in study.models}
    bad = {name: 1 - rate for name, rate in rates.items() if rate is not None and 1 - rate >= MUCH}
    if not bad:
        return []
    if len(bad) == 1:
        ((name, share),) = bad.items()
        of = f"{share:.0%} of the replies of {short_names([name])[0]}"
    else:
        of = f"Up to {max(bad.values()):.0%} of the replies of {counted(len(bad), 'model')}"
    return [f"{of} could not be read and count as unanswered."]


VERDICT = Analysis(
    "verdict",
    "Verdict",
    "Does a model do better than answers given without reading the conversation?",
    "Difference between each model's strict Composite, in which an unanswered question earns 0, and that of "
    "the baseline (the best one, or --baseline), paired by conversation, with a 95 % interval over {units}. "
    "Above or below: p < 0.05 in a sign-flip test over {units}, Holm-corrected over the models; fewer than "
    f"{MEANINGFUL} {{units}} are too little data. Beating surface, which goes by surface cues without "
    "understanding anything, is necessary, not sufficient.",
    verdict_tables,
)
PROFILE = Analysis(
    "profile",
    "Profile",
    "What can each model read, and what can it not?",
    "(score − prior) / (1 − prior) of each part of the strict Composite, summed over conversations: 0 is "
    "what prior gets, 1 what the annotations get. The 95 % intervals are over {units} and not corrected. The "
    "vertical mark is the best scored baseline on the part; p is a sign-flip test of the difference from it, "
    "Holm-corrected over all parts and models of the table, and the summary counts p < 0.05. Interval and p "
    "may disagree even where the mark is at 0: the interval resamples {units}, while the test flips the "
    "signs of their differences, and where few differ, no p is small. Values beyond the axis are "
    "written at its edge.",
    profile_tables,
    {"profile": Dots("profile", ["gain"], split="model", label="part", mark="best_baseline", line=0.0,
                     limits=(-1.05, 1.05), unit="(score − prior) / (1 − prior), with 95 % interval")},
)  # fmt: skip
