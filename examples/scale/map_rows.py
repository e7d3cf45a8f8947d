"""Score replies to training rows on several processes with `datasets.map`.

    python examples/scale/map_rows.py [CONVERSATIONS] [PROCESSES]

Scoring reads the row and the reply, nothing else, so any engine that maps a function over rows can run it.
"""

from __future__ import annotations

import sys
import time
from math import fsum
from typing import Any

from datasets import Dataset

from attune_env import builtin_policy, load, plan, score_row, training_dataset


def replied_rows(number: int) -> Dataset:
    """Training rows of written conversations with a reply to each, by the word list in place of a model."""
    conversations = load("written:train")[:number]
    policy = builtin_policy("lexicon", conversations)
    replies: dict[str, str] = {}
    for conversation in conversations:
        player = policy.for_conversation(conversation)
        replies |= {request.id: player.reply(request) for request in plan(conversation)}
    rows = training_dataset(conversations, reward="composite")
    return rows.add_column("reply", [replies[name] for name in rows["id"]])


def with_reward(row: dict[str, Any]) -> dict[str, Any]:
    """The row's reward for its reply."""
    return {"value": score_row(row, row["reply"]).value}


def main(conversations: int = 200, processes: int = 2) -> int:
    """Scores all rows with one process and with several, and prints the rates."""
    rows = replied_rows(conversations)
    for workers in dict.fromkeys((1, processes)):
        began = time.perf_counter()
        scored = rows.map(with_reward, num_proc=workers if workers > 1 else None, load_from_cache_file=False)
        seconds = time.perf_counter() - began
        print(
            f"{workers} process(es): {len(rows) / seconds:,.0f} rows a second, sum {fsum(scored['value'])!r}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
