"""Models against each other: pairs separated, the perspective gap, preference wins."""

from __future__ import annotations

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.study import Study, label_of
from attune_env.figures.heat import Heat
from attune_env.figures.plots import Dots
from attune_env.report.groups import INPUTS, METRICS
from attune_env.report.names import counted
from attune_env.report.table import HOLM, Column, P, Table, points, share
from attune_env.statistics.bootstrap import Interval
from attune_env.statistics.comparisons import compare, separation
from attune_env.statistics.wins import METRIC, win_rates

OM, HP, GAP = "avg_binary_om_accuracy", "avg_binary_human_accuracy", "perspective_gap_om_hp"


def _pairs(study: Study) -> list[Table]:
    if len(study.models) < 2:
        raise Absent(f"it needs two models, and this mode has {counted(len(study.models), 'model')}")
    metrics = study.defined((study.leading, *INPUTS))
    if not metrics:
        raise Absent("no metric is defined")
    found = [
        (m, compare(study.table.kernel, study.table.metric(m.column, study.models), seed=study.seed))
        for m in metrics
    ]
    counts = [(metric, separation(pairs)) for metric, pairs in found]
    separated = study.sheet(
        "pairs_separated",
        "Pairs of models separated",
        ("metric", "counts as", Column("by the 95 % interval", "by_interval"), Column("with Holm", "by_holm"),
         "pairs"),
        ((m.label, m.role, one.by_interval, one.by_holm, one.pairs) for m, one in counts),
        keys=2,
    )  # fmt: skip
    pairs = study.sheet(
        "pairs",
        "Differences of all pairs of models, each in the unit of its metric",
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
        raise Absent("no conversation has a ranking of replies: nothing was picked")
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
        "Kendall tau to the participant's ranking, and win rates against the other models",
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


PAIRS = Analysis(
    "pairs-separated",
    "Pairs of models separated",
    "Which models really differ?",
    "A pair is separated if the 95 % interval of its paired difference excludes 0 (uncorrected, as we "
    "understand the paper's figure). The table also has a sign-flip test, Holm-corrected over the pairs of a "
    "metric. If models do not differ, the interval still separates about one pair in twenty.",
    _pairs,
    {"pairs-matrix": Heat("pairs", "first", "second", "difference", where=("metric", None),
                          unit="row minus column, {}; bold: significant")},
    signal="difference",
)  # fmt: skip
PERSPECTIVE = Analysis(
    "perspective-gap",
    "Perspective gap",
    "Do models see what was done better than what the person wanted?",
    "Gap = accuracy on what the reply did (Binary OM) − accuracy on what was wanted (Binary HP), within each "
    "conversation. p: two-sided sign-flip test, Holm over the models.",
    _perspective,
    {"perspective-gap": Dots("perspective_gap", ["binary_om", "binary_hp", "gap"],
                             unit="points of 100, with 95 % interval")},
    signal="gap",
)  # fmt: skip
WINS = Analysis(
    "preference-wins",
    "Preference win rates",
    "Which model follows the person's ranking of the replies more often?",
    "τ compares the model's and the person's ranking of the three replies and is averaged over turns; 0 is a "
    "ranking unrelated to the person's. A beats B on a conversation where its τ is higher, a tie counts ½.",
    _wins,
    {
        "preference-tau": Dots("preference_tau", ["tau"], line=0.0, unit="Kendall τ"),
        "preference-wins": Heat("preference_wins", "model", "against", "win_rate", range_=(0.0, 1.0),
                                unit="row wins against column, share"),
    },
)  # fmt: skip
