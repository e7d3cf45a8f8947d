"""Speed of `Attune/Conversation-v0` beside CartPole-v1, both through `make`, interleaved in one process."""

from __future__ import annotations

from time import process_time
from typing import Any

import gymnasium

from attune_data import load
from attune_rewards.metrics.matching import _kept_similarity
from tests.bench.measuring import ratio, seconds

ID = "attune_env:Attune/Conversation-v0"
STEPS = 2_000
Env = gymnasium.Env[Any, Any]


def _actions(env: Env) -> list[Any]:
    env.action_space.seed(0)
    return [env.action_space.sample() for _ in range(STEPS)]


def _steps(env: Env, actions: list[Any]) -> None:
    """Takes actions sampled before; resets at the ends of episodes count."""
    env.reset(seed=0)
    for action in actions:
        if env.step(action)[2]:
            env.reset()


def gymnasium_speed() -> None:
    """Steps by request and by turn, and by request with no matching kept; first visits; masked samples."""
    cartpole, env, turns = (
        gymnasium.make("CartPole-v1"),
        gymnasium.make(ID, step="request"),
        gymnasium.make(ID),
    )
    pushes, actions = _actions(cartpole), _actions(env)

    def cold() -> None:
        _kept_similarity.cache_clear()
        _steps(env, actions)

    for name, ours, aim in (
        ("Conversation-v0 by request", lambda: _steps(env, actions), "at least 0.2"),
        ("Conversation-v0 by request, no matching kept", cold, "-"),
        ("Conversation-v0 by turn", lambda: _steps(turns, actions), "-"),
    ):
        ratio(
            f"CartPole-v1 / {name}, {STEPS} steps, CPU time",
            lambda: _steps(cartpole, pushes),
            ours,
            aim,
            clock=process_time,
        )

    sample = load("sample")
    fresh = gymnasium.make(ID, data=sample, sampling="sequential")
    print(f"first reset to a conversation: {1e3 * seconds(fresh.reset, len(sample)):.2f} ms")
    turns.reset(seed=0)
    mask = turns.get_wrapper_attr("action_mask")()
    ratio(
        "action_space.sample, masked / unmasked",
        lambda: turns.action_space.sample(mask=mask),
        turns.action_space.sample,
        "masked under 150 µs",
        repeat=300,
        rounds=11,
    )


if __name__ == "__main__":
    gymnasium_speed()
