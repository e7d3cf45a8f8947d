"""Win rates: by hand, ties, gaps, and both sides of a pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attune_env.statistics import Bootstrap, Interval, win_rates
from attune_rewards.bootstrap import Array

NAN = math.nan


def test_four_conversations_by_hand() -> None:
    # A wins, A wins, tie, A loses: (1 + 1 + ½ + 0)/4 = .625; in the fifth B has no τ
    values = np.array([[1.0, 0.3], [0.5, -1.0], [0.2, 0.2], [-0.3, 0.0], [1.0, NAN]])
    (nothing, over), (under, _) = win_rates(Bootstrap(5, resamples=400), values)
    assert nothing is None
    assert over is not None
    assert under is not None
    assert (over.mean, over.n, over.units) == (0.625, 4, 4)
    assert (under.mean, under.n) == (0.375, 4)
    assert (under.low, under.high) == (1 - (over.high or 0), 1 - (over.low or 0))
    assert over.low is not None
    assert 0 <= over.low < 0.625


def test_rounding_is_a_tie_and_what_is_not_shared_undefined() -> None:
    values = np.array([[0.1 + 0.2, 0.3, NAN], [NAN, NAN, 1.0]])
    table = win_rates(Bootstrap(2, resamples=20), values)
    assert table[0][1] is not None
    assert table[0][1].mean == 0.5
    assert table[0][2] == table[2][0] == Interval()
    assert win_rates(Bootstrap(2, resamples=20), np.ones((2, 1))) == [[None]]


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 8), st.just(3)), elements=st.integers(-2, 2) | st.just(NAN)
    )
)
def test_both_sides_add_up_to_one_and_intervals_are_the_kernels(values: Array) -> None:
    kernel = Bootstrap(len(values), resamples=30)
    table = win_rates(kernel, values)
    for a in range(3):
        for b in range(3):
            one, other = table[a][b], table[b][a]
            if a == b:
                assert one is None
                continue
            assert one is not None
            assert other is not None
            difference = values[:, [a]] - values[:, [b]]
            (alone,) = kernel.intervals((np.sign(difference) + 1) / 2)
            assert one.n == alone.n
            if one.mean is not None and other.mean is not None:
                assert one.mean + other.mean == pytest.approx(1)
                assert one.low == pytest.approx(alone.low)
                assert one.high == pytest.approx(alone.high)
