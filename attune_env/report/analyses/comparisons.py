"""Models against each other: pairs separated, the perspective gap, preference wins, metrics and variance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.study import Absent, Study, label_of
from attune_env.report.figures.dots import Dots
from attune_env.report.figures.heat import Heat
from attune_env.statistics.comparisons import compare, separation
from attune_env.statistics.ranks import FEWEST, rank_correlations
from attune_env.statistics.variance import variance_split
from attune_env.statistics.wins import METRIC, win_rates
from attune_env.tables.cells import HOLM, Column, P, points, share
from attune_env.tables.groups import INPUTS, METRICS
from attune_env.tables.labels import counted
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Interval
from attune_rewards.metrics.metric import Metric

OM, HP, GAP = "avg_binary_om_accuracy", "avg_binary_human_accuracy", "perspective_gap_om_hp"
SHARES: Final = ("model", "conversation", "rest")


def _compared(study: Study, least: int = 2) -> Sequence[Metric]:
    """The Composite and its inputs, as far as they are defined."""
    if len(study.models) < least:
        raise Absent(
            f"at least {least} models are needed, but this mode has {counted(len(study.models), 'model')}"
        )
    metrics = study.defined((study.leading, *INPUTS))
    if not metrics:
        raise Absent("no metric is defined")
    return metrics


def _pairs(study: Study) -> list[Table]:
    metrics = _compared(study)
    found = [
        (m, compare(study.table.kernel, study.table.metric(m.column, study.models), seed=study.seed))
        for m in metrics
    ]
    counts = [(metric, separation(pairs)) for metric, pairs in found]
    separated = study.sheet(
        "pairs_separated",
        "Pairs of models separated",
        ("metric", "counts as", Column("by the 95% interval", "by_interval"), Column("with Holm", "by_holm"),
         "pairs"),
        ((m.label, m.role, one.by_interval, one.by_holm, one.pairs) for m, one in counts),
        keys=2,
    )  # fmt: skip
    pairs = study.sheet(
        "pairs",
        "Differences between all pairs of models, each in the unit of its metric",
        ("metric", "first", "second", Column("first - second", "difference"), P, HOLM,
         Column("interval excludes 0", "separated"), "n"),
        (
            (metric.label, study.models[pair.first][0], study.models[pair.second][0], pair.difference, pair.p,
             pair.p_holm, "yes" if pair.separated else "no", pair.difference.n)
            for metric, compared in found
            for pair in compared
        ),
        keys=3,
    )  # fmt: skip
    return [separated, pairs]


def _perspective(study: Study) -> list[Table]:
    differences = study.table.metric(GAP, study.models)
    if np.isnan(differences).all():
        raise Absent("no conversation has both binary accuracies")
    means = study.means([OM, HP, GAP], study.models)
    heads = (
        points(label_of(METRICS[OM]), "binary_om"),
        points(label_of(METRICS[HP]), "binary_hp"),
        points("gap"),
    )
    table = study.sheet(
        "perspective_gap",
        "Perspective gap, points of 100",
        ("model", *heads, P, HOLM, "n"),
        (
            (key[0], *means[key].values(), *p, means[key][GAP].n)
            for key, p in zip(study.models, study.tested(differences), strict=True)
        ),
    )
    return [table]


def _wins(study: Study) -> list[Table]:
    values = study.table.metric(METRIC, study.models)
    if np.isnan(values).all():
        raise Absent("no conversation has a ranking of replies, since nothing was picked")
    rates = win_rates(study.table.kernel, values)
    taus = study.table.kernel.intervals(values)

    def beats(rate: Interval | None) -> bool:
        return rate is not None and rate.meaningful and (rate.low or 0.0) > 0.5

    rows = []
    for number, (key, tau, row) in enumerate(zip(study.models, taus, rates, strict=True)):
        shares = [rate.mean for rate in row if rate is not None and rate.mean is not None]
        mean = float(np.mean(shares)) if shares else None
        rows.append(
            (key[0], tau, mean, sum(map(beats, row)), sum(beats(other[number]) for other in rates), tau.n)
        )
    table = study.sheet(
        "preference_tau",
        "Kendall tau with the participant's ranking, and win rates against the other models",
        ("model", Column("Kendall tau", "tau"), share("mean win rate"), 
         Column("beats significantly", "beats"), Column("beaten significantly", "beaten"), "n"),
        rows,
    )  # fmt: skip
    matrix = study.sheet(
        "preference_wins",
        "Share of conversations where the model's tau is higher than the other's",
        ("model", "against", "win rate", "n"),
        (
            (key[0], other[0], rate, rate.n)
            for key, row in zip(study.models, rates, strict=True)
            for other, rate in zip(study.models, row, strict=True)
            if rate is not None
        ),
        keys=2,
    )
    return [table, matrix]


def _correlations(study: Study) -> list[Table]:
    beside = METRICS["avg_pairwise_kendall_tau"]
    metrics = [m for m in (*_compared(study, FEWEST), *study.defined([beside])) if m != study.leading]
    values = study.table.of_metrics([metric.column for metric in metrics], study.models)
    found = rank_correlations(study.table.kernel, values)
    table = study.sheet(
        "metric_correlations",
        "Spearman's rank correlation between metrics, over models",
        ("metric", "other metric", Column("rho", places=2), "models"),
        (
            (metrics[a].label, metrics[b].label, found[a, b], found[a, b].n)
            for a, b in combinations(range(len(metrics)), 2)
        ),
        keys=2,
    )
    if all(rho.mean is None for rho in table.intervals("rho")):
        raise Absent("no two metrics vary across at least three models that have both")
    return [table]


def _variance(study: Study) -> list[Table]:
    rows = []
    for metric in _compared(study):
        values = study.table.metric(metric.column, study.models)
        s = variance_split(values[:, ~np.isnan(values).all(axis=0)])
        if s is not None:
            shares = s.model, s.conversation, s.rest, s.squares_model, s.squares_conversation, s.squares_rest
            rows.append((label_of(metric), *shares, s.variance**0.5, s.models, s.rows, s.dropped))
    if not rows:
        raise Absent("no metric varies across two conversations that two models share")
    squares = (share(f"{name}, share of squares", f"squares_{name}") for name in SHARES)
    heads: list[Column | str] = ["metric", *map(share, SHARES), *squares, "sd", "models", "n", "left out"]
    return [study.sheet("variance", "Shares of the variance of scores", heads, rows)]


PAIRS = Analysis(
    "pairs-separated",
    "Pairs of models separated",
    "Which models really differ?",
    "A pair is separated if the 95% interval of its paired difference excludes 0 (uncorrected, as we "
    "understand the paper's figure). The table also shows a sign-flip test, Holm-corrected over the pairs "
    "for each metric. Even if models do not differ, the interval separates one pair in twenty or more.",
    _pairs,
    {"pairs-matrix": Heat("pairs", "first", "second", "difference", where=("metric", None),
                          unit="row minus column, {}; bold: significant")},
    signal="difference",
    chapter="Models against each other",
    place=1,
)  # fmt: skip
PERSPECTIVE = Analysis(
    "perspective-gap",
    "Perspective gap",
    "Do models recognise what the reply did better than what the person wanted?",
    "Gap = accuracy on what the reply did (Binary OM) − accuracy on what was wanted (Binary HP), within each "
    "conversation. p is from a two-sided sign-flip test, Holm-corrected over the models.",
    _perspective,
    {"perspective-gap": Dots("perspective_gap", ["binary_om", "binary_hp", "gap"],
                             unit="points of 100, with 95% interval")},
    signal="gap",
    chapter="Models against each other",
    place=4,
)  # fmt: skip
WINS = Analysis(
    "preference-wins",
    "Preference win rates",
    "Which model follows the person's ranking of the replies more often?",
    "τ compares the model's ranking of the three replies with the person's and is averaged over turns; 0 "
    "means that the rankings are unrelated. A beats B in a conversation if its τ is higher; a tie counts ½.",
    _wins,
    {
        "preference-tau": Dots("preference_tau", ["tau"], line=0.0, unit="Kendall τ"),
        "preference-wins": Heat("preference_wins", "model", "against", "win_rate", range_=(0.0, 1.0),
                                unit="row wins against column, share"),
    },
    chapter="Models against each other",
    place=3,
)  # fmt: skip
CORRELATIONS = Analysis(
    "metric-correlations",
    "Do metrics rank models alike?",
    "Is one metric enough, or do metrics disagree about which model is better?",
    "Spearman's ρ between the models' means, which are ranked again in each resample. Intervals show the "
    "effect of choosing other conversations, not other models. Where means are close, resampling adds noise "
    "to the ranks and pulls ρ towards 0.",
    _correlations,
    {"metric-correlations": Heat("metric_correlations", "other_metric", "metric", "rho", range_=(-1.0, 1.0),
                                 unit="Spearman's ρ; bold: significant")},
    signal="rho",
    chapter="What the numbers rest on",
    place=1,
)  # fmt: skip
VARIANCE = Analysis(
    "variance",
    "Where scores vary",
    "Do scores depend more on the model or on the conversation?",
    "Variance components of a two-way layout without replication (method of moments), so shares do not "
    "depend on the number of models or conversations. The rest contains interaction and chance. Only "
    "conversations on which all models were scored are used. The table also shows shares of the sums of "
    "squares.",
    _variance,
    {"variance": Heat("variance", "metric", SHARES, range_=(0.0, 100.0), unit="% of the variance")},
    chapter="What the numbers rest on",
    place=2,
)
ANALYSES: Final = (PAIRS, PERSPECTIVE, WINS, CORRELATIONS, VARIANCE)
