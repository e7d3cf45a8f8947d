"""The answers in result files: read once, from the folder only; planted effects are found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversations
from attune_env.analyses import Absent, Analysis, Study
from attune_env.analyses.agreement import BIAS, BINARY, CHOICES
from attune_env.analyses.feelings import FEELINGS, FOUR_BRANCHES, PANAS
from tests.analyses.made import first, mean, row, rows, study_of, tables
from tests.analyses.planted import people, reader, results_of
from tests.analyses.two_turns import said
from tests.data.builders import Json, conversation

EVERY = (FEELINGS, BINARY, CHOICES, BIAS, FOUR_BRANCHES, PANAS)
NUMBER = 40


@pytest.mark.parametrize("analysis", EVERY, ids=lambda one: one.name)
def test_what_is_missing_is_said(analysis: Analysis, study: Study, tmp_path: Path) -> None:
    for change, match in (
        ({"conversations": None}, "--data"), ({"results": None}, "--results"),
        ({"results": tmp_path}, "none of the scored"),
    ):  # fmt: skip
        with pytest.raises(Absent, match=match):
            analysis.run(replace(study, **change))


@pytest.mark.parametrize("named", ["../secret.json", "/etc/passwd", "x" * 400, "\0", 3, None])
def test_a_scores_file_names_no_file_outside_the_folder(named: object, tmp_path: Path) -> None:
    talk = conversation()
    study = study_of(tmp_path, Conversations([talk]), [said(talk)])
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    study.scores["conversations"][0]["source_result"] = named
    # where the name is none the result is found by its usual name, if at all
    assert study.answers.missing == int(study.answers.judgements.empty)


def test_results_that_went_away_are_counted(tmp_path: Path) -> None:
    talk = conversation()
    study = study_of(tmp_path, Conversations([talk]), [said(talk), said(talk, "lab/two")])
    (tmp_path / "results" / "c-1_lab_two_default.json").write_text("[", encoding="utf-8")
    table = first(FEELINGS, study)
    assert table.column("model") == ["lab/one"]
    assert any(note.startswith("1 scored results are left out") for note in table.notes)


def test_result_files_are_read_once(tmp_path: Path) -> None:
    talk = conversation()
    study = study_of(tmp_path, Conversations([talk]), [said(talk)])
    assert not study.answers.tags.empty
    for path in (tmp_path / "results").iterdir():
        path.unlink()
    assert first(FEELINGS, study).rows


def _nervous_as_hostile(record: Json) -> None:
    for turn in record["turns"]:
        for tag in turn["em_emotion_tags"] or ():
            if tag["emotion"] == "Nervous":
                tag["emotion"] = "Hostile"


def _always_no(record: Json) -> None:
    for turn in record["turns"]:
        for key in [key for key in turn if key.startswith("em_binary_")]:
            turn[key] = dict.fromkeys(turn[key], "no")


def _harsh(record: Json) -> None:
    record["post_conversation"]["predicted_conversation_wide"]["fourBranchScores"]["managing"] = 1


CHANGED: dict[str, Callable[[Json], None]] = {
    "planted/calls-nervous-hostile": _nervous_as_hostile,
    "planted/always-no": _always_no,
    "planted/harsh": _harsh,
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    talks = people(NUMBER)
    found = list(results_of(talks, [reader(name) for name in ("good", "position-biased", "no-gap")]))
    records: list[Json] = [dict(one.record) for one in found]
    for name, change in CHANGED.items():
        for one in found[:NUMBER]:
            copy: Json = json.loads(json.dumps(one.record)) | {"em_model": name}
            change(copy)
            records.append(copy)
    return study_of(tmp_path_factory.mktemp("planted"), talks, records)


@pytest.mark.slow
def test_the_models_that_like_a_side_or_a_length_are_found_and_no_others(changed: Study) -> None:
    table = first(BIAS, changed)
    models = table.column("model")
    found = {
        column: [m for m, one in zip(models, table.intervals(column), strict=True) if one.leaves_out_zero]
        for column in ("position_bias", "length_bias")
    }
    assert found == {"position_bias": ["planted/position-biased"], "length_bias": ["planted/no-gap"]}
    # half of the picks are the first reply: 1/2 - 1/2 x 1/2 more than people's half
    assert mean(row(table, model="planted/position-biased")["position_bias"]) == pytest.approx(0.25, abs=0.05)


@pytest.mark.slow
def test_what_was_planted_in_single_answers_is_found(changed: Study) -> None:
    confusion = tables(FEELINGS, changed)["feelings_confusion"]
    shares: dict[Any, Any] = {
        r["model"]: r["share_of_felt"]
        for r in rows(confusion)
        if (r["felt"], r["read_as"]) == ("Nervous", "Hostile")
    }
    assert max(shares, key=lambda name: shares[name]) == "planted/calls-nervous-hostile"
    answers = tables(BINARY, changed)["binary_answers"]
    assert {r["model"] for r in rows(answers) if mean(r["says_yes"]) == 0} == {"planted/always-no"}
    one = row(answers, model="planted/always-no", asked_about="did it (OM)")
    assert mean(one["agreement"]) == pytest.approx(1 - float(str(one["true_yes_share"])))
    worst = min(rows(first(FOUR_BRANCHES, changed)), key=lambda r: mean(r["signed_error"]))
    assert (worst["model"], worst["branch"]) == ("planted/harsh", "managing")
