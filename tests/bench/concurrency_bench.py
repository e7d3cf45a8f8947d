"""Many sessions at once: what one server process carries, and what that does to an event loop.

    python -m tests.bench.concurrency_bench openenv [SESSIONS …]
    python -m tests.bench.concurrency_bench verifiers [SECONDS …]

`openenv`: that many sessions of one server process, each of which plays a conversation of the sample and
thinks for a second before each step, as a model would. Told as OpenEnv's own study tells it: the share of
sessions that end with every step answered, and the latency of a step. Needs attune-env[openenv]; server and
clients share the machine.

`verifiers`: 256 rollouts in one worker, as prime-rl keeps them, against a model that answers after so many
seconds; they begin one after the other within that time, and the clock runs for a minute while all are under
way. Told as prime-rl tells it: by how much the event loop wakes up late.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from attune_data import load
from attune_episodes import builtin_policy, plan
from attune_episodes.play.policy import prepared
from tests.command import ATTUNE
from tests.endpoint import EndpointProcess, endpoint_process

THINKING: Final = 1.0
"""Seconds before each step of a session."""
ROLLOUTS: Final = 256
"""Rollouts in one worker, as prime-rl has them."""
WINDOW: Final = 60.0
"""Most seconds for which they are watched."""
TICK: Final = 0.05
"""Seconds between two looks at the event loop."""
ENOUGH: Final = 0.99
"""Share of the sessions that must end well."""


def _percentiles(seconds: Sequence[float]) -> str:
    middle, high, most = 1e3 * np.percentile(np.asarray(seconds), (50, 99, 100))
    return f"{middle:.1f} | {high:.1f} | {most:.0f}"


@dataclass(slots=True)
class Lag:
    """How late an event loop wakes up, in seconds, one number a tick."""

    late: list[float] = field(default_factory=list)

    async def during(self, work: Awaitable[Any]) -> Any:
        """Watch the loop while the work is done."""
        watching = asyncio.create_task(self._watch())
        try:
            return await work
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK)
            self.late.append(time.perf_counter() - began - TICK)


async def _session(url: str, name: str, replies: Sequence[str], start: float, steps: list[float]) -> bool:
    """Play one conversation; whether every step was answered. Adds each step's seconds."""
    from websockets.asyncio.client import connect

    await asyncio.sleep(start)
    try:
        async with connect(f"ws{url.removeprefix('http')}/ws", max_size=None, open_timeout=60) as session:
            await session.send(json.dumps({"type": "reset", "data": {"conversation_id": name}}))
            await session.recv()
            last = b""
            for reply in replies:
                await asyncio.sleep(THINKING)
                began = time.perf_counter()
                await session.send(json.dumps({"type": "step", "data": {"message": reply}}))
                last = bytes(await session.recv(decode=False))
                steps.append(time.perf_counter() - began)
    except Exception as error:
        print(f"a session ended early: {error!r}", file=sys.stderr)
        return False
    return json.loads(last)["data"]["done"] is True


async def _sessions(url: str, said: Sequence[tuple[str, list[str]]], number: int) -> tuple[str, bool]:
    """A line of the table, and whether enough sessions ended well."""
    steps: list[float] = []
    lag = Lag()
    began = time.perf_counter()
    ended = await lag.during(
        _all(
            _session(url, name, replies, THINKING * place / number, steps)
            for place, (name, replies) in enumerate(islice(cycle(said), number))
        )
    )
    rate = len(steps) / (time.perf_counter() - began)
    late = 1e3 * float(np.percentile(np.asarray(lag.late), 99))
    well = sum(ended) / number
    return f"| {number} | {well:.1%} | {rate:.0f} | {_percentiles(steps)} | {late:.1f} |", well >= ENOUGH


async def _all(work: Any) -> list[Any]:
    return list(await asyncio.gather(*work))


def _used(process: int) -> tuple[float, float]:
    """CPU seconds and peak MB of a process."""
    times = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    peak = next(
        line.split()[1]
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("VmHWM")
    )
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"), int(peak) / 1024


