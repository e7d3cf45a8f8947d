"""Models against each other: pairs separated, the perspective gap, preference wins, metrics and variance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from attune_env.analyses.analysis import Absent, Analysis, Tables
from attune_env.analyses.study import Study, label_of
from attune_env.figures.heat import heat
from attune_env.figures.plots import dots
from attune_env.report.groups import METRICS, TURN, WIDE, Metric
from attune_env.report.names import references
from attune_env.report.table import Column, Table
from attune_env.statistics.bootstrap import Interval, known
from attune_env.statistics.comparisons import compare_metrics, holm, separation
from attune_env.statistics.ranks import FEWEST, rank_correlations
from attune_env.statistics.sign_flip import sign_flip
from attune_env.statistics.variance import variance_split
from attune_env.statistics.wins import METRIC, win_rates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUTS: tuple[Metric, ...] = tuple(metric for metric in (*TURN, *WIDE) if metric.role == "input")
"""The inputs of the canonical Composite."""
OM, HP, GAP = "avg_binary_om_accuracy", "avg_binary_human_accuracy", "perspective_gap_om_hp"


def _compared(study: Study, least: int = 2) -> Sequence[Metric]:
    """The Composite and its inputs, as far as they are defined."""
    if len(study.models) < least:
        raise Absent(f"the scores hold {len(study.models)} of the {least} models that it takes in this mode")
    metrics = study.defined((study.leading, *INPUTS))
    if not metrics:
        raise Absent("no metric is defined")
    return metrics


def _pairs(study: Study) -> list[Table]:
    metrics = _compared(study)
    values = study.table.of_metrics([metric.name for metric in metrics], study.models)
    found = compare_metrics(study.table.kernel, values, seed=study.seed)
    counts = Table(
        study.titled("Pairs of models separated"),
        ("metric", "counts as", Column("by the 95 % interval", "by_interval"),
         Column("with Holm", "by_holm"), "pairs"),
        keys=2, name="pairs_separated",
    )  # fmt: skip
    pairs = Table(
        study.titled("Differences of all pairs of models, each in the unit of its metric"),
        ("metric", "first", "second", Column("first - second", "difference"), Column("p", places=4),
         Column("p, Holm", "p_holm", places=4), Column("interval excludes 0", "separated"), "n"),
        keys=3, name="pairs",
    )  # fmt: skip
    for metric, compared in zip(metrics, found, strict=True):
        one = separation(compared)
        counts.rows.append((metric.label, metric.role, one.by_interval, one.by_holm, one.pairs))
        for pair in compared:
            names = study.models[pair.first][0], study.models[pair.second][0]
            separated = "yes" if pair.separated else "no"
            pairs.rows.append(
                (metric.label, *names, pair.difference, pair.p, pair.p_holm, separated, pair.difference.n)
            )
    return [counts, pairs]


def _pairs_plot(tables: Tables, table: str) -> Figure:
    first = str(tables[table].rows[0][0])
    return heat(tables, "pairs", "first", "second", "difference", where=("metric", first),
                unit=f"row minus column, {first}; bold: significant")  # fmt: skip


def _perspective(study: Study) -> list[Table]:
    differences = study.table.metric(GAP, study.models)
    if np.isnan(differences).all():
        raise Absent("no conversation has both binary accuracies")
    means = study.means([OM, HP, GAP], study.models)
    test = sign_flip(study.table.kernel, differences, seed=study.seed)
    table = Table(
        study.titled("Perspective gap, points of 100"),
        ("model", Column("Binary OM", "binary_om", places=1, scale=100),
         Column("Binary HP", "binary_hp", places=1, scale=100),
         Column("gap OM - HP", "gap", places=1, scale=100), Column("p", places=4),
         Column("p, Holm", "p_holm", places=4), "n"),
        dim=references(study.models), name="perspective_gap",
    )  # fmt: skip
    for key, p, corrected in zip(study.models, test.p, holm(test.p), strict=True):
        om, hp, gap = means[key].values()
        table.rows.append((key[0], om, hp, gap, known(p), known(corrected), gap.n))
    return [table]


def _wins(study: Study) -> list[Table]:
    values = study.table.metric(METRIC, study.models)
    if np.isnan(values).all():
        raise Absent("no conversation has a Kendall tau: nothing was picked")
    rates = win_rates(study.table.kernel, values)
    taus = study.table.kernel.intervals(values)

    def beats(rate: Interval | None) -> bool:
        return rate is not None and rate.meaningful and (rate.low or 0.0) > 0.5

    table = Table(
        study.titled("Kendall tau to the participant's ranking, and win rates against the other models"),
        ("model", Column("Kendall tau", "tau"), Column("mean win rate", share=True),
         Column("beats significantly", "beats"), Column("beaten significantly", "beaten"), "n"),
        dim=references(study.models), name="preference_tau",
    )  # fmt: skip
    matrix = Table(
        study.titled("Share of conversations where the model's tau is higher than the other's"),
        ("model", "against", Column("win rate", "win_rate"), "n"), keys=2, name="preference_wins",
    )  # fmt: skip
    for number, (key, tau, row) in enumerate(zip(study.models, taus, rates, strict=True)):
        shares = [rate.mean for rate in row if rate is not None and rate.mean is not None]
        mean = float(np.mean(shares)) if shares else None
        lost = sum(beats(other[number]) for other in rates)
        table.rows.append((key[0], tau, mean, sum(map(beats, row)), lost, tau.n))
        matrix.rows += [
            (key[0], other[0], rate, rate.n)
            for other, rate in zip(study.models, row, strict=True)
            if rate is not None
        ]
    return [table, matrix]


def _correlations(study: Study) -> list[Table]:
    beside = METRICS["avg_pairwise_kendall_tau"]
    metrics = [m for m in (*_compared(study, FEWEST), *study.defined([beside])) if m != study.leading]
    values = study.table.of_metrics([metric.name for metric in metrics], study.models)
    found = rank_correlations(study.table.kernel, values)
    table = Table(
        study.titled("Spearman's rank correlation between metrics, over models"),
        ("metric", Column("other metric"), Column("rho", places=2), "models"),
        keys=2, name="metric_correlations",
    )  # fmt: skip
    table.rows += [
        (metrics[a].label, metrics[b].label, found[a, b], found[a, b].n)
        for a, b in combinations(range(len(metrics)), 2)
    ]
    if all(rho.mean is None for rho in table.intervals("rho")):
        raise Absent("no two metrics vary over three models that have both")
    return [table]


def _variance(study: Study) -> list[Table]:
    table = Table(
        study.titled("Shares of the variance of scores"),
        (
            "metric",
            Column("model", share=True),
            Column("conversation", share=True),
            Column("rest", share=True),
            Column("model, of squares", "squares_model", share=True),
            Column("conversation, of squares", "squares_conversation", share=True),
            Column("rest, of squares", "squares_rest", share=True),
            "sd",
            "models",
            "n",
            "left out",
        ),
        name="variance",
    )
    for metric in _compared(study):
        values = study.table.metric(metric.name, study.models)
        s = variance_split(values[:, ~np.isnan(values).all(axis=0)])
        if s is not None:
            shares = (
                s.model,
                s.conversation,
                s.rest,
                s.squares_model,
                s.squares_conversation,
                s.squares_rest,
            )
            table.rows.append((label_of(metric), *shares, s.variance**0.5, s.models, s.rows, s.dropped))
    if not table.rows:
        raise Absent("no metric varies over two conversations that two models share")
    return [table]


PAIRS = Analysis(
    "pairs-separated",
    "Pairs of models separated",
    "Which models really differ?",
    "A pair is separated if the 95 % interval of its paired difference excludes 0 (uncorrected, as we "
    "read the paper's figure); beside it a sign-flip test, Holm-corrected over the pairs of a metric. Of "
    "models that do not differ, the interval separates about one pair in twenty.",
    _pairs,
    {"pairs-matrix": partial(_pairs_plot, table="pairs")},
    signal="difference",
)
PERSPECTIVE = Analysis(
    "perspective-gap",
    "Perspective gap",
    "Do models see what was done better than what the person wanted?",
    "Gap = Binary OM (what the recorded assistant did) − Binary HP accuracy (what the person would have "
    "wanted), within each conversation. p: two-sided sign-flip test, Holm over the models.",
    _perspective,
    {"perspective-gap": partial(dots, table="perspective_gap", columns=["binary_om", "binary_hp", "gap"],
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
        "preference-tau": partial(dots, table="preference_tau", columns=["tau"], line=0.0, unit="Kendall τ"),
        "preference-wins": partial(
            heat,
            table="preference_wins",
            rows="model",
            columns="against",
            value="win_rate",
            range_=(0.0, 1.0),
            unit="row wins against column, share",
        ),
    },
)
CORRELATIONS = Analysis(
    "metric-correlations",
    "Do metrics rank models alike?",
    "Is one metric enough, or do they disagree about who is better?",
    "Spearman's ρ of the models' means; in each resample all means are ranked again. Intervals show what "
    "other conversations would change, not other models. Where means are close, resampling adds noise to "
    "the ranks and pulls ρ towards 0.",
    _correlations,
    {"metric-correlations": partial(heat, table="metric_correlations", rows="other_metric", columns="metric",
                                    value="rho", range_=(-1.0, 1.0), unit="Spearman's ρ; bold: significant")},
    signal="rho",
)  # fmt: skip
VARIANCE = Analysis(
    "variance",
    "Where scores vary",
    "Do scores depend more on the model or on the conversation?",
    "Variance components of a two-way layout without replication (method of moments), so shares do not "
    "depend on how many models or conversations there are; the rest holds the interaction and chance. "
    "Conversations that every model has; shares of the sums of squares in the table.",
    _variance,
    {
        "variance": partial(
            heat,
            table="variance",
            rows="metric",
            columns="",
            value="",
            across=("model", "conversation", "rest"),
            range_=(0.0, 100.0),
            unit="% of the variance",
        )
    },
)
