"""`Task.validate`: what it proves of a task, and that it fails where it should; what travels to workers."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attune_data.errors import DataError
from attune_episodes import Settings, builtin_policy
from attune_episodes.prompts import FOLDER
from attune_episodes.request import Message
from attune_episodes.verifiers_env.tasks import AttuneTask
from tests.endpoint import serve
from tests.verifiers_env.play import environment, episodes, lexicon, sample, taskset


def check(task: AttuneTask) -> bool:
    runtime: Any = None  # not used
    return asyncio.run(task.validate(runtime))


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"granularity": "request", "number": 4},
        {"data": "simulated", "number": 4},
        {"data": "simulated", "number": 2, "level": "tangled", "mode": "verbose_omniscient"},
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

    monkeypatch.setattr("attune_episodes.verifiers_env.checks.builtin_policy", prior)
    assert not check(task)
    assert "the annotations' own answers to sample-01/1/assess earn 0." in caplog.text


def test_validation_sees_a_carried_prompt_that_is_not_the_plans(caplog: pytest.LogCaptureFixture) -> None:
    task = next(iter(taskset(granularity="request", number=1)))
    assert not check(AttuneTask(task.data.model_copy(update={"system_prompt": "Guess."}), task.config))
    assert "is not the one of the plan" in caplog.text


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