def openenv_sessions(numbers: Sequence[int]) -> None:
    """Prints a line for each number of sessions, each with a server of its own."""
    sample = load("sample")
    policy = builtin_policy("lexicon", sample)
    said = [(c.conversation_id, [str(prepared(policy, c).reply(r)) for r in plan(c)]) for c in sample]
    heading = "sessions | ended well | steps a second | step P50 ms | P99 | max | clients' lag P99 ms"
    print(f"| {heading} | server's CPU | peak MB |\n|{'---:|' * 9}")
    for number in numbers:
        command = [str(ATTUNE), "serve", "openenv", "--port", "0", "--max-sessions", str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            before, began = _used(server.pid)[0], time.perf_counter()
            line, well = asyncio.run(_sessions(url, said, number))
            (cpu, peak), wall = _used(server.pid), time.perf_counter() - began
            print(
                f"{line} {(cpu - before) / wall:.0%} | {peak:.0f} |{'' if well else ' too few'}", flush=True
            )
            server.terminate()


async def _rollouts(model: EndpointProcess, seconds: float) -> str:
    """A line of the table: calls and CPU a second, and the lag of the loop, with all rollouts under way."""
    import verifiers.v1 as vf

    taskset = {"id": "attune-env", "granularity": "conversation"}
    agent = {"harness": {"id": "attune-env"}, "runtime": {"type": "subprocess"}}
    env: Any = vf.load_environment(vf.resolve_env_config({"taskset": taskset, "agent": agent}))
    client = vf.EvalClientConfig(base_url=model.url, api_key_var="ATTUNE_BENCH_KEY")
    context = vf.ModelContext(client=client, model="fake", sampling=vf.SamplingConfig())
    slots = [slot for task in islice(cycle(list(env.taskset)), ROLLOUTS) for slot in env.slots(task)]
    gate, lag = asyncio.Semaphore(ROLLOUTS), Lag()

    async def play(place: int, slot: Any) -> Any:
        await asyncio.sleep(seconds * place / ROLLOUTS)
        return await env.run_slot(slot, context, gate)

    async def calls() -> int:
        return int((await asyncio.to_thread(model.facts))["calls"])

    async with env.serving():
        playing = [asyncio.create_task(play(*item)) for item in enumerate(slots)]
        await asyncio.sleep(2 * seconds)
        called, began, before = await calls(), time.perf_counter(), time.process_time()
        watched = asyncio.wait(playing, timeout=WINDOW, return_when=asyncio.FIRST_COMPLETED)
        ended, _ = await lag.during(watched)
        wall, cpu = time.perf_counter() - began, time.process_time() - before
        rate = (await calls() - called) / wall
        assert all(one.result().ok for one in ended), [one.result() for one in ended]
        for one in playing:
            one.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
    return f"| {seconds:g} s | {rate:.0f} | {cpu / wall:.0%} | {_percentiles(lag.late)} |"


def verifiers_rollouts(seconds: Sequence[float]) -> None:
    """Prints a line for each time in which the model answers."""
    os.environ.setdefault("ATTUNE_BENCH_KEY", "any")
    logging.getLogger("verifiers").setLevel(logging.ERROR)
    print(f"{ROLLOUTS} rollouts in one worker\n")
    print("| model answers after | calls a second | CPU | lag P50 ms | P99 | max | peak MB |")
    print(f"|{'---:|' * 7}")
    for wait in seconds:
        with endpoint_process("--policy", "lexicon", "--latency-ms", str(1e3 * wait)) as model:
            line = asyncio.run(_rollouts(model, wait))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{line} {peak:.0f} |", flush=True)


def main(kind: str = "", *numbers: str) -> None:
    """Prints the table that is asked for."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}"
    print(f"{time.strftime('%Y-%m-%d')}, {machine}, load {os.getloadavg()[0]:.1f}\n")
    if kind == "openenv":
        openenv_sessions([int(number) for number in numbers] or [64, 128, 256, 512])
    elif kind == "verifiers":
        verifiers_rollouts([float(number) for number in numbers] or [10, 30])
    else:
        sys.exit("expected `openenv` or `verifiers`")


if __name__ == "__main__":
    main(*sys.argv[1:])
