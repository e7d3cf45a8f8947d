"""Yes/no questions and comparisons on a record of two turns whose numbers fit on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversations
from attune_env.report.analyses import Study
from attune_env.report.analyses.agreement import BIAS, BINARY, CHOICES
from tests.report.analyses.made import MODEL, first, mean, row, study_of, tables
from tests.report.analyses.two_turns import said

OM, HP = "did it (OM)", "wanted it (HP)"


def test_agreement_counts_a_missing_answer_as_no_in_the_canonical_variant(study: Study) -> None:
    found = tables(BINARY, study)
    by_model = found["binary_questions_by_model"]
    assert mean(row(by_model, id="B1", asked_about=OM)["agreement"]) == 1 / 2  # yes right, no wrong
    assert mean(row(by_model, id="B1", asked_about=HP)["agreement"]) == 1 / 2  # yes wrong, silence is no
    assert mean(row(by_model, id="B19", asked_about=HP)["agreement"]) == 1 / 2  # silence is no, yes right
    assert row(by_model, id="B19", asked_about=HP)["answered"] == 0.5
    assert by_model.column("id") == ["B1", "B1", "B19"]  # nobody knows if B19 was done
    pooled = row(found["binary_questions"], id="B1", asked_about=HP)
    assert (pooled["truths"], pooled["true_yes_share"], pooled["majority"]) == (2, 0.0, 1.0)
    assert pooled["over_majority"] == pytest.approx(-0.5)
    both = row(found["binary_answers"], asked_about=HP)
    assert mean(both["agreement"]) == mean(both["says_yes"]) == 2 / 4


def test_agreement_counts_a_missing_answer_as_wrong_in_the_strict_variant(talk: Any, tmp_path: Path) -> None:
    strict = study_of(tmp_path, Conversations([talk]), [said(talk)], scoring="strict")
    by_model = tables(BINARY, strict)["binary_questions_by_model"]
    assert mean(row(by_model, id="B1", asked_about=HP)["agreement"]) == 0.0  # yes wrong, silence wrong


def test_pooled_measures_are_those_of_the_scores_file(study: Study) -> None:
    one = row(tables(BINARY, study)["binary_answers"], asked_about=OM)
    # B1 is yes in both turns; said yes and no: one true positive, one false negative
    assert (one["precision"], one["recall"]) == (1.0, 0.5)
    assert one["f1"] == pytest.approx(2 / 3)


def test_preference_is_by_question(study: Study) -> None:
    by_model = tables(CHOICES, study)["preference_questions_by_model"]
    assert mean(row(by_model, id="general")["accuracy"]) == 1 / 2  # A right, B wrong
    assert mean(row(by_model, id="PW4")["accuracy"]) == 1.0


def test_biases_are_against_what_the_person_chose(study: Study) -> None:
    one = row(first(BIAS, study), model=MODEL)
    # general is shown swapped: B stands first. Picks A, B and twice PW4's B (second): 1 of 4 is the first
    assert mean(one["picks_first"]) == 1 / 4
    assert mean(one["person_first"]) == 0 / 4  # winners: general A (second), PW4 B (second)
    assert mean(one["position_bias"]) == 1 / 4
    # original has 28 characters, alternate 35, human 9: picks original, alternate, original twice
    assert mean(one["picks_longer"]) == 3 / 4
    assert mean(one["person_longer"]) == 2 / 4
    assert mean(one["length_bias"]) == pytest.approx(1 / 4)


def test_files_of_the_official_runner_have_no_position_bias(talk: Any, tmp_path: Path) -> None:
    record = said(talk)
    for part in (record, record["post_conversation"], *record["turns"]):
        del part["attune"]
    table = first(BIAS, study_of(tmp_path, Conversations([talk]), [record]))
    one = row(table, model=MODEL)
    assert one["position_bias"] is None
    assert mean(one["length_bias"]) == pytest.approx(1 / 4)
    assert any("position bias is unknown" in note for note in table.notes)
