"""The sign-flip test: by hand, against SciPy's permutation test, and what it must hold for any data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from attune_env.statistics import Bootstrap, sign_flip
from attune_env.statistics.sign_flip import EXACT

NAN = math.nan


def kernel(rows: int, clusters: list[int] | None = None) -> Bootstrap:
    return Bootstrap(rows, clusters, resamples=10)


def test_three_differences_by_hand() -> None:
    # |±1 ±2 ±3| over the 8 patterns: 6, 0, 2, 4 and their mirrors. Only all plus and all minus reach 6: 2/8
    p = sign_flip(kernel(3), np.array([[1.0], [2.0], [3.0]]))
    assert p.tolist() == [2 / 8]
    # 1 + 2 - 3 = 0: every pattern reaches 0
    assert sign_flip(kernel(3), np.array([[1.0], [2.0], [-3.0]])).tolist() == [1.0]
    # 3 + 2 - 1 = 4: 4 and 6 and their mirrors, 4/8
    assert sign_flip(kernel(3), np.array([[-1.0], [2.0], [3.0]])).tolist() == [4 / 8]


def test_rows_of_a_participant_flip_together() -> None:
    # sums by participant 1 + 2 = 3 and 4: |±3 ±4| = 7, 1, 1, 7: 2 of 4. By rows it would be 2 of 8
    values = np.array([[1.0], [4.0], [2.0]])
    p = sign_flip(kernel(3, [7, 8, 7]), values)
    assert p.tolist() == [2 / 4]
    assert sign_flip(kernel(3), values).tolist() == [2 / 8]


def test_what_is_undefined_has_no_p_and_zeros_have_p_1() -> None:
    values = np.array([[NAN, 0.0, 1.0], [NAN, 0.0, NAN]])
    p = sign_flip(kernel(2), values)
    assert np.isnan(p[0])
    # of the last column one row is defined: +1 and -1 both reach 1
    assert p[1:].tolist() == [1.0, 1.0]


def test_all_patterns_are_those_of_scipys_exact_test() -> None:
    values = np.random.default_rng(3).normal(0.4, 1, (9, 4))
    p = sign_flip(kernel(9), values)
    for column in range(4):
        wanted = permutation_test(
            (values[:, column],), np.mean, permutation_type="samples", n_resamples=1000
        ).pvalue
        assert p[column] == pytest.approx(float(wanted), abs=1e-12)


def test_drawn_patterns_come_near_scipys() -> None:
    values = np.random.default_rng(4).normal(0.25, 1, (40, 1))
    p = sign_flip(kernel(40), values, draws=20_000, seed=1)
    wanted = permutation_test(
        (values[:, 0],), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(2)
    ).pvalue
    # two binomial shares of 20,000: sd of their difference at most √(2 · .25/20,000) = .005; 4 sd
    assert p[0] == pytest.approx(float(wanted), abs=0.02)


def test_a_p_is_never_0_and_never_below_one_in_b_plus_1() -> None:
    p = sign_flip(kernel(60), np.ones((60, 1)), draws=999)
    assert p.tolist() == [1 / 1000]  # 2 of 2^60 patterns reach it: none is drawn


def test_the_borderline_between_all_and_drawn_patterns() -> None:
    for units, least in ((EXACT, 2 / 2**EXACT), (EXACT + 1, 1 / 6)):
        assert sign_flip(kernel(units), np.ones((units, 1)), draws=5).tolist() == [least]


@settings(max_examples=40)
@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_sign_and_order_of_the_rows_do_not_matter(differences: list[int], owners: list[int]) -> None:
    rows = len(differences)
    values = np.array(differences, dtype=np.float64)[:, None]
    clusters = owners[:rows]
    order = np.random.default_rng(rows).permutation(rows)
    p = sign_flip(kernel(rows, clusters), values)[0]
    assert sign_flip(kernel(rows, clusters), -values)[0] == p
    moved = sign_flip(kernel(rows, [clusters[i] for i in order]), values[order])[0]
    assert moved == p
    # rounding of sums such as .1 + .2 breaks no tie
    assert sign_flip(kernel(rows, clusters), values * 0.1)[0] == p
