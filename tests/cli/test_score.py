"""`attune score`: what it reads, refuses, and writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attune_data import DataError, load
from attune_env.results import result_name
from attune_env.results.scores import read_scores
from attune_episodes import builtin_policy, rollout
from tests.command import (
    FIRST,
    change,
    composites,
    data_folder,
    names,
    read,
    results,
    score,
    snapshot,
    table_rows,
)
from tests.data.builders import write
from tests.rewards.builders import Json


def test_scores_hold_every_conversation_and_both_readings(place: Path) -> None:
    out, err = score(place)
    assert err == []
    assert out.splitlines()[-2:] == [
        "wrote scores.json (6 results)", 'next: attune report scores.json -o report',
    ]  # fmt: skip
    scores = read(place / "scores.json")
    assert scores.keys() == {"metadata", "conversations", "aggregates"}
    meta = scores["metadata"]
    assert (meta["models"], meta["modes"]) == (["builtin/always-no", "builtin/oracle"], ["default"])
    assert (meta["n_conversations"], meta["n_results"], meta["ground_truth"]) == (3, 6, "data")
    asked = {
        "prompts": "full",
        "codebook": "attune-env 1.0",
        "labels": "masked",
        "panas_strategy": "absolute",
    }
    assert all(entry["attune"]["asked"] == asked for entry in scores["conversations"])
    loaded = load(place / "data")
    assert meta["data"] == {"fingerprint": loaded.fingerprint, "provenance": "own"}
    for entry in scores["conversations"]:
        name = result_name(entry["conversationId"], entry["em_model"], "default")
        assert entry["source_result"] == name
        policy = builtin_policy(entry["em_model"].removeprefix("builtin/"), loaded)
        total = rollout(loaded.by_id[entry["conversationId"]], policy).total
        assert entry["composite_strict"] == pytest.approx(100 * total, abs=1e-10)
        assert entry["composite_score"] is not None
    assert [group["parse_rate"] for group in scores["aggregates"]] == [1.0, 1.0]


def test_the_leaderboard_is_plain_and_the_oracle_stands_last(place: Path) -> None:
    out, _ = score(place, "-o", "sub folder/mine.json", "--scoring", "strict")
    ((title, (header, *rows)),) = table_rows(out).items()
    assert title.startswith("Leaderboard, strict scoring")
    assert [(row[0], row[1], row[2]) for row in rows] == [
        ("builtin/always-no", "baseline", "default"), ("builtin/oracle", "oracle", "default"),
    ]  # fmt: skip
    assert {len(row) for row in rows} == {len(header)}
    assert read(place / "sub folder" / "mine.json")["metadata"]["settings"]["scoring"] == "strict"


@pytest.mark.parametrize("found", ["no such folder", "no result file"])
def test_a_folder_without_results_is_named(place: Path, found: str) -> None:
    shutil.rmtree(place / "results")
    if found == "no result file":
        (place / "results").mkdir()
    out, (line,) = score(place, code=1)
    assert out == ""
    assert line.startswith(f"error: results: found {found}")
    assert "scores.json" not in names(place)


BAD = {
    "c-2_x_default.json": {"conversationId": "c-9", "em_model": "builtin/x", "turns": []},
    "broken.json": '{"conversationId": "c-1',
    "list.json": [1],
    "nameless.json": {"conversationId": "c-1"},
    "twice.json": None,
}


def test_every_file_that_cannot_be_scored_is_listed(place: Path) -> None:
    for name, value in BAD.items():
        write(place / "results" / name, read(place / "results" / FIRST) if value is None else value)
    before = snapshot(place)
    out, err = score(place, code=1)
    assert out == ""
    told = {line.split(": ")[1].removeprefix("results/"): line for line in err}
    assert told.keys() == BAD.keys()
    assert 'found "c-9", expected one of the 3 conversations of data' in told["c-2_x_default.json"]
    assert "a second result for c-1 by builtin/oracle in mode default" in told["twice.json"]
    assert snapshot(place) == before
    _, err = score(place, "--skip-invalid")
    assert err[-1] == "files left out: 5"
    assert read(place / "scores.json")["metadata"]["n_results"] == 6


def test_conversations_without_a_result_are_counted_aloud(place: Path) -> None:
    (place / "results" / FIRST).unlink()
    (place / "results" / FIRST.replace("oracle", "always-no")).unlink()
    _, err = score(place)
    assert err == ["1 of 3 conversations have no results"]


def test_files_of_the_official_runner_score_the_same(place: Path) -> None:
    score(place)
    ours = composites(read(place / "scores.json")), composites(read(place / "scores.json"), "composite_score")

    def strip(record: Json) -> None:
        for part in (record, *record["turns"], record["post_conversation"]):
            del part["attune"]

    for path in (place / "results").iterdir():
        change(path, strip)
    score(place)
    scores = read(place / "scores.json")
    assert (composites(scores), composites(scores, "composite_score")) == ours
    assert [group["parse_rate"] for group in scores["aggregates"]] == [None, None]


def test_warnings_name_what_counts_as_unanswered(place: Path) -> None:
    def spoil(record: Json) -> None:
        record["turns"][0]["em_emotion_tags"] = "Upset"
        record["turns"][1]["em_pairwise_selections"]["0"] = "C"

    change(place / "results" / FIRST, spoil)
    _, err = score(place)
    assert [line.split(": ")[:3] for line in err] == [
        ["warning", f"results/{FIRST}", "turns[0].em_emotion_tags"],
        ["warning", f"results/{FIRST}", "turns[1].em_pairwise_selections.0"],
    ]


def test_a_subset_of_stages_is_a_partial_composite(tmp_path: Path) -> None:
    data_folder(tmp_path / "data")
    results(tmp_path / "results", load(tmp_path / "data"), "oracle", stages=("assess", "prefer"))
    score(tmp_path)
    scores = read(tmp_path / "scores.json")
    for entry in scores["conversations"]:
        assert entry["composite_partial"] == pytest.approx(100.0)
        for composite in ("composite_strict", "composite_score", "composite_exact", "equal_weight_composite"):
            assert entry[composite] is None
        assert entry["strict_parts"].keys() == {
            "emotion_f1", "emotion_va", "binary_om", "binary_hp", "pairwise",
        }  # fmt: skip


def test_q1_overlap_is_chosen_by_option(tmp_path: Path) -> None:
    data_folder(tmp_path / "data")
    results(tmp_path / "results", load(tmp_path / "data"), "random")
    found = []
    for option in ("jaccard", "f1"):
        score(tmp_path, "--q1-overlap", option)
        scores = read(tmp_path / "scores.json")
        assert scores["metadata"]["settings"]["q1_overlap"] == option
        found.append([e["post_score"]["q1_looking_for_score"] for e in scores["conversations"]])
    # one goal guessed, two true: 1/2 against 2/3, or 0 both
    assert [want for want, _ in zip(*found, strict=True)] == pytest.approx([f / (2 - f) for f in found[1]])
    assert set(found[0]) <= {0.0, 0.5}


def test_a_conversation_that_stands_twice_with_different_scores_is_named(place: Path) -> None:
    score(place)
    whole = read(place / "scores.json")
    first = whole["conversations"][0]
    whole["conversations"].append(first)
    assert len(read_scores(write(place / "twice.json", whole))["conversations"]) == 7
    whole["conversations"][-1] = first | {"composite_score": 1.0}
    with pytest.raises(DataError) as raised:
        read_scores(write(place / "other.json", whole))
    (problem,) = raised.value.problems
    assert problem.place == "conversations[6]"
    assert problem.found == f'different scores for "{first["conversationId"]}" than in conversations[0]'
