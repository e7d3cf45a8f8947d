"""The bootstrap: seeded, equal to a slow loop, and near SciPy's own."""

from __future__ import annotations

import math
from collections.abc import Hashable
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap as scipy_bootstrap

from attune_env.statistics import Bootstrap, Interval
from attune_rewards.bootstrap import BLOCK

NAN = math.nan
VALUES = [[0.1, 5.0], [0.4, NAN], [0.9, 1.0], [0.3, NAN], [0.7, 2.0], [0.2, 8.0]]
CLUSTERS: list[Hashable] = ["P1", "P2", "P1", "P3", "P2", "P1"]


def loop(kernel: Bootstrap, column: list[float]) -> list[float]:
    """The mean of one column in each resample, the slow way: NaN where a resample holds no value."""
    means = []
    for weights in kernel.weights.tolist():
        drawn = [v for v, w in zip(column, weights, strict=True) for _ in range(int(w)) if not math.isnan(v)]
        means.append(fmean(drawn) if drawn else NAN)
    return means


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    before = np.random.get_state(legacy=False)["state"]["key"]
    first, again, other = (Bootstrap(6, resamples=200, seed=seed) for seed in (7, 7, 8))
    assert first.intervals(VALUES) == again.intervals(VALUES)
    assert not np.array_equal(first.weights, other.weights)
    assert np.array_equal(before, np.random.get_state(legacy=False)["state"]["key"])


def test_every_resample_draws_as_many_rows_as_there_are() -> None:
    weights = Bootstrap(6, resamples=300, seed=1).weights
    assert weights.shape == (300, 6)
    assert (weights.sum(axis=1) == 6).all()
    # each row is drawn once a resample on average; 300 resamples, sd of a mean √(5/6/300) = .053
    assert np.abs(weights.mean(axis=0) - 1).max() < 0.3


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.floats(-100, 100) | st.just(NAN), min_size=2, max_size=2), min_size=1, max_size=8),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_means_equal_a_slow_loop(table: list[list[float]], seed: int, clustered: bool) -> None:
    clusters = [i // 2 for i in range(len(table))] if clustered else None
    kernel = Bootstrap(len(table), clusters, resamples=20, seed=seed)
    found = kernel.means(table)
    for i in range(2):
        wanted = loop(kernel, [row[i] for row in table])
        assert found[i].tolist() == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_intervals_are_percentiles_of_the_loop_and_leave_undefined_values_out() -> None:
    kernel = Bootstrap(6, resamples=400, seed=3)
    full, holed = kernel.intervals(VALUES)
    for i, interval in enumerate((full, holed)):
        means = [m for m in loop(kernel, [row[i] for row in VALUES]) if not math.isnan(m)]
        assert interval.low == pytest.approx(float(np.quantile(means, 0.025)))
        assert interval.high == pytest.approx(float(np.quantile(means, 0.975)))
    assert (full.mean, full.n, full.units) == pytest.approx((2.6 / 6, 6, 6))
    assert (holed.mean, holed.n, holed.units) == pytest.approx(((5 + 1 + 2 + 8) / 4, 4, 4))
    (alone,) = kernel.intervals([[row[0]] for row in VALUES])  # one column's holes do not move another
    assert (alone.low, alone.high) == pytest.approx((full.low, full.high), abs=1e-12)


@pytest.mark.parametrize(("column", "clusters", "want"), [
    ([NAN, NAN], None, Interval()),
    ([0.5] * 5, None, Interval(0.5, 0.5, 0.5, 5, 5)),
    ([0.7], None, Interval(0.7, 0.7, 0.7, 1, 1)),
    ([NAN, 0.75, NAN], None, Interval(0.75, 0.75, 0.75, 1, 1)),
    ([1.0, 2.0, 6.0], ["P"] * 3, Interval(3.0, 3.0, 3.0, 3, 1)),  # one participant: nothing to resample
    # a resample of two rows is 00, 01, 10 or 11: means 0, ½, ½, 1 at ¼, ½, ¼; the 2.5 % tails are 0 and 1
    ([0.0, 1.0], None, Interval(0.5, 0.0, 1.0, 2, 2)),
])  # fmt: skip
def test_intervals_by_hand(column: list[float], clusters: list[Hashable] | None, want: Interval) -> None:
    (found,) = Bootstrap(len(column), clusters, resamples=500).intervals([[value] for value in column])
    assert found == want
    assert found.meaningful == (want.units >= 5)


def test_rows_of_a_cluster_are_drawn_together() -> None:
    kernel = Bootstrap(6, CLUSTERS, resamples=200, seed=5)
    weights = kernel.weights
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 0] == weights[:, 5]).all()
    assert (weights[:, 1] == weights[:, 4]).all()
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()  # three participants a resample
    assert not (weights[:, 0] == weights[:, 1]).all()
    (interval,) = kernel.intervals([[1.0], [NAN], [2.0], [NAN], [NAN], [3.0]])
    assert (interval.n, interval.units) == (3, 1)  # units are clusters with a value
    plain, each = Bootstrap(6, resamples=100, seed=2), Bootstrap(6, list("abcdef"), resamples=100, seed=2)
    assert np.array_equal(plain.weights, each.weights)


