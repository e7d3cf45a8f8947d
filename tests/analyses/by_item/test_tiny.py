"""Two turns worked by hand: every analysis of single answers on a record whose numbers fit on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversations
from attune_env.analyses import Absent, Study
from attune_env.analyses.by_item.affect_items import panas_items
from attune_env.analyses.by_item.binary import binary_questions
from attune_env.analyses.by_item.feelings import feelings
from attune_env.analyses.by_item.four_branches import four_branches
from attune_env.analyses.by_item.preference import preference_bias, preference_questions
from attune_env.analyses.by_item.stance import wordings
from attune_env.analyses.items import items_of
from tests.analyses.by_item.build import MODEL, answers, drawn, made, mean, row, rows, study_of
from tests.data.builders import Json, conversation

EVERY = (
    feelings, binary_questions, preference_questions, preference_bias, four_branches, panas_items, wordings
)  # fmt: skip
OM, HP = "did it (OM)", "wanted it (HP)"


@pytest.fixture(scope="module")
def talk() -> Any:
    return conversation()


def said(talk: Any, model: str = MODEL) -> Json:
    """Answers with known errors: turn 1 felt Upset and Guilty, turn 2 nothing."""
    record = answers(talk, model)
    first, second = record["turns"]
    first["em_emotion_tags"] = [{"emotion": "Upset", "intensity": 5}, {"emotion": "Excited", "intensity": 2}]
    second["em_emotion_tags"] = [{"emotion": "Wistful", "intensity": 3}]
    # truths of each turn: OM B1 yes; HP B1 no, B19 yes
    first["em_binary_om_assessment"] = {"B1": "yes"}
    first["em_binary_human_prediction"] = {"B1": "yes"}
    second["em_binary_om_assessment"] = {"B1": "no", "B19": "yes"}
    second["em_binary_human_prediction"] = {"B19": "yes"}
    # winners of each turn: general A (original over alternate), PW4 B (original over human)
    for number, entry in enumerate(record["turns"]):
        entry["em_pairwise_selections"] = {"0": "AB"[number], "1": "B"}
        entry["attune"]["shown"] |= {"order": [1, 0], "swapped": [0]}
    wide = record["post_conversation"]["predicted_conversation_wide"]
    wide["fourBranchScores"] = {"perceiving": 5, "facilitating": 5, "understanding": 4}
    return record


@pytest.fixture(scope="module")
def study(talk: Any, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study_of(tmp_path_factory.mktemp("tiny"), Conversations([talk]), [said(talk)])


def test_feelings_are_paired_by_the_engine_and_errors_are_read_less_felt(study: Study) -> None:
    found = made(feelings(study))
    one = row(found, "feelings_by_model", model=MODEL)
    # Upset-Upset (0, 0) and Guilty-Excited (0.80 - 0.15, 0.85 - 0.60): means 0.325 and 0.125
    assert mean(one["valence_error"]) == pytest.approx(0.325)
    assert mean(one["arousal_error"]) == pytest.approx(0.125)
    assert mean(one["distance"]) == pytest.approx((0.65**2 + 0.25**2) ** 0.5 / 2)
    assert (one["pairs"], one["same_item"], one["missed"]) == (2, 0.5, 0.0)
    # one name nobody felt in two answered turns, and it is outside the 20
    assert (one["invented_per_turn"], one["other_names"]) == (0.5, 1)
    assert row(found, "feelings_confusion", felt="Guilty")["read_as"] == "Excited"
    assert row(found, "feelings_confusion", felt="(nobody felt it)")["read_as"] == "(a name outside the 20)"


def test_agreement_counts_a_missing_answer_as_no_in_the_canonical_reading(study: Study) -> None:
    found = made(binary_questions(study))
    table = "binary_questions_by_model"
    assert mean(row(found, table, id="B1", asked_about=OM)["agreement"]) == 1 / 2  # yes right, no wrong
    assert mean(row(found, table, id="B1", asked_about=HP)["agreement"]) == 1 / 2  # yes wrong, silence is no
    assert mean(row(found, table, id="B19", asked_about=HP)["agreement"]) == 1 / 2  # silence is no, yes right
    assert row(found, table, id="B19", asked_about=HP)["answered"] == 0.5
    assert [r["id"] for r in rows(found, table)] == ["B1", "B1", "B19"]  # nobody knows if B19 was done
    pooled = row(found, "binary_questions", id="B1", asked_about=HP)
    assert (pooled["truths"], pooled["true_yes_share"], pooled["majority"]) == (2, 0.0, 1.0)
    assert pooled["over_majority"] == pytest.approx(-0.5)
    both = row(found, "binary_answers", asked_about=HP)
    assert mean(both["agreement"]) == 2 / 4
    assert mean(both["says_yes"]) == 2 / 4


def test_agreement_counts_a_missing_answer_as_wrong_in_the_strict_reading(talk: Any, tmp_path: Path) -> None:
    strict = study_of(tmp_path, Conversations([talk]), [said(talk)], scoring="strict")
    found = made(binary_questions(strict))
    one = row(found, "binary_questions_by_model", id="B1", asked_about=HP)
    assert mean(one["agreement"]) == 0.0  # yes wrong, silence wrong


def test_preference_is_by_question(study: Study) -> None:
    found = made(preference_questions(study))
    table = "preference_questions_by_model"
    assert mean(row(found, table, id="general")["accuracy"]) == 1 / 2  # A right, B wrong
    assert mean(row(found, table, id="PW4")["accuracy"]) == 1.0


def test_biases_are_against_what_the_person_chose(study: Study) -> None:
    one = row(made(preference_bias(study)), "preference_bias", model=MODEL)
    # general is shown swapped: B stands first. Picks A, B and twice PW4's B (second): 1 of 4 is the first
    assert mean(one["picks_first"]) == 1 / 4
    assert mean(one["person_first"]) == 0 / 4  # winners: general A (second), PW4 B (second)
    assert mean(one["position_bias"]) == 1 / 4
    # original has 28 characters, alternate 35, human 9: picks original, alternate, original twice
    assert mean(one["picks_longer"]) == 3 / 4
    assert mean(one["person_longer"]) == 2 / 4
    assert mean(one["length_bias"]) == pytest.approx(1 / 4)


def test_branch_errors_leave_missing_predictions_out(study: Study) -> None:
    found = made(four_branches(study))
    errors = {
        r["branch"]: (mean(r["signed_error"]), mean(r["absolute_error"]))
        for r in rows(found, "four_branches")
    }
    # rated 7, 5, 2, 1; said 5, 5, 4 and nothing
    assert errors == {"perceiving": (-2.0, 2.0), "facilitating": (0.0, 0.0), "understanding": (2.0, 2.0)}
    assert row(found, "four_branches", branch="perceiving")["midpoint_mae"] == 3.0  # |7 - 4|


def test_panas_gain_is_the_error_of_no_change_less_the_models(talk: Any, tmp_path: Path) -> None:
    record = said(talk)
    items = record["post_conversation"]["predicted_post_panas"]["items"]
    items |= {"Proud": 6, "Upset": 3}
    found = made(panas_items(study_of(tmp_path, Conversations([talk]), [record])))
    # positive items go 3 -> 4, negative ones 4 -> 2
    proud, upset = (row(found, "panas_items", item=name) for name in ("Proud", "Upset"))
    assert [mean(proud[k]) for k in ("predicted_change", "real_change", "absolute_error")] == [3.0, 1.0, 2.0]
    assert mean(proud["gain_over_no_change"]) == 1 - 2
    assert mean(upset["gain_over_no_change"]) == 2 - 1
    one = row(found, "panas_items_by_model", model=MODEL)
    assert mean(one["absolute_error"]) == (2 + 1) / 20
    assert mean(one["error_of_no_change"]) == (10 * 1 + 10 * 2) / 20


def test_both_wordings_are_compared_on_the_same_questions(study: Study) -> None:
    one = row(made(wordings(study)), "wordings", asked_about=HP)
    # observer wording 2 of 4 (above); in the person's own wording the oracle's answers, all right
    assert [mean(one[k]) for k in ("observer", "own", "difference")] == [0.5, 1.0, 0.5]
    assert mean(one["changed"]) == 1 / 2  # valid in both: B1 of turn 1 (turned), B19 of turn 2 (the same)


def test_every_figure_of_a_tiny_study_is_drawn(study: Study) -> None:
    drawn([made(analysis(study)) for analysis in EVERY])


def test_the_official_runners_files_have_no_position_bias_and_everything_else(
    talk: Any, tmp_path: Path
) -> None:
    record = said(talk)
    for part in (record, record["post_conversation"], *record["turns"]):
        del part["attune"]
    study = study_of(tmp_path, Conversations([talk]), [record])
    found = made(preference_bias(study))
    one = row(found, "preference_bias", model=MODEL)
    assert getattr(one["position_bias"], "mean", 0) is None
    assert mean(one["length_bias"]) == pytest.approx(1 / 4)
    assert any("no position bias" in note for note in found.notes)
    drawn([found])
    for analysis in EVERY:
        made(analysis(study))


@pytest.mark.parametrize("analysis", EVERY)
def test_what_is_missing_is_said(analysis: Any, study: Study, tmp_path: Path) -> None:
    bare = Study(study.scores)
    assert isinstance(absent := analysis(bare), Absent)
    assert "--ground-truth" in absent.reason
    alone = Study(study.scores, conversations=study.conversations)
    assert isinstance(absent := analysis(alone), Absent)
    assert "--results" in absent.reason
    empty = Study(study.scores, conversations=study.conversations, results=tmp_path)
    assert isinstance(absent := analysis(empty), Absent)
    assert "none of the scored" in absent.reason


@pytest.mark.parametrize("named", ["../secret.json", "/etc/passwd", "x" * 400, "\0", 3, None])
def test_a_scores_file_names_no_file_outside_the_folder(named: object, talk: Any, tmp_path: Path) -> None:
    study = study_of(tmp_path, Conversations([talk]), [said(talk)])
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    study.scores["conversations"][0]["source_result"] = named
    items = items_of(study)
    # where the name is none the result is found by its usual name, if at all
    assert items is None or items.missing == 0


def test_results_that_went_away_are_counted(talk: Any, tmp_path: Path) -> None:
    study = study_of(tmp_path, Conversations([talk]), [said(talk), said(talk, "lab/two")])
    (tmp_path / "results" / "c-1_lab_two_default.json").write_text("[", encoding="utf-8")
    found = made(feelings(study))
    assert found.notes == ("1 scored result not at hand: file or conversation are not there.",)
    assert row(found, "feelings_by_model", model="lab/two")["pairs"] == 0
