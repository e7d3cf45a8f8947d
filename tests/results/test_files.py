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
from attune_data.format.validate import conversation_from
from attune_env import rollout, rollout_batch, save_results
from attune_env.results import read_results, result_name, score_results, write_json
from attune_env.results.files import result_files, safe_name, write_text
from attune_env.running import run_builtin
from attune_episodes.policies import builtin_policy
from attune_rewards import ConversationPrediction, score_conversation
from tests.command import attune, names, own, read
from tests.rewards.builders import conversation, turn

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
    # names that begin with "_" or "." are not read as results
    assert not safe_name(identity).startswith(("_", "."))


@pytest.mark.parametrize(("one", "other"), [
    ("a/b", "a_b"), ("a/b", "a\\b"), ("../../x", "x"), ("../x", "..\\x"), ("😀", "😢"), ("é", "e"),
    ("y" * 199, "y" * 200), ("y" * 150 + "a", "y" * 150 + "b"), (".x", "x"), ("שלום", "שלוש"), ("a b", "a_b"),
])  # fmt: skip
def test_different_conversations_have_different_files(one: str, other: str) -> None:
    assert result_name(one, "m/x", "default") != result_name(other, "m/x", "default")


def test_results_of_odd_ids_are_found_in_their_folder(tmp_path: Path) -> None:
    odd = ("../../x", "😀 c", "_c", ".c", "שלום", "c", "y" * 200)
    for name in (*(result_name(identity, "m/x", "verbose_omniscient") for identity in odd),
                 "_skipped_m_x.json", ".hidden.json", "scores.json"):  # fmt: skip
        write_json(tmp_path / name, {})
    assert len(result_files(tmp_path)) == len(odd)
    with pytest.raises(DataError, match="found no such folder"):
        result_files(tmp_path / "nowhere")


def test_json_is_utf8_indented_and_ends_the_line_with_the_usual_rights(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "a.json"
    write_json(path, {"é": ["😢", None]})
    assert path.read_bytes() == '{\n "é": [\n  "😢",\n  null\n ]\n}\n'.encode()
    (tmp_path / "usual").write_text("x")
    mine, usual = (stat.S_IMODE(one.stat().st_mode) for one in (path, tmp_path / "usual"))
    assert mine == usual


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_is_no_json_leaves_the_old_file_whole(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "a.json", "old")
    with pytest.raises((ValueError, TypeError)):
        write_json(tmp_path / "a.json", {"x": value})
    assert names(tmp_path) == ["a.json"]
    assert read(tmp_path / "a.json") == "old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    write_text(tmp_path / "a.txt", "old")
    with monkeypatch.context() as patch:
        patch.setattr(os, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_text(tmp_path / "a.txt", "new")
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_results_are_read_in_the_order_of_their_names_and_default_where_they_say_no_mode(
    tmp_path: Path,
) -> None:
    data = Conversations([conversation_from(own(name), "memory") for name in ("b", "a", "c")])
    for name in ("c", "a", "b"):
        write_json(tmp_path / f"{name}.json", {"conversationId": name, "em_model": "lab/x"})
    found, problems, warnings = read_results(tmp_path, data)
    read_as = [(one.prediction.conversation_id, one.em_model, one.mode) for one in found]
    assert read_as == [(name, "lab/x", "default") for name in "abc"]
    assert (problems, warnings) == ([], [])


# --- rollouts of your own policy ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """A folder with `results` of a policy that is silent, and what it earned."""
    folder = tmp_path_factory.mktemp("saved")
    played = rollout_batch(load("sample")[:3], lambda messages: "{}", em_model="lab/silent")
    paths = save_results(played, folder / "results")
    assert [path.name for path in paths] == [f"sample-0{n}_lab_silent_default.json" for n in (1, 2, 3)]
    return folder, [one.total for one in played]


def test_rollouts_of_your_own_are_scored_from_their_files_and_silence_shows(
    saved: tuple[Path, list[float]],
) -> None:
    folder, earned = saved
    # scores may lie beside the results and be replaced
    for _ in range(2):
        done = attune("score", "--results", "results", "--data", "sample", "-o", "results/s.json", cwd=folder)
    scores = json.loads((folder / "results" / "s.json").read_text("utf-8"))
    assert [c["composite_strict"] / 100 for c in scores["conversations"]] == earned
    head, row = (line.split("\t") for line in done.stdout.splitlines()[1:3])
    cells = dict(zip(head, row, strict=True))
    assert cells["Strict Composite"] == "0.0 [0.0, 0.0]†"
    assert float(cells["Canonical Composite"].split()[0]) > 20  # the canonical conventions pay for it
    assert cells["answered"] == "0.0%"


def test_a_result_holds_the_scores_of_its_conversation(tmp_path: Path) -> None:
    chosen = load("sample")[:2]
    run_builtin("lexicon", chosen, tmp_path / "builtin")
    save_results(rollout_batch(chosen, builtin_policy("lexicon", chosen)), tmp_path / "own")
    for folder in (tmp_path / "builtin", tmp_path / "own"):
        results, _, _ = read_results(folder, chosen)
        entries = score_results(results, chosen, ground_truth="sample")["conversations"]
        for entry, result in zip(entries, results, strict=True):
            kept = result.record["attune"]["scores"]
            assert kept == {name: entry[name] for name in kept}
            assert set(entry) - set(kept) == {
                "conversationId", "em_model", "mode", "turn_scores", "source_result", "attune"
            }  # fmt: skip


def test_a_result_of_a_conversation_without_annotations_holds_no_scores(tmp_path: Path) -> None:
    bare = conversation(turn())
    (path,) = save_results([rollout(bare, lambda messages: "{}")], tmp_path)
    assert "scores" not in json.loads(path.read_text("utf-8"))["attune"]


@pytest.mark.parametrize("content", ["print('mine')", '{"a": 1}'])
def test_a_file_of_another_kind_is_never_overwritten(saved: tuple[Path, list[float]], content: str) -> None:
    path = saved[0] / "mine"
    path.write_text(content, "utf-8")
    done = attune("score", "--results", "results", "--data", "sample", "-o", "mine", cwd=saved[0], code=1)
    assert "a file that is not a scores file" in done.stderr
    assert path.read_text("utf-8") == content


def test_the_answered_share_counts_missing_turns() -> None:
    scores = score_conversation(load("sample")[0], ConversationPrediction("sample-01"))
    assert scores["answered_share"] == 0.0
