"""Subgroup contrasts: by hand, against SciPy's permutation test, units that stay together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import permutation_test

from attune_env.statistics import Bootstrap, contrasts
from attune_rewards.bootstrap import Array

NAN = math.nan


def test_a_contrast_by_hand() -> None:
    # inside (1 + 3)/2 = 2, outside (5 + NaN + 9)/2 = 7: -5, on four values
    values = np.array([[1.0], [5.0], [3.0], [NAN], [9.0]])
    (found,) = contrasts(Bootstrap(5, resamples=500), values, [1, 0, 1, 0, 0])
    assert (found.inside.mean, found.inside.n) == (2.0, 2)
    assert (found.outside.mean, found.outside.n) == (7.0, 2)
    assert (found.difference.mean, found.difference.n, found.difference.units) == (-5.0, 4, 4)
    assert found.difference.high is not None
    # resamples: inside between 1 and 3, outside between 5 and 9
    assert (found.difference.low, found.difference.high) == (-8.0, -2.0)


def test_p_comes_near_all_permutations() -> None:
    # 3 of 6 labels, 20 ways: only this one and its mirror reach |(4+5+6)/3 - (1+2+3)/3| = 3: p = 2/20;
    # (1 + b)/(1 + B) of 20,000: sd √(.1·.9/20,000) = .002
    values = np.arange(1.0, 7)[:, None]
    (found,) = contrasts(Bootstrap(6, resamples=20), values, values[:, 0] > 3, draws=20_000)
    assert found.p == pytest.approx(0.1, abs=0.01)


def test_p_comes_near_scipys() -> None:
    generator = np.random.default_rng(8)
    values = generator.normal(0, 1, (40, 1))
    labels = np.arange(40) < 15
    values[labels] += 0.5
    (found,) = contrasts(Bootstrap(40, resamples=20), values, labels, draws=20_000)
    wanted = permutation_test(
        (values[labels, 0], values[~labels, 0]),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).pvalue
    # two shares of 20,000, sd of their difference at most .005; SciPy doubles the smaller tail, which lies
    # near the two-sided share as both sides are bell-shaped
    assert found.p == pytest.approx(float(wanted), abs=0.03)


def test_a_participants_conversations_move_together() -> None:
    # two participants of three conversations each keep their labels or swap them: every |difference| is 6
    values = np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]])
    labels = [0, 0, 0, 1, 1, 1]
    (people,) = contrasts(Bootstrap(6, list("aaabbb"), resamples=200), values, labels, draws=500)
    assert people.p == 1.0
    assert (people.difference.mean, people.difference.units) == (6.0, 2)
    # drawn together a resample holds both or one: where one side is empty there is no difference
    assert (people.difference.low, people.difference.high) == (6.0, 6.0)
    (rows,) = contrasts(Bootstrap(6, resamples=200), values, labels, draws=500)
    assert rows.p is not None
    assert rows.p < 0.3  # 2 of 20


def test_labels_that_differ_within_a_participant_are_permuted_among_rows() -> None:
    values = np.array([[1.0], [2.0], [3.0], [9.0]])
    (found,) = contrasts(Bootstrap(4, list("aabb"), resamples=50), values, [1, 0, 1, 0])
    assert found.difference.mean == -3.5  # 2 - 5.5
    assert found.difference.units == 2


def test_who_said_nothing_is_on_neither_side() -> None:
    values = np.array([[1.0], [100.0], [2.0], [3.0]])
    kernel = Bootstrap(4, resamples=50)
    (found,) = contrasts(kernel, values, [1, 0, 1, 0], [0, 0, 0, 1])
    assert (found.difference.mean, found.outside.n, found.difference.n) == (-1.5, 1, 3)
    with pytest.raises(ValueError, match="inside and outside"):
        contrasts(kernel, values, [1, 0, 1, 0], [1, 0, 0, 1])


def test_an_empty_side_leaves_the_difference_undefined() -> None:
    values = np.array([[1.0, NAN], [2.0, 3.0]])
    one, two = contrasts(Bootstrap(2, resamples=20), values, [1, 0])
    assert one.difference.mean == -1.0
    assert (two.inside.mean, two.difference.mean, two.p, two.outside.mean) == (None, None, None, 3.0)
    (nobody,) = contrasts(Bootstrap(2, resamples=20), values[:, :1], [0, 0])
    assert nobody.difference.mean is nobody.p is None


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.just(8), st.just(3)), elements=st.integers(0, 5) | st.just(NAN)),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_the_other_side_is_the_negative_and_columns_stand_alone(values: Array, labels: list[bool]) -> None:
    kernel = Bootstrap(8, [i // 2 for i in range(8)], resamples=40)
    inside = np.repeat(labels, 2)
    found = contrasts(kernel, values, inside, draws=50)
    for one, other in zip(found, contrasts(kernel, values, ~inside, draws=50), strict=True):
        if one.difference.mean is not None:
            assert other.difference.mean == pytest.approx(-one.difference.mean)
            assert other.difference.low == pytest.approx(-(one.difference.high or 0), abs=1e-9)
        assert (one.p is None) == (other.p is None) == (one.difference.mean is None)
    means = kernel.means(np.where(inside[:, None], values, NAN))
    means -= kernel.means(np.where(inside[:, None], NAN, values))
    for one, draws in zip(found, means, strict=True):
        if one.difference.mean is not None:
            assert one.difference.low == pytest.approx(float(np.nanquantile(draws, 0.025)), nan_ok=True)
