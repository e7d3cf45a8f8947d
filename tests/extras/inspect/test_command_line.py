"""The real `inspect eval attune_env/attune`, from a folder that has one of that name, to a scores file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attune_data import load
from attune_data.selection import select
from attune_env import save_results
from attune_episodes import Settings
from attune_episodes.frameworks.inspect import rollouts_from
from tests import PATIENCE
from tests.command import attune, composites, read
from tests.endpoint import answers_of, serve
from tests.extras.inspect.evaluating import MODEL

ROOT = Path(__file__).resolve().parents[3]
INSPECT = Path(sys.executable).with_name("inspect")


def test_the_command_plays_what_its_arguments_say(tmp_path: Path) -> None:
    where = "diagnosis=ADHD|Anxiety,who_5<15"
    chosen = select(load("sample"), where)[:2]
    settings = Settings(
        mode="verbose", stages=("assess", "prefer", "reflect"), panas_strategy="delta", seed=5
    )
    command = [INSPECT, "eval", "attune_env/attune", "--model", MODEL, "--limit", "2",
               "-T", "mode=verbose", "-T", "stages=assess,prefer,reflect", "-T", f"where={where}",
               "-T", "panas_strategy=delta", "-T", "seed=5", "--log-dir", tmp_path / "logs"]  # fmt: skip
    assert len(chosen) == 2
    with serve(answers_of(chosen, "lexicon", settings), ["garbage,first=1,of=*/1/prefer"]) as server:
        done = subprocess.run(
            list(map(str, command)),
            cwd=ROOT, capture_output=True, encoding="utf-8", timeout=PATIENCE,
            env={**os.environ, "LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "none"},
        )  # fmt: skip
        assert server.unknown == []
    assert done.returncode == 0, (done.stdout, done.stderr)
    made = rollouts_from(tmp_path / "logs")
    assert [one.result["attune"]["settings"] for one in made] == [settings.describe()] * 2
    assert [one.result["attune"]["inspect"]["asked_again"] for one in made] == [1, 1]
    save_results(made, tmp_path / "results")
    attune("score", "--results", "results", "--data", "sample", "-o", "s.json", cwd=tmp_path)
    strict = composites(read(tmp_path / "s.json"))
    assert strict == {
        (one.conversation.conversation_id, MODEL): pytest.approx(100 * one.total) for one in made
    }
    assert {about for about, _ in strict} == {one.conversation_id for one in chosen}
