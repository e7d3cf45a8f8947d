"""The memory of a process with many conversations: loaded, and after what fills caches.

    python -m tests.bench.memory_bench [CONVERSATIONS]

The conversations are those of the written corpus again and again. Each line is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from attune_data import load

NUMBER: Final = 1_000
STEPS: Final = {
    "imports": "",
    "load": "conversations = load(path)",
    "load, truth of each": "[None for one in load(path) if not truth_of(one)]",
    "load, prompts of each": "[None for one in load(path) if not plan(one)]",
    "load, a rollout of prior each": "[None for one in load(path) if not rollout(one, prior)]",
    "load where category=Family": "chosen = select(load(path), 'category=Family')",
    "load and pass the training guard": "for_training(load(path))",
    "load in_memory=False, a pass": "[None for one in load(path, in_memory=False) if not one.turns]",
}
_CODE: Final = """
import resource, sys, time
from attune_data import load
from attune_data.selection import select
from attune_data.source.guard import for_training
from attune_episodes import builtin_policy, plan, rollout
from attune_rewards.truth import truth_of
path, prior, started = sys.argv[1], builtin_policy("prior", load("sample")), time.process_time()
{step}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
print(f"peak {{peak:.0f}} MB, {{time.process_time() - started:.1f}} s of CPU time")
"""


def memory(number: int = NUMBER) -> None:
    """Print the peak memory of each step on that many conversations."""
    records = [conversation.to_record() for conversation in load("written")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for place, record in enumerate(islice(cycle(records), number)):
                # own data, since the guard refuses the evaluation parts of the corpus
                own = {"conversationId": f"copy-{place}", "provenance": "own"}
                file.write(json.dumps(record | own, ensure_ascii=False) + "\n")
        print(f"{number} conversations, {path.stat().st_size / 1e6:.0f} MB of JSON")
        for name, step in STEPS.items():
            command = [sys.executable, "-c", _CODE.format(step=step), str(path)]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            print(f"{name}: {told}", end="")


if __name__ == "__main__":
    memory(*map(int, sys.argv[1:]))
