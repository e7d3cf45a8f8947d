"""Which tasks there are, what they carry, and what is told when a configuration is wrong."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pytest
import verifiers.v1 as vf
from pydantic import ValidationError

import attune_env
from attune_data import load
from attune_data.errors import AttuneError, DataError, SettingsError, UnknownNameError
from attune_data.guard import BenchmarkTrainingError
from attune_data.simulate import LEVELS
from attune_episodes import Settings, plan, to_dataset
from attune_episodes.prompts import FOLDER
from attune_episodes.verifiers_env import AttuneData, AttuneTask, AttuneTaskset
from attune_episodes.verifiers_env.config import ENV_ID, AttuneTasksetConfig, Level
from attune_rewards import RewardSpec
from attune_rewards.spec_files import describe_reward, reward_from
from tests.verifiers_env.play import environment, first_task, sample, taskset


def saved(folder: Path, number: int = 3, **changes: Any) -> Path:
    """Some conversations of the sample as a file, their records changed."""
    lines = [json.dumps({**one.to_record(), **changes}) for one in sample()[:number]]
    path = folder / "conversations.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def check(task: AttuneTask) -> bool:
    runtime: Any = None  # not used
    return asyncio.run(task.validate(runtime))


def test_the_id_finds_one_taskset_one_harness_and_one_environment_in_the_package() -> None:
    named = {name: getattr(attune_env, name) for name in attune_env.__all__}
    for kind, name in ((vf.Taskset, "AttuneTaskset"), (vf.Harness, "AttuneHarness"), (vf.Env, "AttuneEnv")):
        of_kind = [n for n, value in named.items() if isinstance(value, type) and issubclass(value, kind)]
        assert of_kind == [name]
    assert vf.environment_class(ENV_ID) is attune_env.AttuneEnv
    assert vf.default_harness_id(ENV_ID) == ENV_ID
    assert vf.task_type(ENV_ID) is AttuneTask


def test_without_any_setting_the_sample_is_played_whole_in_this_process() -> None:
    env = environment()
    assert [task.key for task in env.taskset] == [one.conversation_id for one in sample()]
    assert env.config.agent.runtime.type == "subprocess"
    assert isinstance(env._harnesses["agent"], attune_env.AttuneHarness)


def test_a_task_carries_the_record_settings_and_reward_and_nothing_made_of_them() -> None:
    task = first_task(environment({"mode": "verbose", "labels_seed": 3, "reward": "skill"}))
    data = task.data
    assert set(data.model_dump(exclude_unset=True)) == {
        "idx", "id", "name", "prompt", "conversation", "settings", "reward",
    }  # fmt: skip
    assert data.conversation == sample()[0].to_record()
    assert data.prompt == sample()[0].turns[0].user_message
    assert reward_from(data.reward) == RewardSpec.preset("skill")
    assert data.told.settings == Settings(mode="verbose", seed=3)
    assert data.told.requests == plan(sample()[0], Settings(mode="verbose", seed=3))


def test_a_task_comes_back_from_json_as_it_was() -> None:
    for granularity in ("conversation", "request"):
        for task in taskset(granularity=granularity, number=2, mode="omniscient"):
            again = AttuneData.model_validate(json.loads(task.data.model_dump_json()))
            assert again == task.data
            assert again.told == task.data.told
            assert AttuneTask(again, task.config).hash == task.hash


def test_a_worker_reads_a_conversation_only_once() -> None:
    one, two = (first_task(environment()).data.told for _ in range(2))
    assert one is two
    tasks = list(taskset(granularity="request", number=1))
    assert len({id(task.data.told.conversation) for task in tasks}) == 1


def test_one_request_a_task_gives_the_rows_of_a_training_set() -> None:
    rows = list(to_dataset(list(sample()[:3])))
    tasks = list(taskset(granularity="request", number=3))
    assert [task.key for task in tasks] == [row["id"] for row in rows]
    for task, row in zip(tasks, rows, strict=True):
        data = task.data
        assert isinstance(data.prompt, list)
        shown = [{"role": "system", "content": data.system_prompt}]
        shown += [{"role": one.role, "content": str(one.content)} for one in data.prompt]
        assert shown == row["prompt"]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"granularity": "request", "number": 4},
        {"data": "simulated", "number": 4},
        {"data": "simulated", "number": 2, "level": "tangled", "mode": "verbose_omniscient"},
        {"number": 4, "panas_strategy": "delta", "prompts": "compact"},
        {"number": 4, "reward": "skill", "labels": "official", "granularity": "request"},
        {"number": 4, "stages": ["assess"], "weights": {"emotion_va": 2, "binary_om": 1}},
    ],
    ids=str,
)
def test_every_task_is_valid(config: dict[str, Any]) -> None:
    tasks = list(taskset(**config))
    assert tasks
    for task in tasks:
        assert check(task)


def test_validation_sees_a_prompt_that_tells_an_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (task,) = taskset(number=1)
    record = json.loads(json.dumps(task.data.conversation))
    # the texts of the alternatives may be seen; an id that is answered may not change the prompt. So the
    # prompts are made to differ: a plan that is kept for the blank record, but of another conversation.
    leaking = AttuneTask(task.data.model_copy(update={"conversation": record}), task.config)
    told = leaking.data.told
    told.conversation.memo["plans"] = {
        told.settings.key: tuple(
            _with_answer(request) if request.stage == "reflect" else request for request in told.requests
        )
    }
    try:
        assert not check(leaking)
        assert "sample-01/end/reflect depends on an annotated answer" in caplog.text
    finally:
        told.conversation.memo.clear()


def _with_answer(request: Any) -> Any:
    from dataclasses import replace

    from attune_episodes.request import Message

    first, *rest = request.messages
    return replace(request, messages=(Message("system", first.content + " The answer is 2."), *rest))


def test_validation_sees_a_carried_prompt_that_is_not_the_plans(caplog: pytest.LogCaptureFixture) -> None:
    task = next(iter(taskset(granularity="request", number=1)))
    assert not check(AttuneTask(task.data.model_copy(update={"system_prompt": "Guess."}), task.config))
    assert "is not the one of the plan" in caplog.text


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


def test_what_cannot_be_scored_is_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    records = [one.to_record() for one in sample()[:2]]
    for turn in records[0]["turns"]:
        turn["annotations"]["pairwiseComparisons"] = []
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    tasks = list(taskset(data=str(path), reward="preference"))
    assert [task.key for task in tasks] == ["sample-02"]
    assert "reward 'preference' scores nothing: \"sample-01\"" in caplog.text


def test_benchmark_records_are_refused_for_training_and_played_in_evaluation(tmp_path: Path) -> None:
    path = str(saved(tmp_path, provenance="benchmark"))
    assert len(list(taskset(data=path))) == 3
    with pytest.raises(BenchmarkTrainingError, match="may not be trained on"):
        taskset(data=path, training=True)
    assert len(list(taskset(data="sample", training=True))) == 20


def test_an_official_codebook_beside_the_data_is_asked_with(tmp_path: Path) -> None:
    path = saved(tmp_path, 1)
    book = {"B1": {"text": "Did it greet you?", "observerText": "Did it greet the person?"}}
    (tmp_path / "annotation_codebook.json").write_text(json.dumps(book), encoding="utf-8")
    (task,) = taskset(data=str(path))
    assert task.data.settings["codebook"] == str(tmp_path / "annotation_codebook.json")
    assert any("Did it greet the person?" in r.messages[-1].content for r in task.data.told.requests)


def test_a_worker_with_other_prompts_or_another_wording_says_so(tmp_path: Path) -> None:
    import shutil

    mine = tmp_path / "mine"
    shutil.copytree(FOLDER / "compact", mine)
    (task,) = taskset(number=1, prompts=str(mine))
    task.data.check_prompts()
    for what in ("prompts", "codebook"):
        settings = json.loads(json.dumps(task.data.settings))
        settings["fingerprints"][what] = "0" * 16
        other = task.data.model_copy(update={"settings": settings})
        with pytest.raises(DataError, match=rf"task sample-01: settings\.{what}: found .* fingerprint"):
            other.check_prompts()


def test_levels_are_those_of_the_simulator() -> None:
    assert get_args(Level) == tuple(LEVELS)


@pytest.mark.parametrize(
    ("config", "choices"),
    [
        ({"mode": "loud"}, "'default', 'verbose', 'omniscient' or 'verbose_omniscient'"),
        ({"stages": ["asess"]}, "'draft', 'assess', 'assess_hp', 'prefer' or 'reflect'"),
        ({"level": "easy"}, "'plain', 'clear', 'default', 'blunted' or 'tangled'"),
        ({"granularity": "turn"}, "'conversation' or 'request'"),
        ({"labels": "none"}, "'masked' or 'official'"),
        ({"panas_strategy": "relative"}, "'absolute', 'delta' or 'blind_delta'"),
        ({"provenance": "mine"}, "'simulated', 'imported', 'own' or 'benchmark'"),
        ({"nummer": 3}, "Extra inputs are not permitted"),
    ],
    ids=str,
)
def test_a_wrong_name_is_told_with_the_choices(config: dict[str, Any], choices: str) -> None:
    with pytest.raises(ValidationError, match=choices):
        AttuneTasksetConfig.model_validate(config)


@pytest.mark.parametrize(
    ("config", "kind", "told"),
    [
        ({"reward": "compsite"}, UnknownNameError, "did you mean 'composite'"),
        ({"prompts": "short"}, UnknownNameError, "known: full, compact, a folder of templates"),
        ({"data": "nowhere"}, DataError, "nowhere: found no such file or folder"),
        ({"where": "nothing=1"}, AttuneError, "nothing"),
        ({"level": "plain"}, SettingsError, 'level and world_seed describe data="simulated"'),
        ({"stages": []}, SettingsError, "no stage is asked"),
        ({"stages": ["draft"]}, SettingsError, "scores nothing in the stages draft"),
        ({"stages": ["draft"], "granularity": "request"}, SettingsError, "scores nothing in the stages"),
        ({"weights": {"pairwise": 1}, "reward": "skill"}, SettingsError, "give one"),
        ({"weights": {"pairwize": 1}}, DataError, "pairwize"),
        ({"reward": {"preset": "composite", "terminal": True}, "granularity": "request"}, SettingsError,
         "terminal"),
        ({"reward": '{"preset": "nope"}'}, DataError, "nope"),
        ({"task": {"draft_judge": {"enabled": True}}, "stages": ["assess"]}, SettingsError, "add draft"),
        ({"task": {"draft_judge": {"enabled": True}}, "granularity": "request"}, SettingsError,
         "use granularity conversation"),
    ],
    ids=str,
)  # fmt: skip
def test_what_does_not_fit_is_told_when_the_taskset_is_made(
    config: dict[str, Any], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        taskset(**config)


def test_an_empty_folder_is_told_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="conversation_"):
        taskset(data=str(tmp_path))


def test_rewards_are_named_described_and_weighted(tmp_path: Path) -> None:
    given: dict[str, Any] = {"preset": "skill", "format": 0.1}
    wanted = describe_reward(RewardSpec.preset("skill").with_format(0.1))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    for reward in (given, json.dumps(given), str(path)):
        made = describe_reward(taskset(reward=reward).spec)
        assert made["nulls"] == wanted["nulls"]
        assert made["tree"]["children"] == wanted["tree"]["children"]
    flat = taskset(weights={"emotion_va": 2, "pairwise": 1}).spec
    assert sorted(flat.parts) == ["emotion_va", "pairwise"]


def test_a_reward_of_python_functions_cannot_travel(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from attune_rewards import RewardSpec\n"
        "reward = RewardSpec.preset('composite').with_part('x', 'draft', lambda t, u, s: 1.0, 0.1)\n",
        encoding="utf-8",
    )
    with pytest.raises(SettingsError, match="is a Python function"):
        taskset(reward=str(path))


@pytest.mark.parametrize("harness", ["null", "bash"])
def test_a_chat_harness_is_refused_for_whole_conversations(harness: str) -> None:
    with pytest.raises(ValueError, match=rf"harness '{harness}' cannot play whole conversations"):
        environment(agent={"harness": {"id": harness}})
    config = environment().config
    other = vf.resolve_env_config(
        {"taskset": {"id": ENV_ID, "granularity": "request"}, "agent": {"harness": {"id": harness}}}
    )
    with pytest.raises(ValueError, match="granularity request"):
        attune_env.AttuneEnv(config.model_copy(update={"agent": other.agent}))  # past the validator


def test_reading_traces_and_naming_the_package_does_not_load_verifiers() -> None:
    code = (
        "import sys, attune_episodes.verifiers_env as v, attune_env\n"
        "v.rollouts_from, dir(v), dir(attune_env)\n"
        "print('verifiers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"


def test_the_data_of_another_process_is_not_needed(tmp_path: Path) -> None:
    """What a task carries is enough where the files are gone."""
    path = saved(tmp_path, 1)
    (task,) = taskset(data=str(path))
    path.unlink()
    again = AttuneData.model_validate(json.loads(task.data.model_dump_json()))
    assert check(AttuneTask(again, task.config))
    assert load("sample")[0].conversation_id == again.told.conversation.conversation_id


def test_a_taskset_is_made_without_an_environment() -> None:
    made = vf.load_taskset(vf.taskset_config_type(ENV_ID).model_validate({"id": ENV_ID, "number": 2}))
    assert isinstance(made, AttuneTaskset)
    assert [task.data.idx for task in made] == [0, 1]
