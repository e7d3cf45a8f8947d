"""`attune data validate` and `attune data stats` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_data import load
from attune_data.selection.stats import describe
from tests.command import attune_here
from tests.data.builders import comparison, folder, record, with_annotations


def test_sound_data_is_valid_and_its_stats_as_json_are_the_facts_and_nothing_else(tmp_path: Path) -> None:
    path = folder(
        tmp_path / "my data", {1: record(provenance="own"), 2: record(conversationId="ü", provenance="own")}
    )
    loaded = load(path)
    printed, told = attune_here("data validate 'my data'", tmp_path)
    assert printed.splitlines() == [
        "conversations 2, turns 4, problems 0, warnings 0",
        f"provenance own, fingerprint {loaded.fingerprint}",
    ]
    assert told == ""
    printed, told = attune_here("data stats --json 'my data'", tmp_path)
    assert (json.loads(printed), told) == (describe(loaded) | {"fingerprint": loaded.fingerprint}, "")


def test_validating_lists_every_problem_on_a_line_of_its_own_and_fails(tmp_path: Path) -> None:
    wrong = with_annotations(pairwiseComparisons=[comparison(winner="C")])
    folder(tmp_path / "in", {1: record(), 2: '{"conversationId": ', 10: wrong})
    printed, told = attune_here("data validate in", tmp_path, code=1)
    assert told.splitlines() == [
        "error: in/conversation_2.json: line 1 column 20: found the end of the file, "
        "expected valid JSON; it is cut off: download or create it again",
        "error: in/conversation_10.json: turns[0].annotations.pairwiseComparisons[0].winner: "
        'found "C", expected "A" or "B" (null if none was annotated)',
    ]
    assert printed.splitlines()[0] == "conversations 1, turns 2, problems 2, warnings 0"


def test_validating_names_a_file_that_is_not_read_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = folder(tmp_path / "in", {1: record()})
    for name in ("Conversation_2.json", "notes.json", "annotation_codebook.json"):
        (path / name).write_text("{}")
    _, told = attune_here("data validate in", tmp_path)
    assert [one.getMessage() for one in caplog.records] == [
        "warning: in: Conversation_2.json: not read; expected names like conversation_1.json"
    ]
    assert told.splitlines() == ["ignored (not named conversation_N.json): notes.json"]


@pytest.mark.parametrize("command", ["validate", "stats"])
def test_a_path_without_data_fails_and_bad_usage_exits_with_2(tmp_path: Path, command: str) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "empty"):
        _, told = attune_here(f"data {command} {name}", tmp_path, code=1)
        assert told.startswith(f"error: {name}: found no ")
        assert len(told.splitlines()) == 1
    for arguments in ("", " --no-such-option x", " a b"):
        assert "Usage: attune data" in attune_here(f"data {command}{arguments}", tmp_path, code=2)[1]
