"""Playing tasks of `attune-env` in tests, with verifiers' own objects against the loopback endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import verifiers.v1 as vf

from attune_data import Conversations, load
from attune_episodes.frameworks.verifiers import AttuneEnv, AttuneTaskset, AttuneTasksetConfig
from attune_episodes.frameworks.verifiers.tasks import AttuneTask
from attune_episodes.frameworks.verifiers.traces import AnyEpisode, AnyTask, AnyTrace
from tests.endpoint import Book, answers_of

MODEL = "test/model"
Json = dict[str, Any]


@cache
def sample() -> Conversations:
    return load("sample")


@cache
def lexicon() -> Book:
    """The lexicon's replies to every request of the sample."""
    return answers_of(sample(), "lexicon")


def environment(taskset: Json | None = None, agent: Json | None = None, **env: Any) -> AttuneEnv:
    """The environment as every command line makes it; the harness does not wait before it retries."""
    agent = agent or {}
    if agent.get("harness", {}).get("id", "attune-env") == "attune-env":
        agent = {**agent, "harness": {"backoff": 0, **agent.get("harness", {})}}
    config = vf.resolve_env_config(
        {"taskset": {"id": "attune-env", **(taskset or {})}, "agent": agent, **env}
    )
    made = vf.load_environment(config)
    assert isinstance(made, AttuneEnv)
    return made


def saved(folder: Path, number: int = 3, **changes: Any) -> Path:
    """Some conversations of the sample as a file, their records changed."""
    lines = [json.dumps({**one.to_record(), **changes}) for one in sample()[:number]]
    path = folder / "conversations.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def taskset(**config: Any) -> AttuneTaskset:
    """A taskset by its configuration."""
    return AttuneTaskset(AttuneTasksetConfig.model_validate(config))


def context(url: str, **sampling: Any) -> vf.ModelContext:
    """Which model plays, and where."""
    client = vf.EvalClientConfig(base_url=url, api_key_var="ATTUNE_TEST_NO_KEY")
    return vf.ModelContext(model=MODEL, client=client, sampling=vf.SamplingConfig(**sampling))


def episodes(
    env: vf.Env[Any], url: str, tasks: Sequence[AnyTask] | None = None, **sampling: Any
) -> list[AnyEpisode]:
    """Every task (by default: of the taskset) played, all of them at the same time."""

    async def run() -> list[AnyEpisode]:
        ctx = context(url, **sampling)
        async with env.serving():
            chosen = list(env.taskset) if tasks is None else tasks
            return list(await asyncio.gather(*(env.run_episode(task, ctx) for task in chosen)))

    return asyncio.run(run())


def played(
    env: vf.Env[Any], url: str, tasks: Sequence[AnyTask] | None = None, **sampling: Any
) -> list[AnyTrace]:
    """The one trace of each episode; all of them must have gone well."""
    found = episodes(env, url, tasks, **sampling)
    for one in found:
        assert one.ok, (one.errors, [trace.errors for trace in one.traces])
    return [one.traces[0] for one in found]


def replies(trace: AnyTrace) -> dict[str, Json]:
    """Request id -> what the trace keeps of it."""
    found: dict[str, Json] = trace.info["attune"]["replies"]
    return found


def key(trace: AnyTrace) -> str:
    """Id of the conversation, or of the request, that a trace is of."""
    assert trace.task.key is not None
    return trace.task.key


def metric(trace: AnyTrace, name: str) -> float:
    """A metric that is there."""
    value = trace.metrics[name]
    assert value is not None
    return value


def reward(trace: AnyTrace, name: str) -> vf.Reward:
    """A reward that is there."""
    found = trace.rewards[name]
    assert found is not None
    return found


def first_task(env: AttuneEnv, number: int = 0) -> AttuneTask:
    task = list(env.taskset.take(number + 1))[number]
    assert isinstance(task, AttuneTask)
    return task
