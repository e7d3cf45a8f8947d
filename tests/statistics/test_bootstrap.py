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

NAN = math.nan
VALUES = [[0.1, 5.0], [0.4, NAN], [0.9, 1.0], [0.3, NAN], [0.7, 2.0], [0.2, 8.0]]


def bounds(interval: Interval) -> list[float | None]:
    return [interval.mean, interval.low, interval.high]


def loop(kernel: Bootstrap, column: list[float]) -> list[float]:
    """The mean of one column in each resample, the slow way: NaN where a resample holds no value."""
    means = []
    for weights in kernel.weights.tolist():
        drawn = [v for v, w in zip(column, weights, strict=True) for _ in range(int(w)) if not math.isnan(v)]
        means.append(fmean(drawn) if drawn else NAN)
    return means


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    assert Bootstrap(6, resamples=200, seed=7).intervals(VALUES) == Bootstrap(
        6, resamples=200, seed=7
    ).intervals(VALUES)
    first, second = Bootstrap(6, resamples=200, seed=7), Bootstrap(6, resamples=200, seed=8)
    assert not np.array_equal(first.weights, second.weights)


def test_it_does_not_touch_the_global_generator() -> None:
    before = np.random.get_state(legacy=False)["state"]["key"]
    Bootstrap(6, resamples=50).intervals(VALUES)
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


def test_intervals_are_percentiles_of_the_loop() -> None:
    kernel = Bootstrap(6, resamples=400, seed=3)
    for i, interval in enumerate(kernel.intervals(VALUES)):
        means = [m for m in loop(kernel, [row[i] for row in VALUES]) if not math.isnan(m)]
        assert interval.low == pytest.approx(float(np.quantile(means, 0.025)))
        assert interval.high == pytest.approx(float(np.quantile(means, 0.975)))


def test_undefined_values_are_left_out() -> None:
    full, holed = Bootstrap(6, resamples=400, seed=3).intervals(VALUES)
    assert full.mean == pytest.approx(2.6 / 6)
    assert (full.n, full.units) == (6, 6)
    assert holed.mean == pytest.approx((5 + 1 + 2 + 8) / 4)
    assert (holed.n, holed.units) == (4, 4)
    assert holed.low is not None
    assert holed.high is not None
    assert 1 <= holed.low < 4 < holed.high <= 8


def test_one_columns_holes_do_not_move_another() -> None:
    alone = Bootstrap(6, resamples=200, seed=3).intervals([[row[0]] for row in VALUES])
    both = Bootstrap(6, resamples=200, seed=3).intervals(VALUES)
    assert bounds(both[0]) == pytest.approx(bounds(alone[0]), abs=1e-12)


def test_a_column_without_any_value() -> None:
    assert Bootstrap(2, resamples=50).intervals([[NAN], [NAN]]) == [Interval(None, None, None, 0, 0)]


def test_constant_values_have_an_interval_of_no_width() -> None:
    (interval,) = Bootstrap(5, resamples=100).intervals([[0.5]] * 5)
    assert (interval.mean, interval.low, interval.high) == (0.5, 0.5, 0.5)
    assert interval.meaningful


def test_a_single_row_has_an_interval_of_no_width_that_says_nothing() -> None:
    (interval,) = Bootstrap(1, resamples=100).intervals([[0.7]])
    assert interval == Interval(0.7, 0.7, 0.7, 1, 1)
    assert not interval.meaningful


def test_a_single_value_among_holes() -> None:
    (interval,) = Bootstrap(3, resamples=500, seed=1).intervals([[NAN], [0.7], [NAN]])
    assert bounds(interval) == pytest.approx([0.7, 0.7, 0.7])
    assert (interval.n, interval.units) == (1, 1)


def test_two_rows_reach_both_ends() -> None:
    # a resample of two rows is 00, 01, 10 or 11: means 0, ½, ½, 1 at ¼, ½, ¼; the 2.5 % tails are 0 and 1
    kernel = Bootstrap(2, resamples=2000, seed=0)
    assert set(kernel.means([[0.0], [1.0]])[0].tolist()) == {0.0, 0.5, 1.0}
    (interval,) = kernel.intervals([[0.0], [1.0]])
    assert (interval.mean, interval.low, interval.high) == (0.5, 0.0, 1.0)


CLUSTERS: list[Hashable] = ["P1", "P2", "P1", "P3", "P2", "P1"]


def test_rows_of_a_cluster_are_drawn_together() -> None:
    weights = Bootstrap(6, CLUSTERS, resamples=200, seed=5).weights
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 0] == weights[:, 5]).all()
    assert (weights[:, 1] == weights[:, 4]).all()
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()  # three participants a resample
    assert not (weights[:, 0] == weights[:, 1]).all()


def test_units_are_clusters_with_a_value() -> None:
    (interval,) = Bootstrap(6, CLUSTERS, resamples=50).intervals([[1.0], [NAN], [2.0], [NAN], [NAN], [3.0]])
    assert (interval.n, interval.units) == (3, 1)
    assert not interval.meaningful


def test_one_cluster_leaves_nothing_to_resample() -> None:
    (interval,) = Bootstrap(3, ["P", "P", "P"], resamples=50).intervals([[1.0], [2.0], [6.0]])
    assert interval == Interval(3.0, 3.0, 3.0, 3, 1)


def test_clusters_of_one_are_rows() -> None:
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
