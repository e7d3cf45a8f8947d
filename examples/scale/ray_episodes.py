"""Play and score conversations of the written corpus on a Ray cluster (needs attune-env[ray]).

    python examples/scale/ray_episodes.py [CONVERSATIONS] [WORKERS]

A shard is every `shards`-th conversation. It depends on nothing else, so when Ray loses a worker it runs that
shard again, with the same result.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from math import fsum

import ray

from attune_env import Conversation, builtin_policy, load, rollout


def played(shard: Sequence[Conversation]) -> list[tuple[str, float]]:
    """(conversation id, return) of the shard's conversations."""
    policy = builtin_policy("lexicon", shard)  # your model goes here
    return [(conversation.conversation_id, rollout(conversation, policy).total) for conversation in shard]


def on_cluster(conversations: Sequence[Conversation], shards: int) -> dict[str, float]:
    """Return by conversation id, each shard a Ray task; finished shards are kept as they arrive."""
    task = ray.remote(num_cpus=1, max_retries=-1)(played)
    waiting = [task.remote(conversations[shard::shards]) for shard in range(shards)]
    returns: dict[str, float] = {}
    while waiting:
        (done, *_), waiting = ray.wait(waiting, num_returns=1)
        returns.update(ray.get(done))
    return returns


def main(conversations: int = 200, workers: int = 2) -> int:
    """Plays with one worker and with several, and prints the rates."""
    written = load("written:train")[:conversations]
    for number in dict.fromkeys((1, workers)):
        ray.init(num_cpus=number, include_dashboard=False)
        began = time.perf_counter()
        returns = on_cluster(written, 8 * number)
        seconds = time.perf_counter() - began
        ray.shutdown()
        total = fsum(returns.values())
        print(f"{number} worker(s): {len(returns) / seconds:,.1f} conversations a second, sum {total!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
