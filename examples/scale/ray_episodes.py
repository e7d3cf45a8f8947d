"""Play and score simulated conversations on a Ray cluster (needs attune-env[ray]).

    python examples/scale/ray_episodes.py [CONVERSATIONS] [WORKERS]

A shard is every `shards`-th conversation of the stream: `Simulation(seed, start=shard, step=shards)`. A shard
depends on nothing but its number, so when Ray loses a worker it runs that shard again, with the same result.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from math import fsum

import ray

from attune_env import Simulation, builtin_policy, rollout

SEED = 7


def played(shard: int, shards: int, number: int) -> list[tuple[str, float]]:
    """(conversation id, return) of the shard's conversations among the first `number` of the stream."""
    world = Simulation(SEED, start=shard, step=shards)
    own = list(islice(world, len(range(shard, number, shards))))
    policy = builtin_policy("lexicon", own)  # your model goes here
    return [(conversation.conversation_id, rollout(conversation, policy).total) for conversation in own]


def on_cluster(number: int, shards: int) -> dict[str, float]:
    """Return by conversation id, each shard a Ray task; finished shards are kept as they arrive."""
    task = ray.remote(num_cpus=1, max_retries=-1)(played)
    waiting = [task.remote(shard, shards, number) for shard in range(shards)]
    returns: dict[str, float] = {}
    while waiting:
        (done, *_), waiting = ray.wait(waiting, num_returns=1)
        returns.update(ray.get(done))
    return returns


def main(conversations: int = 400, workers: int = 2) -> int:
    """Plays with one worker and with several, and prints the rates."""
    for number in dict.fromkeys((1, workers)):
        ray.init(num_cpus=number, include_dashboard=False)
        began = time.perf_counter()
        returns = on_cluster(conversations, 8 * number)
        seconds = time.perf_counter() - began
        ray.shutdown()
        total = fsum(returns.values())
        print(f"{number} worker(s): {len(returns) / seconds:,.1f} conversations a second, sum {total!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
