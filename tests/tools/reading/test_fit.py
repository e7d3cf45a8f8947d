"""Logistic regression, quality and weights, by hand and by their own definitions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from attune_data import load
from attune_env.ladder.regression import regression
from attune_rewards.metrics.draft import ALL_NO, READ
from attune_rewards.reading import reader
from attune_rewards.reading.fitted import WEIGHTS, FittedReader
from tools.reading.examples import examples
from tools.reading.fit import (
    LEAST,
    RARER,
    STRENGTH,
    balanced,
    common_features,
    fit,
    matrix,
    rewarded,
    rows_of,
)
from tools.reading.measure import mean, measured, quality, table

DEV = list(examples(load("written", split="dev")))


def test_a_regression_without_features_finds_the_share() -> None:
    yes = np.array([True, True, True, False])
    (intercept,) = regression(sparse.csr_matrix((4, 0)), yes, np.ones(4), 1.0)
    assert 1 / (1 + np.exp(-intercept)) == pytest.approx(0.75, abs=1e-4)
    (intercept,) = regression(sparse.csr_matrix((4, 0)), yes, balanced(yes), 1.0)
    assert intercept == pytest.approx((1 - RARER) * np.log(3), abs=1e-4)  # ln 3 unweighted, 0 if balanced


def test_quality_by_hand() -> None:
    yes, no = np.array([True, False, True, False]), np.array([False] * 4)
    # one of two read is a yes, one of two yes is read; F1 of both .5
    assert quality(np.array([True, True, False, False]), yes) == (4, 2, 0.5, 0.5, 0.5, 0.5)
    assert np.isnan(quality(no, no).recall)
    found = {"B1": quality(yes, yes), "B2": quality(no, no)}
    text = table({**found, "mean": mean(found)})
    assert "| B2 | 4 | 0 | – | – | – | – |" in text
    assert text.endswith("| mean | 4 | 2 | 1.00 | 1.00 | 1.00 | 1.00 |\n")


def test_weights_survive_their_text() -> None:
    text = WEIGHTS.read_text("utf-8")
    shipped = FittedReader.shipped()
    assert shipped.to_text() == text
    assert len(text.encode()) < 500_000
    assert shipped.questions == READ


def test_the_reader_and_the_fit_make_the_same_logits() -> None:
    rows = rows_of(DEV[:60])
    names = common_features(rows)
    design = matrix(rows, names)
    yes = np.arange(len(rows)) % 3 == 0
    weights = regression(design, yes, balanced(yes), STRENGTH)
    made = FittedReader(names, {"B1": weights})
    want = design @ weights[:-1] + weights[-1]
    assert [made.logits(row.own)[0] for row in rows] == pytest.approx(want, abs=1e-4)


def test_only_what_is_read_well_out_of_fold_is_kept() -> None:
    said: list[str] = []
    made = fit(rows_of(examples(load("sample"))), said.append)
    assert {"B1", "B13"} <= made.questions
    shares = {line.split(":")[0]: float(line.split()[3]) for line in said}
    assert made.questions == {question for question, share in shares.items() if share >= LEAST}


def test_the_shipped_questions_are_those_that_are_read_well_on_train() -> None:
    assert fit(rows_of(examples(load("written:train"))), lambda _: None).questions == READ


def test_the_shipped_questions_are_read_about_as_well_on_dev() -> None:
    found = measured("dev", reader())
    assert found.keys() == READ
    assert mean(found).balanced >= LEAST


def test_the_baseline_of_the_draft_reward_is_the_share_of_no() -> None:
    document = json.loads(rewarded(sorted(READ), examples(load("written", split="train"))))
    assert document == {"questions": sorted(READ), "all_no": ALL_NO}
    first = rewarded(["B13"], DEV[:1])
    assert json.loads(first)["all_no"] == (DEV[0].wanted["B13"] == "no")
