"""Names of result files, and files that are whole or not there at all."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attune_data import Conversations, DataError, load
from attune_data.validate import conversation_from
from attune_env.results import read_results, result_name, write_json
from attune_env.results.files import result_files, safe_name, write_text
from tests.front.command import data_folder, names, own

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
UUID = "0b66aafe-721d-492d-bfc1-ad40b94775b3"


@pytest.mark.parametrize(("identity", "model", "mode", "want"), [
    (UUID, "builtin/oracle", "default", f"{UUID}_builtin_oracle_default.json"),
    ("c", "openai/gpt-4.1", "verbose_omniscient", "c_openai_gpt-4.1_verbose_omniscient.json"),
    ("c", "router/lab/model", "default", "c_router_lab_model_default.json"),
    ("con", "builtin/oracle", "default", "con_builtin_oracle_default.json"),
])  # fmt: skip
def test_usual_names_are_the_official_ones(identity: str, model: str, mode: str, want: str) -> None:
    assert result_name(identity, model, mode) == want


@settings(max_examples=100, deadline=None)
@given(identity=IDS, model=IDS)
@example(identity="y" * 200, model="openrouter/" + "m" * 189)
def test_every_name_is_one_visible_portable_file_of_the_folder(identity: str, model: str) -> None:
    name = result_name(identity, model, "verbose_omniscient")
    assert Path(name).name == name
    assert name.isascii()
    assert name.isprintable()
    assert not set(name) & set('/\\:*?"<>|')
    assert not name.startswith((".", " "))
    assert len(name) <= 255  # bytes: what file systems take


@pytest.mark.parametrize(("one", "other"), [
    ("a/b", "a_b"), ("a/b", "a\\b"), ("../../x", "x"), ("../x", "..\\x"), ("😀", "😢"), ("é", "e"),
    ("y" * 199, "y" * 200), ("y" * 150 + "a", "y" * 150 + "b"), (".x", "x"), ("שלום", "שלוש"), ("a b", "a_b"),
])  # fmt: skip
def test_different_conversations_have_different_files(one: str, other: str) -> None:
    assert result_name(one, "m/x", "default") != result_name(other, "m/x", "default")


@settings(max_examples=100, deadline=None)
@given(identity=IDS)
def test_no_result_looks_like_a_skip_list_or_a_hidden_file(identity: str) -> None:
    # names that begin with "_" or "." are not read as results
    assert not safe_name(identity).startswith(("_", "."))


def test_results_of_odd_ids_are_found_in_their_folder(tmp_path: Path) -> None:
    for identity in ("../../x", "😀 c", "_c", ".c", "שלום", "c"):
        write_json(tmp_path / result_name(identity, "m/x", "default"), {})
    write_json(tmp_path / "_skipped_m_x.json", [])
    write_json(tmp_path / ".hidden.json", [])
    write_json(tmp_path / "scores.json", {})
    assert len(result_files(tmp_path)) == 6


# --- writing ------------------------------------------------------------------------------------------


def test_json_is_utf8_indented_and_ends_the_line(tmp_path: Path) -> None:
    write_json(tmp_path / "new" / "deep" / "a.json", {"é": ["😢", None]})
    assert (tmp_path / "new" / "deep" / "a.json").read_bytes() == (
        '{\n "é": [\n  "😢",\n  null\n ]\n}\n'.encode()
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_is_no_json_leaves_the_old_file_whole(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "a.json", "old")
    with pytest.raises((ValueError, TypeError)):
        write_json(tmp_path / "a.json", {"x": value})
    assert names(tmp_path) == ["a.json"]
    assert json.loads((tmp_path / "a.json").read_text()) == "old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    write_text(tmp_path / "a.txt", "old")

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.txt", "new")
    monkeypatch.undo()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_files_have_the_usual_rights(tmp_path: Path) -> None:
    write_text(tmp_path / "mine", "x")
    (tmp_path / "usual").write_text("x")
    mine, usual = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("mine", "usual"))
    assert mine == usual


def test_a_very_long_file_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / result_name("y" * 200, "builtin/always-yes", "verbose_omniscient")
    write_json(path, 1)
    assert names(tmp_path) == [path.name]


# --- reading -------------------------------------------------------------------------------------------


def test_a_folder_that_is_missing_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found no such folder"):
        result_files(tmp_path / "nowhere")


def test_a_file_without_a_mode_counts_as_default(tmp_path: Path) -> None:
    data = load(data_folder(tmp_path / "data"))
    write_json(tmp_path / "results" / "x.json", {"conversationId": "c-1", "em_model": "lab/x"})
    (result,), problems, warnings = read_results(tmp_path / "results", data)
    assert (result.mode, result.em_model, problems, warnings) == ("default", "lab/x", [], [])


def test_results_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    data = Conversations([conversation_from(own(name), "memory") for name in ("b", "a", "c")])
    for name in ("c", "a", "b"):
        write_json(tmp_path / f"{name}.json", {"conversationId": name, "em_model": "lab/x"})
    found, _, _ = read_results(tmp_path, data)
    assert [result.prediction.conversation_id for result in found] == ["a", "b", "c"]
