"""Speed of `Attune/Conversation-v0` beside CartPole-v1, both through `make`, interleaved in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium

from attune_data import load
from attune_rewards.matching import _kept_similarity

ROUNDS = 11
STEPS = 2_000


def _steps(env: gymnasium.Env[Any, Any], actions: list[Any]) -> float:
    """Seconds a step with actions sampled before; resets at the ends of episodes count."""
    env.reset(seed=0)
    started = time.perf_counter()
    for action in actions:
        if env.step(action)[2]:
            env.reset()
    return (time.perf_counter() - started) / len(actions)


def _ratios(name: str, ours: Callable[[], float], theirs: Callable[[], float], aim: str) -> None:
    pairs = [(theirs(), ours()) for _ in range(ROUNDS)]
    ratios = [cartpole / attune for cartpole, attune in pairs]
    cartpole, attune = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    print(
        f"{name} / CartPole-v1, steps a second: {statistics.median(ratios):.2f} (min {min(ratios):.2f}, max "
        f"{max(ratios):.2f}; {attune:.1f} µs / {cartpole:.1f} µs a step) aim: {aim}"
    )


def conversation_against_cartpole() -> None:
    """Structured actions sampled before, by request and by turn; and new ones, with no matching kept."""
    cartpole = gymnasium.make("CartPole-v1")
    cartpole.action_space.seed(0)
    pushes = [cartpole.action_space.sample() for _ in range(STEPS)]
    env = gymnasium.make("attune_env:Attune/Conversation-v0", step="request")
    turns = gymnasium.make("attune_env:Attune/Conversation-v0")
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(STEPS)]

    def theirs() -> float:
        return _steps(cartpole, pushes)

    def cold() -> float:
        fresh = [env.action_space.sample() for _ in range(STEPS)]
        _kept_similarity.cache_clear()
        return _steps(env, fresh)

    theirs(), _steps(env, actions), _steps(turns, actions)
    _ratios("Conversation-v0 by request", lambda: _steps(env, actions), theirs, "at least 0.2")
    _ratios("Conversation-v0 by request, cold (new actions, no caches)", cold, theirs, "-")
    _ratios("Conversation-v0 by turn", lambda: _steps(turns, actions), theirs, "-")


def first_visits() -> None:
    """What the first visit of a conversation costs: its prompts are made then, or the whole of it is."""
    times = []
    for _ in range(5):
        env = gymnasium.make("Attune/Conversation-v0", data=load("sample"), sampling="sequential")
        started = time.perf_counter()
        for _ in range(20):
            env.reset()
        times.append((time.perf_counter() - started) / 20)
    world = gymnasium.make("Attune/Conversation-v0", data="simulated", sampling="sequential")
    started = time.perf_counter()
    for _ in range(100):
        world.reset()
    made = (time.perf_counter() - started) / 100
    print(
        f"first reset to a conversation: {1e3 * statistics.median(times):.2f} ms (prompts); "
        f"{1e3 * made:.1f} ms in a simulated world (the conversation too)"
    )


def masked_samples() -> None:
    """`action_space.sample` of the whole action, with and without a mask."""
    env = gymnasium.make("Attune/Conversation-v0")
    env.reset(seed=0)
    mask = env.get_wrapper_attr("action_mask")()
    for name, given, aim in (("masked", mask, "under 150 µs"), ("unmasked", None, "-")):
        times = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for _ in range(300):
                env.action_space.sample(mask=given)
            times.append((time.perf_counter() - started) / 300)
        print(f"action_space.sample, {name}: {1e6 * statistics.median(times):.0f} µs aim: {aim}")


def gymnasium_speed() -> None:
    """All figures of this file."""
    conversation_against_cartpole()
    first_visits()
    masked_samples()


if __name__ == "__main__":
    gymnasium_speed()
