"""The answers in result files: read once, from the folder only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attune_data import Conversations
from attune_env.report.analyses import Absent, Analysis, Study
from attune_env.report.analyses.agreement import BIAS, BINARY, CHOICES
from attune_env.report.analyses.answer_tables import answer_tables
from attune_env.report.analyses.feelings import FEELINGS, FOUR_BRANCHES, PANAS
from tests.data.builders import conversation
from tests.report.analyses.made import first, study_of
from tests.report.analyses.two_turns import said

EVERY = (FEELINGS, BINARY, CHOICES, BIAS, FOUR_BRANCHES, PANAS)


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
    assert answer_tables(study).missing == int(answer_tables(study).judgements.empty)


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
    assert not answer_tables(study).tags.empty
    for path in (tmp_path / "results").iterdir():
        path.unlink()
    assert first(FEELINGS, study).rows
