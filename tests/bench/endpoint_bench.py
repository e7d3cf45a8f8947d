"""What `attune run` costs against a server on loopback: time beside the ideal, CPU beside a bare SDK loop."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai

from attune_data import Conversations
from attune_data.files.write import write_folder
from attune_env.running.jobs import Job
from attune_env.running.loop import Watcher
from attune_env.running.providers import endpoint_of
from attune_env.running.served import EndpointReport, run_endpoint
from attune_env.running.settings import Model, Options
from attune_env.running.tally import Tally
from attune_env.testing import filler
from attune_episodes import Request, plan
from tests.bench.inspect_bench import against_inspect
from tests.endpoint import EndpointProcess, endpoint_process

IN_FLIGHT, LATENCY, ROUNDS = 64, 0.5, 3
CONVERSATIONS = 60
"""1,032 calls."""
LONG = 300
"""5,048 calls."""
ATTUNE = str(Path(sys.executable).with_name("attune"))


@contextmanager
def _server(data: Conversations, latency: float) -> Iterator[tuple[EndpointProcess, Path]]:
    """A server that answers the requests of these conversations, and a folder with them in `data`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(data, folder / "data")
        options = ["--policy", "always-no", "--latency-ms", str(latency * 1000)]
        with endpoint_process("--data", folder / "data", *options) as server:
            yield server, folder


def _command(folder: Path, server: EndpointProcess) -> list[str]:
    """The command line of a run over the data in a folder."""
    return [ATTUNE, "run", "custom", "m", str(folder / "data"), "--base-url", server.url]


def _run(
    server: EndpointProcess, data: Conversations, in_flight: int, watcher: Watcher | None = None
) -> EndpointReport:
    model = Model("m", endpoint_of("custom", base_url=server.url, environment={}))
    with tempfile.TemporaryDirectory() as folder:
        options = Options(concurrency=in_flight)
        report = run_endpoint(model, data, Path(folder), options=options, watcher=watcher)
    assert (report.stopped, report.failed) == (None, ())
    return report


async def _bare(url: str, requests: Sequence[Request], in_flight: int) -> None:
    """The same requests over the SDK's own client, and nothing else."""
    coming = iter(requests)
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def work() -> None:
            for request in coming:
                schema = {"name": request.stage, "strict": True, "schema": request.schema}
                wanted: Any = {"type": "json_schema", "json_schema": schema}
                more = {} if request.stage == "draft" else {"response_format": wanted}
                messages: Any = request.chat()
                await client.chat.completions.create(model="m", messages=messages, **more)

        await asyncio.gather(*(work() for _ in range(in_flight)))


def against_the_ideal(data: Conversations) -> None:
    """Loop and whole process at 500 ms and 64 in flight."""
    loops, wholes = [], []
    with _server(data, LATENCY) as (server, folder):
        command = [*_command(folder, server), "--concurrency", str(IN_FLIGHT)]
        for number in range(ROUNDS):
            out = folder / f"out-{number}"
            started = time.perf_counter()
            subprocess.run([*command, "-o", str(out)], check=True, capture_output=True)
            whole = time.perf_counter() - started
            run = json.loads((out / "_run_custom_m.json").read_text())["runs"][0]
            ideal = run["calls"] * LATENCY / IN_FLIGHT
            loops.append(ideal / run["duration_seconds"])
            wholes.append(ideal / whole)
    print(
        f"ideal / call loop, {IN_FLIGHT} in flight at {LATENCY:g} s: {statistics.median(loops):.1%} (best "
        f"{max(loops):.1%}) aim: 92% · ideal / whole process: {statistics.median(wholes):.1%} (best "
        f"{max(wholes):.1%}) aim: 85%"
    )


def against_a_bare_loop(data: Conversations) -> None:
    """CPU a call beside the SDK alone, in turns; and the calls a second at 64 and 256 in flight."""
    requests = [request for conversation in data for request in plan(conversation)]
    costs, paces = [], []
    with _server(data, 0.1) as (server, _):
        _run(server, data[:2], 2)  # imports
        for _ in range(ROUNDS):
            before = time.process_time()
            asyncio.run(_bare(server.url, requests, IN_FLIGHT))
            middle = time.process_time()
            _run(server, data, IN_FLIGHT)
            ours, theirs = time.process_time() - middle, middle - before
            costs.append((ours / theirs, ours / len(requests) * 1e3, theirs / len(requests) * 1e3))
        for _ in range(ROUNDS):
            many, few = (len(requests) / _run(server, data, n).tally.seconds for n in (256, IN_FLIGHT))
            paces.append((many / few, many, few))
    ratio, ours, theirs = map(statistics.median, zip(*costs, strict=True))
    quicker, many, few = sorted(paces)[ROUNDS // 2]
    print(
        f"CPU a call / bare loop over the SDK: {ratio:.2f} ({ours:.2f} / {theirs:.2f} ms) aim: at most 1.5 "
        f"· calls/s at 256 / at {IN_FLIGHT}: {quicker:.2f} ({many:.0f} / {few:.0f}) aim: at least 1"
    )


class _Memory(Watcher):
    """Notes the resident memory, in MB, after each conversation."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def finished(self, job: Job, tally: Tally) -> None:
        """After each conversation."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.seen.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def memory_and_resuming() -> None:
    """Memory over 5,000 calls, and the time in which a run of 200 finished conversations sees that."""
    memory, data = _Memory(), filler(LONG)
    with _server(data, 0.0) as (server, folder):
        report = _run(server, data, IN_FLIGHT, memory)
        command = [*_command(folder, server), "-o", str(folder / "out"), "--number", "200"]
        subprocess.run([*command, "--concurrency", str(IN_FLIGHT)], check=True, capture_output=True)
        started = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
        took = time.perf_counter() - started
    assert "200 were already complete" in done.stdout
    quarter, last = memory.seen[len(memory.seen) // 4], memory.seen[-1]
    print(
        f"memory after {report.tally.calls} calls / after a quarter: {last / quarter:.2f} ({last:.0f} / "
        f"{quarter:.0f} MB) aim: 1.1 · a finished run of 200 conversations: {took:.2f} s aim: under 2 s"
    )


def endpoint_speed() -> None:
    """All figures."""
    data = filler(CONVERSATIONS)
    against_the_ideal(data)
    against_a_bare_loop(data)
    with _server(data, 0.1) as (server, folder):
        against_inspect(_run, data, folder / "data", IN_FLIGHT, server)
    memory_and_resuming()


if __name__ == "__main__":
    endpoint_speed()
