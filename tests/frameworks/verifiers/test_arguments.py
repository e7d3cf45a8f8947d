"""What is told when a configuration, a harness or the data is wrong, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from pydantic import ValidationError

import attune_env
from attune_data.errors import AttuneError, DataError
from attune_episodes.frameworks.verifiers.arguments import ENV_ID, AttuneTasksetConfig
from tests.frameworks.verifiers.play import environment, saved, taskset


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"reward": "compsite"}, "did you mean 'composite'"),
        ({"prompts": "short"}, "known: full, compact, a folder of templates"),
        ({"codebook": "nowhere.json"}, "nowhere.json"),
        ({"stages": []}, "no stage is asked"),
        ({"stages": ["draft"]}, "scores nothing in the stages draft"),
        ({"stages": ["draft"], "granularity": "request"}, "scores nothing in the stages"),
        ({"reward": {"preset": "composite", "terminal": True}, "granularity": "request"}, "terminal"),
        ({"reward": '{"preset": "nope"}'}, "nope"),
        ({"task": {"draft_judge": {"enabled": True}}, "stages": ["assess"]}, "add draft"),
        ({"task": {"draft_judge": {"enabled": True}}, "granularity": "request"},
         "use granularity conversation"),
    ],
    ids=str,
)  # fmt: skip
def test_what_does_not_fit_is_told_when_the_configuration_is_read(config: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        AttuneTasksetConfig.model_validate(config)
    (error,) = caught.value.errors()
    assert told in error["msg"]
    assert "\n" not in error["msg"]


def test_data_with_which_nothing_can_be_played_ends_a_command_with_one_message() -> None:
    config = {"data": "nowhere"}  # a worker makes the environment too, and needs no data
    for made in (environment(config).taskset, taskset(**config)):
        with pytest.raises(SystemExit) as caught:
            next(iter(made))
        assert isinstance(caught.value, Exception)
        assert isinstance(caught.value.__cause__, DataError)
        assert "nowhere: found no such file or folder" in str(caught.value.code)


def test_a_reward_of_python_functions_cannot_travel(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from attune_rewards import RewardSpec\n"
        "reward = RewardSpec.preset('composite').with_part('x', 'draft', lambda t, u, s: 1.0, 0.1)\n",
        encoding="utf-8",
    )
    with pytest.raises(ValidationError, match="is a Python function"):
        taskset(reward=str(path))


@pytest.mark.parametrize("harness", ["null", "bash"])
def test_a_chat_harness_is_refused_for_whole_conversations(harness: str) -> None:
    with pytest.raises(ValueError, match=rf"harness '{harness}' cannot play whole conversations"):
        environment(agent={"harness": {"id": harness}})
    config = environment().config
    other = vf.resolve_env_config(requests_by(harness, "docker"))
    with pytest.raises(ValueError, match="granularity request"):
        attune_env.AttuneEnv(config.model_copy(update={"agent": other.agent}))  # past the validator


def requests_by(harness: str, runtime: str) -> dict[str, Any]:
    """The configuration of single requests that a harness plays in a runtime."""
    return {
        "taskset": {"id": ENV_ID, "granularity": "request"},
        "agent": {"harness": {"id": harness}, "runtime": {"type": runtime}},
    }


@pytest.mark.parametrize("harness", ["bash", "mini-swe-agent"])
def test_a_harness_that_could_read_the_annotations_from_disk_is_refused(harness: str) -> None:
    told = rf"harness '{harness}' runs what the model writes on this machine, .* use null, or a sandboxed"
    with pytest.raises(ValidationError, match=told):
        vf.resolve_env_config(requests_by(harness, "subprocess"))
    with pytest.raises(ValidationError, match=told):  # which is the default
        environment({"granularity": "request"}, {"harness": {"id": harness}})


def test_benchmark_records_are_refused_for_training_and_played_in_evaluation(tmp_path: Path) -> None:
    path = str(saved(tmp_path, provenance="benchmark"))
    assert len(list(taskset(data=path))) == 3
    with pytest.raises(AttuneError, match="may not be trained on"):
        next(iter(taskset(data=path, training=True)))
    assert len(list(taskset(data="sample", training=True))) == 20
