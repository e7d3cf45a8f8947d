"""What one worker and several do in a second, which docs/performance.md names.

    python -m tests.bench.scale_bench [WORKERS]

Workers are started and have imported everything before the clock starts. OpenEnv's line comes where it is
installed; its clients run here too, and the time they take is printed, since it is not left for workers.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from attune_data import Conversations, load
from attune_episodes import builtin_policy, plan, rollout
from attune_episodes.play.policy import Policy, prepared
from attune_episodes.training import score_row, training_dataset
from tests.bench.measuring import told
from tests.command import ATTUNE

ROUNDS: Final = 7
SHARDS: Final = 40
"""How many shards the conversations of the written train split make."""
SESSIONS, PASSES = 16, 5
"""OpenEnv sessions at a time, and how often they play the sample."""


@cache
def _written() -> Conversations:
    return load("written:train")


@cache
def _shard(shard: int) -> tuple[Conversations, Policy]:
    own = _written()[shard::SHARDS]
    return own, builtin_policy("lexicon", own)


def _episodes(shard: int) -> int:
    own, policy = _shard(shard)
    for conversation in own:
        conversation.memo.clear()  # nothing of an episode that was played before
        rollout(conversation, policy)
    return len(own)


@cache
def _rows() -> list[tuple[dict[str, Any], str]]:
    own, policy = _shard(0)
    said = {r.id: str(p.reply(r)) for c in own for p in [prepared(policy, c)] for r in plan(c)}
    return [(row, said[row["id"]]) for row in training_dataset(own, reward="composite")]


def _scored(shard: int) -> int:
    return sum(score_row(row, reply).reason != "" for row, reply in _rows() * 8)


def _ready(started: Any) -> None:
    _rows()
    for shard in range(SHARDS):
        _shard(shard)
    started.wait()


@contextmanager
def pool(workers: int) -> Iterator[Callable[[Callable[[int], int]], float]]:
    """Items a second of a kind of work, done by so many processes."""
    spawning = multiprocessing.get_context("spawn")
    started = spawning.Barrier(workers + 1)
    with spawning.Pool(workers, _ready, (started,)) as processes:
        started.wait()

        def rate(work: Callable[[int], int]) -> float:
            began = time.perf_counter()
            done = sum(processes.imap_unordered(work, range(SHARDS)))
            return done / (time.perf_counter() - began)

        yield rate


async def _session(url: str, waiting: list[tuple[str, list[str]]]) -> None:
    from websockets.asyncio.client import connect

    async with connect(f"ws{url.removeprefix('http')}/ws", max_size=None) as session:
        while waiting:
            name, replies = waiting.pop()
            await session.send(json.dumps({"type": "reset", "data": {"conversation_id": name}}))
            await session.recv()
            for reply in replies:
                await session.send(json.dumps({"type": "step", "data": {"message": reply}}))
                last = await session.recv(decode=False)
            assert b'"done":true' in bytes(last).replace(b" ", b""), last[:200]


@contextmanager
def server(workers: int) -> Iterator[Callable[[Any], float]]:
    """Sessions a second of a server of so many processes, each of one conversation and in its turn."""
    command = [
        str(ATTUNE),
        "serve",
        "openenv",
        "--port",
        "0",
        "--workers",
        str(workers),
        "--max-sessions",
        "64",
    ]

    async def played(url: str, waiting: list[tuple[str, list[str]]]) -> None:
        await asyncio.gather(*(_session(url, waiting) for _ in range(SESSIONS)))

    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()

        def rate(said: Any) -> float:
            began = time.perf_counter()
            asyncio.run(played(url, said * PASSES))
            return len(said) * PASSES / (time.perf_counter() - began)

        yield rate
        process.terminate()


def _said() -> list[tuple[str, list[str]]]:
    sample = load("sample")
    policy = builtin_policy("lexicon", sample)
    return [(c.conversation_id, [str(prepared(policy, c).reply(r)) for r in plan(c)]) for c in sample]


def line(name: str, work: Any, few: Callable[[Any], float], many: Callable[[Any], float]) -> None:
    """Prints a line of the table, of rounds in turn after one that warms up."""
    pairs = [(few(work), many(work)) for _ in range(ROUNDS + 1)][1:]
    one, other = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    print(f"| {name} | {one:,.0f} | {other:,.0f} | {told([b / a for a, b in pairs])} |", flush=True)


def main(workers: int = 2) -> None:
    """Prints the table."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}"
    print(
        f"{time.strftime('%Y-%m-%d')}, {machine}, load {os.getloadavg()[0]:.1f}; medians of {ROUNDS} rounds\n"
    )
    print(f"| a second | 1 worker | {workers} workers | ratio |\n|---|---:|---:|---:|")
    with pool(1) as few, pool(workers) as many:
        line("episodes", _episodes, few, many)
        line("rows scored", _scored, few, many)
    if find_spec("openenv"):
        said, before, began = _said(), time.process_time(), time.perf_counter()
        with server(1) as few, server(workers) as many:
            line("OpenEnv sessions", said, few, many)
        share = (time.process_time() - before) / (time.perf_counter() - began)
        print(f"\nOpenEnv's clients ran beside the servers and took {share:.2f} of a core.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
