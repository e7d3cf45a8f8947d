"""Score replies to training rows with Ray Data (needs attune-env[ray]).

python examples/scale/ray_rows.py [CONVERSATIONS] [WORKERS]
"""

from __future__ import annotations

import sys
import time
from math import fsum
from typing import Any

import ray
from map_rows import replied_rows, with_reward


def with_rewards(batch: dict[str, Any]) -> dict[str, Any]:
    """A batch's rewards beside the ids of its rows."""
    rows = ({name: column[place] for name, column in batch.items()} for place in range(len(batch["id"])))
    return {"id": batch["id"], "value": [with_reward(row)["value"] for row in rows]}


def scored(rows: Any, workers: int, batch: int = 512) -> dict[str, float]:
    """Reward by row id, computed by that many Ray workers."""
    blocks = ray.data.from_huggingface(rows).repartition(max(workers * 4, 1))
    done = blocks.map_batches(with_rewards, batch_size=batch, compute=ray.data.TaskPoolStrategy(size=workers))
    return {row["id"]: row["value"] for row in done.iter_rows()}


def main(conversations: int = 200, workers: int = 2) -> int:
    """Scores all rows with one worker and with several, and prints the rates."""
    rows = replied_rows(conversations)
    for number in dict.fromkeys((1, workers)):
        began = time.perf_counter()
        values = scored(rows, number)
        seconds = time.perf_counter() - began
        total = fsum(values.values())
        print(f"{number} worker(s): {len(rows) / seconds:,.0f} rows a second, sum {total!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
