"""Which tasks there are, what they carry, and what `Task.validate` proves of them."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf

import attune_env
from attune_data.errors import DataError
from attune_episodes import Settings, builtin_policy, plan
from attune_episodes.frameworks.verifiers.arguments import ENV_ID
from attune_episodes.frameworks.verifiers.tasks import AttuneTask
from attune_episodes.frameworks.verifiers.traces import AttuneData
from attune_episodes.protocol.prompts import FOLDER
from attune_episodes.protocol.request import Message
from attune_rewards import RewardSpec
from attune_rewards.reward.spec_files import reward_from
from tests import PATIENCE
from tests.endpoint import serve
from tests.frameworks.verifiers.play import environment, episodes, first_task, lexicon, sample, taskset


def test_the_id_finds_one_taskset_one_harness_and_one_environment_in_the_package() -> None:
    named = {name: getattr(attune_env, name) for name in attune_env.__all__}
    for kind, name in ((vf.Taskset, "AttuneTaskset"), (vf.Harness, "AttuneHarness"), (vf.Env, "AttuneEnv")):
        of_kind = [n for n, value in named.items() if isinstance(value, type) and issubclass(value, kind)]
        assert of_kind == [name]
    assert vf.environment_class(ENV_ID) is attune_env.AttuneEnv
    assert vf.default_harness_id(ENV_ID) == ENV_ID
    assert vf.task_type(ENV_ID) is AttuneTask


def test_a_task_carries_the_record_settings_and_reward_and_nothing_made_of_them() -> None:
    task = first_task(environment({"mode": "verbose", "labels_seed": 3, "reward": "skill"}))
    data = task.data
    assert set(data.model_dump(exclude_unset=True)) == {
        "idx", "id", "name", "prompt", "conversation", "settings", "reward",
    }  # fmt: skip
    assert data.conversation == sample()[0].to_record()
    assert data.prompt == sample()[0].turns[0].user_message
    assert reward_from(data.reward) == RewardSpec.preset("skill")
    assert data.task.settings == Settings(mode="verbose", seed=3)
    assert data.task.requests == plan(sample()[0], Settings(mode="verbose", seed=3))


def test_a_task_comes_back_from_json_as_it_was() -> None:
    for granularity in ("conversation", "request"):
        for task in taskset(granularity=granularity, number=2, mode="omniscient"):
            again = AttuneData.model_validate(json.loads(task.data.model_dump_json()))
            assert again == task.data
            assert again.task == task.data.task
            assert AttuneTask(again, task.config).hash == task.hash


def test_a_mixture_with_weights_has_no_end_without_a_number() -> None:
    endless = taskset(data="3*written+sample", training=True)
    assert not endless.bounded
    assert endless.take(3).bounded
    with pytest.raises(ValueError, match="infinite"):
        endless.shuffle()
    names = [task.key for task in islice(iter(endless), 4)]
    bounded = taskset(data="3*written+sample", training=True, number=4)
    assert bounded.bounded
    assert [task.key for task in bounded] == names


def test_reading_traces_and_naming_the_package_does_not_load_verifiers() -> None:
    code = (
        "import sys, attune_episodes.frameworks.verifiers as v, attune_env\n"
        "v.rollouts_from, dir(v), dir(attune_env)\n"
        "print('verifiers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == "False"


def check(task: AttuneTask) -> bool:
    runtime: Any = None  # not used
    return asyncio.run(task.validate(runtime))


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"granularity": "request", "number": 4},
        {"data": "written", "number": 4, "mode": "verbose_omniscient"},
        {"number": 4, "panas_strategy": "delta", "prompts": "compact"},
        {"number": 4, "reward": "skill", "labels": "official", "granularity": "request"},
        {"number": 4, "stages": ["assess"], "reward": {"weights": {"emotion_va": 2, "binary_om": 1}}},
    ],
    ids=str,
)
def test_every_task_is_valid(config: dict[str, Any]) -> None:
    tasks = list(taskset(**config))
    assert tasks
    for task in tasks:
        assert check(task)


def test_validation_sees_a_prompt_that_tells_an_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (task,) = taskset(number=1)
    record = json.loads(json.dumps(task.data.conversation))
    # A plan is kept with its conversation. The plan kept here is made to tell an answer; the record without
    # its answers is another object, is planned anew, and tells nothing.
    leaking = AttuneTask(task.data.model_copy(update={"conversation": record}), task.config)
    asked = leaking.data.task
    asked.conversation.memo["plans"] = {
        asked.settings.key: tuple(
            _with_answer(request) if request.stage == "reflect" else request for request in asked.requests
        )
    }
    try:
        assert not check(leaking)
        assert "sample-01/end/reflect depends on an annotated answer" in caplog.text
    finally:
        asked.conversation.memo.clear()


def _with_answer(request: Any) -> Any:
    first, *rest = request.messages
    return replace(request, messages=(Message("system", first.content + " The answer is 2."), *rest))


@pytest.mark.parametrize("granularity", ["conversation", "request"])
def test_validation_sees_an_oracle_that_does_not_earn_everything(
    granularity: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    task = next(iter(taskset(number=1, granularity=granularity)))
    assert check(task)

    def prior(name: str, about: Any, settings: Settings) -> Any:
        assert name == "oracle"
        return builtin_policy("prior", sample(), settings)

    monkeypatch.setattr("attune_episodes.frameworks.verifiers.validity.builtin_policy", prior)
    assert not check(task)
    assert "the annotations' own answers to sample-01/1/assess earn 0." in caplog.text


def test_validation_sees_a_carried_prompt_that_is_not_the_plans(caplog: pytest.LogCaptureFixture) -> None:
    task = next(iter(taskset(granularity="request", number=1)))
    assert not check(AttuneTask(task.data.model_copy(update={"system_prompt": "Guess."}), task.config))
    assert "differs from the plan's" in caplog.text


@pytest.mark.slow
def test_a_worker_with_other_prompts_or_another_wording_says_so(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(FOLDER / "compact", mine)
    (task,) = taskset(number=1, prompts=str(mine))
    task.data.check_prompts()
    for what in ("prompts", "codebook"):
        settings = json.loads(json.dumps(task.data.settings))
        settings["fingerprints"][what] = "0" * 16
        other = task.data.model_copy(update={"settings": settings})
        told = rf"task sample-01: settings\.{what}: found .* fingerprint"
        with pytest.raises(DataError, match=told):
            other.check_prompts()
        with pytest.raises(DataError, match=told):
            check(AttuneTask(other, task.config))
        with serve(lexicon()) as server:
            (episode,) = episodes(environment({"number": 1}), server.url, [AttuneTask(other, task.config)])
        assert server.calls == []
        assert not episode.ok
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        assert any(f"settings.{what}" in error.message for error in errors)