@pytest.mark.parametrize(("rows", "clusters"), [(0, None), (-1, None), (3, ["a", "b"]), (2, [])])
def test_rows_and_clusters_that_do_not_fit_are_refused(rows: int, clusters: list[Hashable] | None) -> None:
    with pytest.raises(ValueError, match="row"):
        Bootstrap(rows, clusters)


def test_the_interval_agrees_with_scipys() -> None:
    values = [0.12, 0.55, 0.43, 0.91, 0.37, 0.66, 0.28, 0.74, 0.5, 0.05, 0.83, 0.6]
    wanted = scipy_bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    (found,) = Bootstrap(12, seed=2).intervals([[value] for value in values])
    # a 2.5 % quantile of 10,000 draws: se √(.025 · .975/10⁴)/density ≈ .0016 · sd/.058 ≈ .027 sd of the
    # mean (.073) = .002; two of them differ by less than .01 with five sigma to spare
    assert found.low == pytest.approx(float(wanted.low), abs=0.01)
    assert found.high == pytest.approx(float(wanted.high), abs=0.01)
    assert found.mean == pytest.approx(fmean(values))


def test_the_ends_of_a_ratio_are_the_quantiles_of_both_sums_drawn_together() -> None:
    generator = np.random.default_rng(3)
    below = generator.integers(0, 6, (30, BLOCK + 3)).astype(float)
    above = generator.binomial(below.astype(int), 0.4).astype(float)
    kernel = Bootstrap(30, [i // 2 for i in range(30)], resamples=500, seed=5)
    found = kernel.ratios(above, below)
    ratios = (kernel.weights @ above) / (kernel.weights @ below)  # one draw after another, by the definition
    low, high = np.quantile(ratios, [0.025, 0.975], axis=0)
    assert [one.low for one in found] == pytest.approx(low)
    assert [one.high for one in found] == pytest.approx(high)
    answered = below.reshape(15, 2, -1).sum(axis=1) > 0
    assert [one.units for one in found] == answered.sum(axis=0).tolist()


def test_a_ratio_is_of_sums_and_resamples_without_a_denominator_take_no_part() -> None:
    # (1 + 3 + 0)/(2 + 4 + 0) = 4/6; the third conversation has nothing to add
    (found,) = Bootstrap(3, resamples=200).ratios([[1], [3], [0]], [[2], [4], [0]])
    assert (found.mean, found.n, found.units) == pytest.approx((4 / 6, 6, 2))
    never, once = Bootstrap(2, resamples=400).ratios([[0, 1], [0, 0]], [[0, 2], [0, 0]])
    assert never == Interval()
    # only the first conversation has answers: wherever it is drawn the ratio is 1/2
    assert once == Interval(0.5, 0.5, 0.5, 2, 1)
