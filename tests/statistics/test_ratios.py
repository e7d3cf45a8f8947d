"""Intervals of ratios of sums."""

from __future__ import annotations

import numpy as np
import pytest

from attune_env.statistics.bootstrap import BLOCK, Bootstrap


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios() -> None:
    kernel = Bootstrap(3, resamples=200)
    # (1 + 3 + 0)/(2 + 4 + 0) = 4/6; the third conversation has nothing to add
    (found,) = kernel.ratios([[1], [3], [0]], [[2], [4], [0]])
    assert found.mean == pytest.approx(4 / 6)
    assert (found.n, found.units) == (6, 2)


def test_the_ends_are_the_quantiles_of_both_sums_drawn_together() -> None:
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


def test_resamples_without_a_denominator_take_no_part() -> None:
    kernel = Bootstrap(2, resamples=400)
    never, once = kernel.ratios([[0, 1], [0, 0]], [[0, 2], [0, 0]])
    assert (never.mean, never.low, never.n, never.units) == (None, None, 0, 0)
    # only the first conversation has answers: wherever it is drawn the ratio is 1/2
    assert (once.mean, once.low, once.high) == (0.5, 0.5, 0.5)
    assert not once.meaningful
