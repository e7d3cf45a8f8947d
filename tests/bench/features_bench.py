"""Speed of `Attune/Features-v0` beside CartPole-v1, interleaved in one process; and that nothing grows.

Run by itself: `python -m tests.bench.features_bench`.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from attune_rewards.coded import VALUES, WIDTH

ROUNDS = 15
STEPS = 3_000
ID = "attune_env:Attune/Features-v0"
CONVERSATIONS = 200


def _answers(number: int, kind: Any = np.int8) -> Any:
    """Twenty batches of random answers, sampled before."""
    generator = np.random.default_rng(0)
    return [(generator.random((number, WIDTH)) * VALUES).astype(kind) for _ in range(20)]


def _single(env: gymnasium.Env[Any, Any], actions: list[Any]) -> float:
    """Seconds a step of a single environment; resets at the ends of episodes count."""
    env.reset(seed=0)
    started = time.perf_counter()
    for action in actions:
        if env.step(action)[2]:
            env.reset()
    return (time.perf_counter() - started) / len(actions)


def _vector(envs: Any, actions: list[Any], size: int) -> float:
    """Seconds a step of one of the environments."""
    started = time.perf_counter()
    for action in actions:
        envs.step(action)
    return (time.perf_counter() - started) / len(actions) / size


def features_against_cartpole() -> None:
    """The native vector environment at several sizes, and a single environment, against one CartPole."""
    cartpole = gymnasium.make("CartPole-v1")
    cartpole.action_space.seed(0)
    pushes = [cartpole.action_space.sample() for _ in range(STEPS)]
    _single(cartpole, pushes)
    for size, aim in ((64, "-"), (1024, "at least 10"), (4096, "-")):
        envs = gymnasium.make_vec(ID, num_envs=size, data="simulated", number=CONVERSATIONS)
        actions = _answers(size) * 2
        envs.reset(seed=0)
        for _ in range(3):  # until the episodes are out of step with each other
            _vector(envs, actions, size)
        pairs = _pairs(cartpole, pushes, partial(_vector, envs, actions, size))
        _print(f"Features-v0, {size} native", pairs, aim)
    single = gymnasium.make(ID, data="simulated", number=CONVERSATIONS)
    answers = list(_answers(STEPS)[0])
    _single(single, answers)
    _print("Features-v0, single", _pairs(cartpole, pushes, partial(_single, single, answers)), "-")


def _pairs(cartpole: Any, pushes: list[Any], ours: Any) -> list[tuple[float, float]]:
    return [(_single(cartpole, pushes), ours()) for _ in range(ROUNDS)]


def _print(name: str, pairs: list[tuple[float, float]], aim: str) -> None:
    ratios = [cartpole / attune for cartpole, attune in pairs]
    cartpole, attune = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    print(
        f"{name} / CartPole-v1, steps a second: {statistics.median(ratios):.2f} (min {min(ratios):.2f}, max "
        f"{max(ratios):.2f}; {attune:.2f} µs / {cartpole:.2f} µs a step) aim: {aim}"
    )


def features_memory() -> None:
    """Memory a conversation, what compiling takes, masked samples, and a million steps without growth."""
    started = time.perf_counter()
    envs = gymnasium.make_vec(ID, num_envs=1024, data="simulated", number=CONVERSATIONS)
    made = (time.perf_counter() - started) / CONVERSATIONS
    inner: Any = envs.unwrapped
    memory = inner.nbytes / CONVERSATIONS / 1e3
    print(f"a conversation: {memory:.1f} kB, {1e3 * made:.1f} ms to make and read")
    space, mask = inner.single_action_space, inner.action_mask()[0]
    started = time.perf_counter()
    for _ in range(2000):
        space.sample(mask)
    print(f"masked sample: {(time.perf_counter() - started) / 2000 * 1e6:.1f} µs, aim: under 150")
    actions = _answers(1024)
    envs.reset(seed=0)
    sizes: list[int] = []
    for _ in range(2):  # the first round fills what is kept (orders, generators)
        for k in range(500):
            envs.step(actions[k % 20])
        if not sizes:
            tracemalloc.start()
            envs.step(actions[0])
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    for k in range(977):
        envs.step(actions[k % 20])
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - sizes[-1]
    tracemalloc.stop()
    print(f"growth over a million further steps: {grown / 1000:+.1f} kB")


if __name__ == "__main__":
    features_against_cartpole()
    features_memory()
