"""The package without any extra: what it does, and what it says of the rest."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import pytest

import attune_env
from attune_data.extras import MissingExtraError
from attune_env import builtin_policy, load, rollout, score_row
from attune_env.running import run_builtin
from attune_episodes import Settings
from attune_episodes.training.rows import RowMaker
from attune_rewards import RewardSpec
from tests.command import attune
from tests.endpoint import endpoint_process


@pytest.mark.parametrize("package", ["verifiers", "openai", "datasets", "pandas", "matplotlib"])
def test_nothing_of_an_extra_is_installed(package: str) -> None:
    assert find_spec(package) is None


def test_a_star_import_brings_every_name_that_there_is() -> None:
    names: dict[str, object] = {}
    exec("from attune_env import *", names)
    assert names.keys() >= set(attune_env.__all__)
    assert "AttuneEnv" not in names


def test_a_conversation_is_played_rewarded_and_made_into_rows() -> None:
    sample = load("sample")
    played = rollout(sample[0], builtin_policy("oracle", sample))
    assert played.total == pytest.approx(1)
    (row, *_) = RowMaker(Settings(), RewardSpec.preset("skill")).rows(load("written:train")[0])
    assert score_row(row, "no answer").reason.startswith("unparsed")
    env = gymnasium.make("Attune/Conversation-v0", data="sample", training=False)
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space


def test_the_command_line_runs_a_model_and_policies_and_shows_the_scores(tmp_path: Path) -> None:
    with endpoint_process("--data", "sample", "--number", "1", "--policy", "lexicon") as model:
        attune(f"run custom fake sample -n 1 -o results --base-url {model.url}", cwd=tmp_path)
    attune("run builtin always-no sample -n 1 -o results", cwd=tmp_path)
    scored = attune("score -r results -d sample -o scores.json", cwd=tmp_path)
    assert "builtin/always-no" in scored.stdout
    assert "builtin/always-no" in attune("report scores.json", cwd=tmp_path).stdout
    assert "builtin/always-no" in attune("stats scores.json", cwd=tmp_path).stdout
    told = attune("report scores.json -o report", cwd=tmp_path, code=1).stderr
    assert 'in the clone, pip install ".[report]"' in told
    assert not (tmp_path / "report").exists()


def _attribute(module: str, name: str) -> Callable[[], object]:
    return lambda: getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(
    ("extra", "use"),
    [
        ("train", lambda: attune_env.training_dataset("written", number=1)),
        ("train", lambda: load("somebody/some-dataset")),
        ("verifiers", _attribute("attune_env", "AttuneEnv")),
        ("openenv", _attribute("attune_episodes.frameworks.openenv", "AttuneClient")),
        ("inspect", lambda: importlib.import_module("attune_env.inspect_task.tasks")),
        ("lm-eval", lambda: importlib.import_module("attune_episodes.frameworks.lm_eval.run")),
        ("skyrl", lambda: importlib.import_module("attune_episodes.frameworks.skyrl")),
    ],
)
def test_what_needs_an_extra_names_it_and_its_command(extra: str, use: Callable[[], object]) -> None:
    with pytest.raises(MissingExtraError, match=re.escape(f'pip install ".[{extra}]"')):
        use()


def test_results_of_policies_are_written_without_an_extra(tmp_path: Path) -> None:
    assert run_builtin("mode", load("sample")[:2], tmp_path).written == 2
