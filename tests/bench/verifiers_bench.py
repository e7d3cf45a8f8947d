"""Calls a second and CPU a call through verifiers: our harness beside the stock `null` harness.

Both send the same requests of the bundled sample to one server in a process of its own, which answers at
once: by request (one rollout a request, the only way in which `null` can play them), ours by conversation
too (one rollout for all requests of a conversation). CPU is that of this process and of the programs that a
harness starts; what the server needs is not in it. `null` makes about one call a second, so it gets few.
"""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import time
from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import verifiers.v1 as vf

from tests.bench.measuring import told
from tests.endpoint import endpoint_process

ROUNDS: Final = 3
NULL_CALLS: Final = 12
STAGES: Final = ["assess", "prefer", "reflect"]
"""Those that are asked at request granularity: drafts and re-asked judgements earn nothing."""
NULL: Final = (("null by request, 1 at a time", 1), ("null by request, 4 at a time", 4))
OURS: Final = (
    ("by request, 1 at a time", "request", 1, 1),
    ("by request, 32 at a time", "request", 1, 32),
    ("by conversation, 1 at a time", "conversation", 1, 1),
    ("by conversation, 1 at a time, parallel 8", "conversation", 8, 1),
    ("by conversation, 8 at a time", "conversation", 1, 8),
    ("by conversation, 8 at a time, parallel 8", "conversation", 8, 8),
)
"""(name, granularity, requests of an episode in flight, episodes at a time)"""


def _env(granularity: str, **harness: Any) -> Any:
    taskset = {"id": "attune-env", "granularity": granularity, "stages": STAGES}
    agent = {"harness": harness, "runtime": {"type": "subprocess"}}
    return vf.load_environment(vf.resolve_env_config({"taskset": taskset, "agent": agent}))


async def _play(env: Any, tasks: Sequence[Any], at_once: int, context: Any) -> tuple[float, float]:
    """Calls a second and ms of CPU a call over each task once, so many at a time; none may fail."""
    gate = asyncio.Semaphore(at_once)
    slots = [slot for task in tasks for slot in env.slots(task)]
    before, started = os.times(), time.perf_counter()
    played = await asyncio.gather(*(env.run_slot(slot, context, gate) for slot in slots))
    wall, after = time.perf_counter() - started, os.times()
    assert all(episode.ok for episode in played), next(e for e in played if not e.ok)
    calls = sum(len(trace.calls) for episode in played for trace in episode.traces)
    return calls / wall, 1e3 * (sum(after[:4]) - sum(before[:4])) / calls


async def _measure(url: str) -> dict[str, list[tuple[float, float]]]:
    client = vf.EvalClientConfig(base_url=url, api_key_var="ATTUNE_BENCH_KEY")
    context = vf.ModelContext(client=client, model="fake", sampling=vf.SamplingConfig())
    cases = [(name, _env("request", id="null"), at_once, NULL_CALLS) for name, at_once in NULL]
    cases += [
        (name, _env(granularity, id="attune-env", parallel=parallel), at_once, 10**6)
        for name, granularity, parallel, at_once in OURS
    ]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in cases}
    for number in range(ROUNDS + 1):
        for name, env, at_once, limit in cases:
            tasks = list(env.taskset)[: limit if number else 2]  # the first round warms up
            async with env.serving():
                speed = await _play(env, tasks, at_once, context)
            if number:
                found[name].append(speed)
    return found


def _tell(found: dict[str, list[tuple[float, float]]]) -> None:
    rates = {name: [calls for calls, _ in speeds] for name, speeds in found.items()}
    for name, speeds in found.items():
        cpu = statistics.median(cpu for _, cpu in speeds)
        print(f"verifiers, {name}: {told(rates[name])} calls a second, {cpu:.2f} ms CPU a call")
    for (stock, _), (name, *_) in product(NULL, OURS):
        ratios = [mine / slow for mine, slow in zip(rates[name], rates[stock], strict=True)]
        print(f"{name} / {stock}: {told(ratios, '.0f')}; aim: at least 100, at 8 ms CPU a call at most")


def verifiers_speed() -> None:
    """All figures of this file."""
    os.environ.setdefault("ATTUNE_BENCH_KEY", "any")
    logging.getLogger("verifiers").setLevel(logging.ERROR)
    with endpoint_process("--policy", "lexicon") as model:
        found = asyncio.run(_measure(model.url))
        facts = model.facts()
    assert not facts["unknown"], facts
    assert list(facts["statuses"]) == ["200"], facts["statuses"]
    _tell(found)
    share = 1e3 * facts["cpu_seconds"] / facts["calls"]
    print(f"the server needed {share:.2f} ms CPU for each of {facts['calls']} calls, beside that")


if __name__ == "__main__":
    verifiers_speed()
