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
from collections.abc import Sequence
from pathlib import Path

import openai

from attune_data import Conversations
from attune_data.simulate import simulate
from attune_env.running.jobs import Job
from attune_env.running.loop import Watcher
from attune_env.running.providers import endpoint_of
from attune_env.running.run import EndpointReport, run_endpoint
from attune_env.running.settings import Model, Options
from attune_env.running.tally import Tally
from attune_episodes import Request, plan
from tests.bench.inspect_bench import against_inspect
from tests.endpoint import EndpointProcess, endpoint_process

IN_FLIGHT, LATENCY = 64, 0.5
CONVERSATIONS = 44
"""1,016 calls."""
LONG = 226
"""About 5,200 calls."""
ROUNDS = 3
ATTUNE = Path(sys.executable).with_name("attune")


def _server(number: int, latency: float) -> list[str]:
    return ["--data", "simulated", "--number", str(number), "--policy", "always-no",
            "--latency-ms", str(latency * 1000)]  # fmt: skip


def _simulate(number: int, folder: Path) -> None:
    command = [str(ATTUNE), "data", "simulate", "--count", str(number), "-o", str(folder)]
    subprocess.run(command, check=True, capture_output=True)


def _command(data: Path, server: EndpointProcess, out: Path) -> list[str]:
    return [str(ATTUNE), "run", "custom", "m", str(data), "--base-url", server.url, "-o", str(out)]


def _model(server: EndpointProcess) -> Model:
    return Model("m", endpoint_of("custom", base_url=server.url, environment={}))


def _run(
    server: EndpointProcess, data: Conversations, in_flight: int, watcher: Watcher | None = None
) -> EndpointReport:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(concurrency=in_flight)
        report = run_endpoint(_model(server), data, Path(folder), options=options, watcher=watcher)
    assert report.stopped is None
    assert not report.failed
    return report


async def _bare(url: str, requests: Sequence[Request], in_flight: int) -> None:
    """The same requests over the SDK's own client, and nothing else."""
    coming = iter(requests)
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def work() -> None:
            for request in coming:
                if request.stage == "draft":
                    await client.chat.completions.create(
                        model="m",
                        messages=request.chat(),  # type: ignore[arg-type]
                    )
                    continue
                schema = {"name": request.stage, "strict": True, "schema": request.schema}
                await client.chat.completions.create(  # type: ignore[call-overload]
                    model="m",
                    messages=request.chat(),
                    response_format={"type": "json_schema", "json_schema": schema},
                )

        await asyncio.gather(*(work() for _ in range(in_flight)))


def against_the_ideal(data: Conversations) -> None:
    """Loop and whole process at 500 ms and 64 in flight; a second run that finds everything done."""
    loops, wholes = [], []
    with tempfile.TemporaryDirectory() as name, endpoint_process(*_server(len(data), LATENCY)) as server:
        folder = Path(name)
        _simulate(len(data), folder / "data")
        for number in range(ROUNDS):
            out = folder / f"out-{number}"
            command = _command(folder / "data", server, out)
            started = time.perf_counter()
            subprocess.run([*command, "--concurrency", str(IN_FLIGHT)], check=True, capture_output=True)
            whole = time.perf_counter() - started
            run = json.loads((out / "_run_custom_m.json").read_text())["runs"][0]
            ideal = run["calls"] * LATENCY / IN_FLIGHT
            loops.append(ideal / run["duration_seconds"])
            wholes.append(ideal / whole)
    print(
        f"ideal / call loop, {IN_FLIGHT} in flight at {LATENCY:g} s: {statistics.median(loops):.1%} (best "
        f"{max(loops):.1%}) aim: 92 % · ideal / whole process: {statistics.median(wholes):.1%} (best "
        f"{max(wholes):.1%}) aim: 85 %"
    )


def against_a_bare_loop(data: Conversations) -> None:
    """CPU a call beside the SDK alone, in turns; and the calls a second at 64 and 256 in flight."""
    requests = [request for conversation in data for request in plan(conversation)]
    ratios, ours, theirs, paces = [], [], [], []
    with endpoint_process(*_server(len(data), 0.1)) as server:
        _run(server, data[:2], 2)  # imports
        for _ in range(ROUNDS):
            before = time.process_time()
            asyncio.run(_bare(server.url, requests, IN_FLIGHT))
            middle = time.process_time()
            _run(server, data, IN_FLIGHT)
            theirs.append((middle - before) / len(requests) * 1e3)
            ours.append((time.process_time() - middle) / len(requests) * 1e3)
            ratios.append(ours[-1] / theirs[-1])
        for _ in range(ROUNDS):
            pace = {n: len(requests) / _run(server, data, n).tally.seconds for n in (IN_FLIGHT, 256)}
            paces.append((pace[256] / pace[IN_FLIGHT], pace[256], pace[IN_FLIGHT]))
        quicker, many, few = sorted(paces)[ROUNDS // 2]
    print(
        f"CPU a call / bare loop over the SDK: {statistics.median(ratios):.2f} "
        f"({statistics.median(ours):.2f} ms / {statistics.median(theirs):.2f} ms) aim: at most 1.5 · calls/s "
        f"at 256 / at {IN_FLIGHT} in flight: {quicker:.2f} ({many:.0f} / {few:.0f}) aim: at least 1"
    )


class _Memory(Watcher):
    """Notes the resident memory, in MB, after each conversation."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def finished(self, job: Job, tally: Tally) -> None:
        """After each conversation."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.seen.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def _cpu_of_children() -> float:
    """Seconds of CPU that ended child processes took."""
    times = os.times()
    return times.children_user + times.children_system


def memory_and_resuming() -> None:
    """Memory over 5,200 calls, and the time in which a run of 200 finished conversations sees that."""
    data = simulate(LONG, seed=0)
    with tempfile.TemporaryDirectory() as name, endpoint_process(*_server(LONG, 0.0)) as server:
        folder, memory = Path(name), _Memory()
        _simulate(LONG, folder / "data")
        options = Options(concurrency=IN_FLIGHT)
        report = run_endpoint(_model(server), data, folder / "out", options=options, watcher=memory)
        quarter, last = memory.seen[len(memory.seen) // 4], memory.seen[-1]
        command = _command(folder / "data", server, folder / "out")
        before, started = _cpu_of_children(), time.perf_counter()
        done = subprocess.run([*command, "--limit", "200"], check=True, capture_output=True, encoding="utf-8")
        took, cpu = time.perf_counter() - started, _cpu_of_children() - before
    assert "200 were complete already" in done.stdout
    print(
        f"memory after {report.tally.calls} calls / after a quarter: {last / quarter:.2f} ({last:.0f} / "
        f"{quarter:.0f} MB) aim: 1.1 · a finished run of 200 conversations: {took:.2f} s "
        f"({cpu:.2f} s of CPU) aim: under 2 s"
    )


def endpoint_speed() -> None:
    """All figures."""
    data = simulate(CONVERSATIONS, seed=0)
    against_the_ideal(data)
    against_a_bare_loop(data)
    against_inspect(_run, data, IN_FLIGHT, _server(len(data), 0.1))
    memory_and_resuming()


if __name__ == "__main__":
    endpoint_speed()
