"""Logistic regression, calibration, quality and weights, by hand and by their own definitions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from attune_data import load
from attune_episodes.reading import reader
from attune_episodes.reading.examples import examples
from attune_episodes.reading.fit import (
    Design,
    best_cut,
    common_pairs,
    fit,
    for_fitted,
    logits,
    out_of_fold,
    paid_text,
    rows_of,
)
from attune_episodes.reading.fitted import WEIGHTS, FittedReader, Weights, squash
from attune_episodes.reading.logistic import balanced, fitted, platt, quality
from attune_rewards.draft import ALL_NO, READ

DEV = list(examples(load("written", split="dev")))
ROWS = rows_of(DEV)


def test_a_regression_without_features_finds_the_share() -> None:
    yes = np.array([True, True, True, False])
    beta = fitted(sparse.csr_matrix((4, 1)), yes, np.ones(4), 1.0)
    assert squash(beta[-1:]) == pytest.approx([0.75], abs=1e-4)
    assert squash(fitted(sparse.csr_matrix((4, 1)), yes, balanced(yes), 1.0)[-1:]) == pytest.approx(
        [0.5], abs=1e-4
    )


def test_platt_finds_the_slope_that_made_the_answers() -> None:
    draws = np.random.default_rng(1)
    values = draws.normal(size=20_000)
    yes = draws.random(20_000) < squash(0.5 * values - 1)
    assert platt(values, yes) == pytest.approx((0.5, -1.0), abs=0.06)


def test_quality_by_hand() -> None:
    p = np.array([0.9, 0.8, 0.3, 0.2])
    found = quality(p, p > 0.5, np.array([True, False, True, False]))
    # one of two read is a yes, one of two yes is read; F1 of both .5; ranked right: .9>.8, .9>.2, .3>.2
    assert found[:7] == (4, 2, 0.5, 0.5, 0.5, 0.75, 0.5)
    assert found.brier == pytest.approx((0.01 + 0.64 + 0.49 + 0.04) / 4)
    assert found.error == pytest.approx((0.1 + 0.8 + 0.7 + 0.2) / 4)  # each in a bin of its own
    none = quality(p, p > 2, np.array([False] * 4))
    assert np.isnan(none.recall)
    assert np.isnan(none.area)


def test_the_cut_is_the_one_of_the_highest_f1_and_else_a_half() -> None:
    yes = np.array([True, True, False, False])
    assert best_cut(np.array([0.9, 0.8, 0.2, 0.1]), yes) == pytest.approx(0.5)
    assert 0.29 < best_cut(np.array([0.4, 0.35, 0.29, 0.1]), yes) < 0.35


def test_weights_survive_their_text() -> None:
    text = (WEIGHTS / "fitted.json").read_text("utf-8")
    weights = Weights.of_text(text)
    assert weights.to_text() == text
    assert len(text.encode()) < 2_000_000
    assert set(weights.paid) == READ == FittedReader.shipped("fitted").questions
    assert 0 < ALL_NO < 1


def test_the_reader_and_the_design_make_the_same_logits() -> None:
    design, values = fit(ROWS, ROWS, ["B1", "B13"])
    cuts = {"B1": 0.5, "B13": 0.5}
    made = FittedReader(
        "x", Weights(design.names, design.words, ["B1", "B13"], values.astype(np.float32), cuts, [])
    )
    for row, want in zip(ROWS, logits(design, values, ROWS), strict=True):
        assert made.logits(row.example.exchange) == pytest.approx(want, abs=1e-3)
    assert Design(ROWS).names == design.names


def test_nobody_is_read_by_a_fold_that_was_fitted_on_them() -> None:
    first = min(one.participant for one in DEV)
    alone = [row for row in ROWS if row.example.participant == first]
    assert np.isnan(out_of_fold(alone, ROWS, ["B1"])).all()  # all in one fold: nobody else is left


def test_the_held_out_reader_is_fitted_on_other_people() -> None:
    mine, others = ({one.participant for one in DEV if for_fitted(one) is side} for side in (True, False))
    assert mine
    assert others
    assert mine.isdisjoint(others)
    assert reader("held_out").questions


def test_the_baseline_of_the_draft_reward_is_the_share_of_no() -> None:
    document = json.loads(paid_text(reader("fitted"), DEV))  # type: ignore[arg-type]
    shares = []
    for one in DEV:
        wants = [want for question, want in one.wanted.items() if question in READ]
        shares += [wants.count("no") / len(wants)] if wants else []
    assert document["all_no"] == pytest.approx(sum(shares) / len(shares), abs=1e-4)


def test_common_pairs_stand_in_several_sentences() -> None:
    lines = common_pairs(DEV).splitlines()
    assert "of the" in lines
    assert lines == sorted(lines)
