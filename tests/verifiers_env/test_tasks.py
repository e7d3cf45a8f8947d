"""Which tasks there are and what they carry."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice

import pytest
import verifiers.v1 as vf

import attune_env
from attune_episodes import Settings, plan
from attune_episodes.verifiers_env.config import ENV_ID
from attune_episodes.verifiers_env.tasks import AttuneData, AttuneTask
from attune_rewards import RewardSpec
from attune_rewards.spec_files import reward_from
from tests import PATIENCE
from tests.verifiers_env.play import environment, first_task, sample, taskset


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


def test_simulated_people_have_no_end_without_a_number_and_are_made_as_they_are_read() -> None:
    endless = taskset(data="simulated", level="plain", world_seed=4)
    assert not endless.bounded
    assert endless.take(3).bounded
    with pytest.raises(ValueError, match="infinite"):
        endless.shuffle()
    names = [task.key for task in islice(iter(endless), 3)]
    bounded = taskset(data="simulated", level="plain", world_seed=4, number=3)
    assert bounded.bounded
    assert [task.key for task in bounded] == names


def test_reading_traces_and_naming_the_package_does_not_load_verifiers() -> None:
    code = (
        "import sys, attune_episodes.verifiers_env as v, attune_env\n"
        "v.rollouts_from, dir(v), dir(attune_env)\n"
        "print('verifiers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == "False"
