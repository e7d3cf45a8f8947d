"""A million steps of `Attune/Conversation-v0`: nothing grows, and every reward is a number."""

from __future__ import annotations

import gc
import resource
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

from attune_rewards import STAGES
from tests.frameworks.gymnasium.play import make
from tests.soak.measure import SHARE

STEPS = int(1_000_000 * SHARE)
ROUNDS = 10
KEPT = 30_000_000
"""Bytes that the engine's own caches (matchings of emotions) may come to."""


@pytest.mark.soak
@pytest.mark.parametrize(("arguments", "steps"), [
    ({}, STEPS),
    ({"step": "request", "stages": STAGES, "panas_strategy": "delta"}, STEPS // 5),
    ({"data": "2*written:dev+sample", "training": False}, STEPS // 40),
])  # fmt: skip
def test_nothing_grows_over_a_million_steps(arguments: dict[str, Any], steps: int) -> None:
    env = make(**arguments)
    env.action_space.seed(0)
    env.reset(seed=0)
    held = []
    tracemalloc.start()
    try:
        for _ in range(ROUNDS):
            for number in range(steps // ROUNDS):
                mask = env.get_wrapper_attr("action_mask")() if number % 2 else None
                _, reward, ended, _, _ = env.step(env.action_space.sample(mask=mask))
                assert np.isfinite(float(reward))
                if ended:
                    env.reset()
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{steps} steps: held {[round(one / 1e6, 2) for one in held]} MB, peak {peak} kB", file=sys.stderr)
    assert held[-1] < held[0] + KEPT
    # once the caches are full, less than 8 bytes a step of the million
    assert held[-1] - held[-3] < 1_500_000
