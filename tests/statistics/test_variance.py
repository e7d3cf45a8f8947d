"""The split of variance: by hand, against what was planted, and what it must hold for any data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attune_env.statistics import variance_split
from attune_rewards.bootstrap import Array

NAN = math.nan


def test_two_models_on_three_conversations_by_hand() -> None:
    # scores 1 3 / 4 4 / 4 8, mean 4; model means 3 and 5, conversation means 2, 4 and 6
    # SS_model = 3·(1 + 1) = 6; SS_conv = 2·(4 + 0 + 4) = 16; SS_total = 9 + 1 + 0 + 0 + 0 + 16 = 26; rest 4
    # MS 6/1 = 6, 16/2 = 8, 4/2 = 2; σ²_model = (6 - 2)/3 = 4/3, σ²_conv = (8 - 2)/2 = 3, σ²_rest = 2: 19/3
    found = variance_split(np.array([[1.0, 3.0], [4.0, 4.0], [4.0, 8.0]]))
    assert found is not None
    assert found.squares_model == pytest.approx(6 / 26)
    assert found.squares_conversation == pytest.approx(16 / 26)
    assert found.squares_rest == pytest.approx(4 / 26)
    assert found.variance == pytest.approx(19 / 3)
    assert found.model == pytest.approx(4 / 19)
    assert found.conversation == pytest.approx(9 / 19)
    assert found.rest == pytest.approx(6 / 19)
    assert (found.rows, found.dropped, found.models) == (3, 0, 2)


def test_incomplete_rows_are_dropped_and_counted() -> None:
    whole = np.array([[1.0, 3.0], [4.0, 4.0], [4.0, 8.0]])
    found = variance_split(np.vstack([whole, [[NAN, 100.0], [5.0, NAN]]]))
    assert found is not None
    assert (found.rows, found.dropped) == (3, 2)
    assert found.model == getattr(variance_split(whole), "model", None)


@pytest.mark.parametrize(
    "values",
    [np.ones((1, 3)), np.ones((4, 1)), np.full((4, 3), 0.1), np.full((4, 3), NAN), np.ones((0, 2))],
)
def test_what_cannot_be_split_is_undefined(values: Array) -> None:
    assert variance_split(values) is None


def test_a_component_that_comes_out_negative_is_0() -> None:
    # models alike, conversations alike, everything in the interaction: MS_model = MS_conv = 0 < MS_rest
    found = variance_split(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert found is not None
    assert (found.model, found.conversation, found.rest) == (0, 0, 1)


def test_planted_components_come_out() -> None:
    generator = np.random.default_rng(5)
    # variances 1, 4 and 9 of 14. With 60 models the largest relative sd is that of σ²_model, √(2/59) = .18,
    # of its share 1/14 about .013; of the others' less than .03
    values = (
        generator.normal(0, 1, (1, 60))
        + generator.normal(0, 2, (2000, 1))
        + generator.normal(0, 3, (2000, 60))
    )
    found = variance_split(values)
    assert found is not None
    assert found.model == pytest.approx(1 / 14, abs=0.05)
    assert found.conversation == pytest.approx(4 / 14, abs=0.05)
    assert found.rest == pytest.approx(9 / 14, abs=0.05)
    # pure chance: one k-th of the squares falls to conversations, none of the components
    noise = variance_split(generator.normal(0, 1, (2000, 5)))
    assert noise is not None
    assert noise.squares_conversation == pytest.approx(1 / 5, abs=0.03)
    assert noise.conversation == pytest.approx(0, abs=0.05)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 5)), elements=st.integers(-9, 9)),
    st.integers(-50, 50),
)
def test_shares_add_up_and_do_not_depend_on_scale(values: Array, shift: int) -> None:
    found = variance_split(values)
    moved = variance_split(values[::-1, ::-1] * 3.0 + shift)
    if found is None:
        assert np.ptp(values) == 0
        assert moved is None
        return
    assert moved is not None
    shares = np.array([found.model, found.conversation, found.rest], dtype=float)
    squares = np.array([found.squares_model, found.squares_conversation, found.squares_rest], dtype=float)
    assert shares.sum() == pytest.approx(1)
    assert squares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert moved.model == pytest.approx(found.model, abs=1e-9)
    assert moved.squares_rest == pytest.approx(found.squares_rest, abs=1e-9)
