"""What `attune run` costs beside Inspect on the same requests; only where Inspect is installed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from attune_data import Conversations
from tests.bench.measuring import told
from tests.endpoint import EndpointProcess

ROUNDS = 3


def against_inspect(
    run: Callable[[EndpointProcess, Conversations, int], object],
    data: Conversations,
    files: Path,
    in_flight: int,
    server: EndpointProcess,
) -> None:
    """Prints CPU and time a call beside Inspect's with its logs on, in turns, against one server.

    `run` asks about the conversations, which `files` holds too, with so many requests in flight.
    """
    if find_spec("inspect_ai") is None:
        print("CPU a call / Inspect's: not measured, the extra inspect is not installed")
        return
    from inspect_ai import eval as evaluate
    from inspect_ai.model import get_model

    from attune_env.inspect_task.tasks import attune

    def theirs(many: int) -> None:
        """Asks the same, with the same schemas."""
        model = get_model("openai-api/local/m", base_url=server.url, api_key="none", memoize=False)
        task = attune(data=str(files), number=many, structured=True)
        with tempfile.TemporaryDirectory() as folder:
            (log,) = evaluate(
                task, model=model, log_dir=folder, display="none", log_level="error",
                max_connections=in_flight, max_samples=in_flight,
            )  # fmt: skip
        assert log.status == "success", log.error

    cpu: dict[str, list[float]] = {"ours": [], "theirs": []}
    wall: dict[str, list[float]] = {"ours": [], "theirs": []}
    sides: dict[str, Callable[[], object]] = {
        "theirs": lambda: theirs(len(data)),
        "ours": lambda: run(server, data, in_flight),
    }
    theirs(2)  # imports
    run(server, data[:2], 2)
    for _ in range(ROUNDS):
        for name, work in sides.items():
            calls = -server.facts()["calls"]
            before, begun = time.process_time(), time.perf_counter()
            work()
            wall[name].append(time.perf_counter() - begun)
            used = time.process_time() - before
            calls += server.facts()["calls"]
            cpu[name].append(used / calls * 1e3)
    ratios = [theirs / ours for ours, theirs in zip(cpu["ours"], cpu["theirs"], strict=True)]
    print(f"Inspect's CPU a call / ours, {in_flight} in flight: {told(ratios, '.1f')}; aim: at least 5")
    for name in sides:
        print(f"{name}: {told(cpu[name])} ms CPU a call, {told(wall[name], '.1f')} s")
