"""The env server that trainers run, with one and with two workers; and a chat harness of another kind."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.serve import EnvClient, env_config_data, serve_env

from attune_episodes import builtin_policy, rollout, score_row
from attune_episodes.frameworks.verifiers import rollouts_from
from attune_episodes.training import training_dataset
from tests import PATIENCE
from tests.endpoint import serve
from tests.frameworks.verifiers.play import MODEL, context, environment, lexicon, played, sample

NUMBER = 6


def _serve(workers: int, config: Any, addresses: Any) -> None:
    serve_env(
        max_workers=workers, elastic=False, address="tcp://127.0.0.1:0", address_queue=addresses,
        config_data=config, max_concurrent=4,
    )  # fmt: skip


@contextmanager
def env_server(workers: int, config: Any) -> Iterator[str]:
    """A server in a process of its own, stopped by its id; its address."""
    spawning = multiprocessing.get_context("spawn")
    addresses = spawning.Queue()
    process = spawning.Process(target=_serve, args=(workers, config, addresses))
    process.start()
    try:
        yield addresses.get(timeout=PATIENCE)
    finally:
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGTERM)
        process.join(30)
        if process.is_alive():
            process.kill()
            process.join(10)


async def _played(address: str, tasks: list[vf.Task[Any, Any, Any]], url: str) -> list[Any]:
    client = EnvClient(address=address)
    ctx = context(url)
    try:
        await client.wait_for_server_startup(timeout=120)
        runs = [
            client.run(
                client=ctx.client,
                model=MODEL,
                sampling=vf.SamplingConfig(),
                task_data=task.data.model_dump(mode="json"),
            )
            for task in tasks
        ]
        return list(await asyncio.gather(*runs))
    finally:
        await client.close()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("granularity", ["conversation", "request"])
def test_workers_pay_what_the_same_tasks_pay_in_this_process(workers: int, granularity: str) -> None:
    number = NUMBER if granularity == "conversation" else 2
    env = environment({"number": number, "granularity": granularity})
    tasks = list(env.taskset)
    with serve(lexicon(), faults=["garbage,share=0.2,seed=1,of=*/assess"]) as server:
        here = {trace.task.key: trace for trace in played(env, server.url, tasks)}
    with (
        serve(lexicon(), faults=["garbage,share=0.2,seed=1,of=*/assess"]) as server,
        env_server(workers, env_config_data(env.config)) as address,
    ):
        episodes = asyncio.run(_played(address, tasks, server.url))
        assert server.unknown == []
    assert all(episode.ok for episode in episodes)
    there = {episode.traces[0].task.key: episode.traces[0] for episode in episodes}
    assert there.keys() == here.keys()
    for key, trace in there.items():
        assert trace.rewards == here[key].rewards
        assert trace.metrics == here[key].metrics
        assert trace.info["attune"]["replies"].keys() == here[key].info["attune"]["replies"].keys()
    conversations = {one.conversation.conversation_id for one in rollouts_from(there.values())}
    assert conversations == {about.conversation_id for about in sample()[:number]}


def test_verifiers_own_chat_harness_plays_single_requests(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    # it starts its program with uv, which lies beside this Python
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    rows = {row["id"]: row for row in training_dataset(list(sample()[:1]), reward="composite")}
    env = environment({"number": 1, "granularity": "request"}, {"harness": {"id": "null"}})
    tasks = list(env.taskset)[:2]
    with serve(lexicon()) as server:
        traces = played(env, server.url, tasks)
        bodies = [call.body["messages"] for call in server.calls]
    assert sorted(map(str, bodies)) == sorted(str(rows[task.key]["prompt"]) for task in tasks)
    policy = builtin_policy("lexicon", sample())
    replies = {step.request.id: step.reply for step in rollout(sample()[0], policy).steps}
    for trace in traces:
        assert trace.task.key is not None
        assert trace.reward == score_row(rows[trace.task.key], replies[trace.task.key]).value
        assert trace.metrics["answered"] == 1.0
