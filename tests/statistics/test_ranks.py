"""Rank correlations: by hand, against SciPy's, with ties, gaps and constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import rankdata, spearmanr

from attune_env.statistics import Bootstrap, rank_correlations
from attune_rewards.bootstrap import Array

NAN = math.nan


def test_rounding_breaks_no_tie() -> None:
    values = np.array([[[0.1 + 0.2, 1.0], [0.3, 2.0], [0.2, 3.0]]])
    # ranks 2.5 2.5 1 and 1 2 3: Pearson's (-.5 + 0 - 1)/√(1.5 · 2)
    found = rank_correlations(Bootstrap(1, resamples=10), values)[0, 1]
    assert found.mean == pytest.approx(-1.5 / 3**0.5)


def test_four_models_by_hand() -> None:
    # one row: the means are the values. Ranks 1 2 3 4 and 2 1 4 3: Σd² = 4, ρ = 1 - 6·4/(4·15) = .6
    values = np.array([[[1.0, 20.0], [2.0, 10.0], [3.0, 40.0], [4.0, 30.0]]])
    found = rank_correlations(Bootstrap(1, resamples=20), values)[0, 1]
    assert found.mean == pytest.approx(0.6)
    assert (found.n, found.units) == (4, 1)
    assert not found.meaningful


def test_the_matrix_is_scipys_and_the_intervals_are_a_slow_loops() -> None:
    values = np.random.default_rng(1).integers(0, 6, (9, 5, 3)).astype(np.float64)
    values[2, 3, 1] = values[5, 0, 2] = NAN
    kernel = Bootstrap(9, [i // 2 for i in range(9)], resamples=120, seed=2)
    found = rank_correlations(kernel, values)
    point = np.nanmean(values, axis=0)
    draws = kernel.means(values.reshape(9, -1)).T.reshape(-1, 5, 3)
    for a in range(3):
        for b in range(3):
            one = found[a, b]
            assert one.mean == pytest.approx(float(spearmanr(point[:, a], point[:, b]).statistic))
            loop = []
            for draw in draws:
                ranks = [rankdata(np.round(draw[:, metric], 9)) for metric in (a, b)]
                if not np.isnan(draw[:, [a, b]]).any() and all(len(set(r)) > 1 for r in ranks):
                    loop.append(float(np.corrcoef(ranks[0], ranks[1])[0, 1]))
            assert one.low == pytest.approx(float(np.quantile(loop, 0.025)))
            assert one.high == pytest.approx(float(np.quantile(loop, 0.975)))
            assert one == found[b, a]


def test_a_metric_with_itself_is_1_without_width() -> None:
    values = np.random.default_rng(1).normal(size=(6, 4, 1))
    one = rank_correlations(Bootstrap(6, resamples=50), values)[0, 0]
    assert [one.mean, one.low, one.high] == pytest.approx([1, 1, 1])


def test_what_cannot_be_ranked_is_undefined() -> None:
    values = np.array([[[1.0, 5.0, 1.0], [2.0, 5.0, NAN], [3.0, 5.0, 2.0]]])
    found = rank_correlations(Bootstrap(1, resamples=10), values)
    assert found[0, 1].mean is None  # all tie on the second metric
    assert found[1, 1].mean is None
    assert found[0, 2].mean is None  # two models have both
    assert found[0, 0].mean == pytest.approx(1)
    two = rank_correlations(Bootstrap(1, resamples=10), values[:, :2])
    assert all(one.mean is None for one in two.values())


def test_a_pair_is_correlated_over_the_models_that_have_both() -> None:
    values = np.array([[[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, NAN]]])
    found = rank_correlations(Bootstrap(1, resamples=10), values)
    # ranks 1 2 3 and 1 3 2: Σd² = 2, ρ = 1 - 6·2/(3·8) = .5
    assert found[0, 1].mean == pytest.approx(0.5)
    assert found[0, 1].n == 3
    assert found[0, 0].n == 4


@settings(max_examples=25, deadline=None)
@given(hnp.arrays(np.float64, st.just((5, 4, 2)), elements=st.integers(0, 9)), st.permutations(range(4)))
def test_the_order_of_models_and_any_rising_scale_do_not_matter(values: Array, order: list[int]) -> None:
    kernel = Bootstrap(5, resamples=40)
    found = rank_correlations(kernel, values)[0, 1]
    moved = rank_correlations(kernel, values[:, order] * 3 + 1)[0, 1]
    assert moved.mean == pytest.approx(found.mean)
    assert moved.low == pytest.approx(found.low, abs=1e-9)
