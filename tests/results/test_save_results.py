"""From a policy of one's own to result files, and what scoring leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_env import load, rollout_batch, save_results
from attune_rewards import ConversationPrediction, score_conversation
from tests.front.command import attune

SAMPLE = load("sample")[:3]


def silent(messages: list[dict[str, str]]) -> str:
    return "{}"


@pytest.mark.slow
def test_rollouts_of_ones_own_are_scored_from_their_files(tmp_path: Path) -> None:
    played = rollout_batch(SAMPLE, silent, em_model="lab/silent")
    paths = save_results(played, tmp_path / "results")
    assert [path.name for path in paths] == [f"sample-0{n}_lab_silent_default.json" for n in (1, 2, 3)]
    done = attune("score", "--results", "results", "--data", "sample", "-o", "s.json", cwd=tmp_path)
    assert done.returncode == 0
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert [c["composite_strict"] / 100 for c in scores["conversations"]] == [p.total for p in played]


@pytest.mark.slow
def test_silence_shows_on_the_leaderboard(tmp_path: Path) -> None:
    save_results(rollout_batch(SAMPLE, silent, em_model="lab/silent"), tmp_path)
    done = attune("score", "--results", ".", "--data", "sample", "-o", "s.json", cwd=tmp_path)
    head, row = (line.split("\t") for line in done.stdout.splitlines()[1:3])
    cells = dict(zip(head, row, strict=True))
    assert cells["Strict"] == "0.0 [0.0, 0.0]†"
    assert float(cells["Composite"].split()[0]) > 20  # the canonical conventions pay for it
    assert cells["answered"] == "0.0%"


def test_the_answered_share_counts_missing_turns() -> None:
    scores = score_conversation(SAMPLE[0], ConversationPrediction("sample-01"))
    assert scores["answered_share"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("content", ["print('mine')", '{"a": 1}'])
def test_a_file_of_another_kind_is_never_overwritten(tmp_path: Path, content: str) -> None:
    save_results(rollout_batch(SAMPLE, silent), tmp_path / "results")
    (tmp_path / "mine").write_text(content, "utf-8")
    done = attune("score", "--results", "results", "--data", "sample", "-o", "mine", cwd=tmp_path, code=1)
    assert "a file that is no scores file" in done.stderr
    assert (tmp_path / "mine").read_text("utf-8") == content


@pytest.mark.slow
def test_scores_may_lie_beside_the_results_and_be_replaced(tmp_path: Path) -> None:
    save_results(rollout_batch(SAMPLE, silent), tmp_path)
    for _ in range(2):
        done = attune("score", "--results", ".", "--data", "sample", "-o", "s2.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_the_module_runs_as_the_command() -> None:
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-m", "attune_env", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("attune-env ")
