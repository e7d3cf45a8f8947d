"""Pairs of models: Holm by hand, paired differences, and what must hold for any data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attune_env.statistics import Bootstrap, compare, separation
from attune_env.statistics.comparisons import holm
from attune_rewards.bootstrap import Array

NAN = math.nan
SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 9), st.integers(2, 4)), elements=st.integers(0, 8) | st.just(NAN)
)


def test_holm_by_hand() -> None:
    # sorted .01 .02 .03 .04, times 4 3 2 1: .04 .06 .06 .04; the maximum so far: .04 .06 .06 .06
    found = holm(np.array([0.03, 0.01, 0.04, 0.02]))
    assert found.tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    # 2 · .9 is more than 1; an undefined p is no test: two tests here
    assert holm(np.array([0.9, NAN, 0.95])).tolist() == pytest.approx([1.0, NAN, 1.0], nan_ok=True)
    assert holm(np.array([])).tolist() == []


@given(hnp.arrays(np.float64, st.integers(0, 12), elements=st.floats(0.0001, 1)))
def test_holm_keeps_the_order_and_only_raises(p: Array) -> None:
    found = holm(p)
    assert (found >= p).all()
    assert (found <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    # never beyond Bonferroni
    assert (found <= np.minimum(1, p * len(p)) + 1e-12).all()


def test_a_pair_by_hand() -> None:
    # differences .1 .2 .3 .4 .5 .6: mean .35; of the 2^6 patterns only two reach the sum 2.1
    first = np.array([0.9, 0.8, 0.7, 0.6, 0.7, 0.9])
    second = first - np.arange(1, 7) / 10
    (found,) = compare(Bootstrap(6, resamples=2000), np.column_stack([first, second]))
    assert (found.first, found.second) == (0, 1)
    assert found.difference.mean == pytest.approx(0.35)
    assert (found.difference.n, found.difference.units) == (6, 6)
    assert found.p == pytest.approx(2 / 64)
    assert found.p_holm == pytest.approx(2 / 64)
    assert found.separated
    assert found.separated_holm
    assert separation([found]).pairs == separation([found]).by_interval == separation([found]).by_holm == 1


def test_pairs_are_compared_on_the_rows_that_both_have() -> None:
    values = np.array([[1.0, 0.0, NAN], [1.0, NAN, NAN], [5.0, 0.0, NAN], [NAN, 9.0, NAN]])
    one, two, three = compare(Bootstrap(4, resamples=200), values)
    assert (one.difference.mean, one.difference.n) == (3.0, 2)  # (1 + 5)/2 - 0
    assert two.difference.mean is three.difference.mean is None
    assert two.p is two.p_holm is None
    assert separation([one, two, three]).pairs == 1
    assert not two.separated
    assert not two.separated_holm


def test_an_interval_without_meaning_separates_nothing() -> None:
    (found,) = compare(Bootstrap(3, resamples=200), np.array([[2.0, 1.0]] * 3))
    assert found.difference.low == 1.0
    assert not found.separated
    assert found.p == 2 / 8  # +++ and --- of 8


def test_one_model_has_no_pairs() -> None:
    assert compare(Bootstrap(3, resamples=10), np.ones((3, 1))) == ()
    assert separation(()) == separation(compare(Bootstrap(3, resamples=10), np.ones((3, 1))))


@settings(max_examples=30, deadline=None)
@given(SCORES)
def test_the_other_way_round_is_the_negative(values: Array) -> None:
    kernel = Bootstrap(len(values), resamples=50, seed=1)
    back = {(one.second, one.first): one for one in compare(kernel, values[:, ::-1], draws=60)}
    last = values.shape[1] - 1
    for one in compare(kernel, values, draws=60):
        other = back[last - one.first, last - one.second]
        assert other.p == one.p
        assert other.p_holm == one.p_holm
        assert other.separated == one.separated
        if one.difference.mean is not None:
            assert other.difference.mean == pytest.approx(-one.difference.mean)
            assert other.difference.low == pytest.approx(-(one.difference.high or 0), abs=1e-9)


def test_of_equal_models_about_one_in_twenty_is_separated_and_holm_keeps_the_family_at_that() -> None:
    values = np.random.default_rng(11).normal(0, 1, (50, 5, 200))  # 200 metrics, five equal models
    kernel = Bootstrap(50, resamples=600)
    found = [compare(kernel, values[:, :, metric], draws=600) for metric in range(200)]
    share = sum(one.separated for metric in found for one in metric) / 2000
    # 10 dependent pairs a metric: sd of the share at most √(.05 · .95/200) = .015; intervals of 50 rows are a
    # little narrow, so somewhat above .05
    assert 0.03 < share < 0.11
    # sd of a share of 200 families √(.05 · .95/200) = .015
    assert sum(separation(metric).by_holm > 0 for metric in found) / 200 < 0.11
