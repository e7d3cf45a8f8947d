"""The weighted statistics: by hand, and against SciPy and scikit-learn on rows repeated by weight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import recall_score

from attune_env.profile.measures import Measure, balanced_accuracy, mean, share, spearman

ROWS = 7
NUMBERS = st.lists(st.integers(0, 4), min_size=ROWS, max_size=ROWS)
WEIGHTS = st.lists(st.integers(0, 3), min_size=ROWS, max_size=ROWS).filter(any)


def at(measure: Measure, *weights: float) -> float:
    (found,) = measure(np.array([weights], dtype=np.float64))
    return float(found)


def test_by_hand() -> None:
    assert at(mean([1, 0, 0]), 1, 1, 2) == 0.25
    assert at(share([1, 1, 0], [1, 0, 1]), 1, 3, 9) == 0.25  # of the first two rows 1 of 4
    assert np.isnan(at(share([1, 0, 0], [1, 1, 1]), 0, 1, 1))
    # a: 1 of 2, b: 1 of 1
    assert at(balanced_accuracy("aab", [1, 0, 1]), 1, 1, 1) == 0.75
    # a: 1 of 4, b: 1 of 2
    assert at(balanced_accuracy("aabb", [1, 0, 1, 0]), 1, 3, 1, 1) == 0.375
    assert np.isnan(at(balanced_accuracy("aab", [1, 1, 1]), 1, 1, 0))  # one class is drawn
    # ranks 1 2 3 against 1 3 2: 1 - 6·(0 + 1 + 1)/(3·8) = 0.5
    assert at(spearman([10, 20, 30], [1, 9, 4]), 1, 1, 1) == pytest.approx(0.5)
    assert at(spearman([10, 20, 30], [5, 5, 5]), 1, 1, 1) == 0.0  # ranks nobody
    assert np.isnan(at(spearman([5, 5, 5], [1, 2, 3]), 1, 1, 1))


@settings(max_examples=60, deadline=None)
@given(NUMBERS, NUMBERS, WEIGHTS)
def test_weights_are_repetitions(truth: list[int], guesses: list[int], weights: list[int]) -> None:
    x, y = np.repeat(truth, weights), np.repeat(guesses, weights)
    got = at(spearman(truth, guesses), *weights)
    if len(set(x)) < 2:
        assert np.isnan(got)
    elif len(set(y)) < 2:
        assert got == 0.0
    else:
        assert got == pytest.approx(spearmanr(x, y).statistic, abs=1e-9)
    balanced = at(balanced_accuracy(truth, np.equal(truth, guesses)), *weights)
    if len(set(x)) < 2:
        assert np.isnan(balanced)
    else:
        want = recall_score(x, y, labels=sorted(set(x)), average="macro", zero_division=0)
        assert balanced == pytest.approx(want)


def test_draws_are_measured_side_by_side() -> None:
    both = spearman([1, 2, 3, 4], [1, 3, 2, 4])(np.array([[1, 1, 1, 1], [1, 0, 1, 1]], dtype=np.float64))
    assert both == pytest.approx([0.8, 1.0])  # 1 - 6·2/(4·15); 1 2 3 against 1 2 3
