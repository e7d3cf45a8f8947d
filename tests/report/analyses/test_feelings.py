"""Feelings, PANAS and branches on a record of two turns whose numbers fit on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversations
from attune_env.report.analyses import Study
from attune_env.report.analyses.feelings import FEELINGS, FOUR_BRANCHES, PANAS
from tests.report.analyses.made import MODEL, first, mean, row, rows, study_of, tables
from tests.report.analyses.two_turns import said


def test_feelings_are_paired_by_the_engine_and_errors_are_predicted_minus_felt(study: Study) -> None:
    found = tables(FEELINGS, study)
    one = row(found["feelings_by_model"], model=MODEL)
    # Upset-Upset (0, 0) and Guilty-Excited (0.80 - 0.15, 0.85 - 0.60): means 0.325 and 0.125
    assert mean(one["valence_error"]) == pytest.approx(0.325)
    assert mean(one["arousal_error"]) == pytest.approx(0.125)
    assert mean(one["distance"]) == pytest.approx((0.65**2 + 0.25**2) ** 0.5 / 2)
    assert (one["pairs"], one["same_item"], one["missed"]) == (2, 0.5, 0.0)
    # one name nobody felt in two answered turns, and it is outside the 20
    assert (one["invented_per_turn"], one["other_names"]) == (0.5, 1)
    confusion = found["feelings_confusion"]
    assert row(confusion, model=MODEL, felt="Guilty")["read_as"] == "Excited"
    assert row(confusion, model=MODEL, felt="(invented)")["read_as"] == "(another name)"
    assert row(found["feelings_by_item"], felt="Guilty")["read_as"] == "Excited"


def test_branch_errors_leave_missing_predictions_out(study: Study) -> None:
    table = first(FOUR_BRANCHES, study)
    errors = {r["branch"]: (mean(r["signed_error"]), mean(r["absolute_error"])) for r in rows(table)}
    # rated 7, 5, 2, 1; said 5, 5, 4 and nothing
    assert errors == {"perceiving": (-2.0, 2.0), "facilitating": (0.0, 0.0), "understanding": (2.0, 2.0)}
    assert row(table, branch="perceiving")["midpoint_mae"] == 3.0  # |7 - 4|


def test_panas_gain_is_the_error_of_no_change_minus_the_models(talk: Any, tmp_path: Path) -> None:
    record = said(talk)
    record["post_conversation"]["predicted_post_panas"]["items"] |= {"Proud": 6, "Upset": 3}
    found = tables(PANAS, study_of(tmp_path, Conversations([talk]), [record]))
    # positive items go 3 -> 4, negative ones 4 -> 2
    proud, upset = (row(found["panas_items"], item=name) for name in ("Proud", "Upset"))
    assert [mean(proud[k]) for k in ("predicted_change", "real_change", "absolute_error")] == [3.0, 1.0, 2.0]
    assert mean(proud["gain"]) == 1 - 2
    assert mean(upset["gain"]) == 2 - 1
    one = row(found["panas_items_by_model"], model=MODEL)
    assert mean(one["absolute_error"]) == (2 + 1) / 20
    assert mean(one["error_of_no_change"]) == (10 * 1 + 10 * 2) / 20
