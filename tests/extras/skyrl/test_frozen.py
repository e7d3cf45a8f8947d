"""A conversation stepped through SkyRL-gym earns what `tests/frozen` keeps of the engine's episode."""

from __future__ import annotations

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")

from attune_episodes.trainers.skyrl import register_environments  # noqa: E402
from attune_episodes.trainers.skyrl_rows import conversations_to_skyrl  # noqa: E402
from tests.frozen.keeping import kept  # noqa: E402
from tests.frozen.traces import replies, sample  # noqa: E402


def test_every_step_is_that_of_the_engine() -> None:
    register_environments()
    frozen = kept("episodes")["composite"]
    two = sample()[:2]
    for about, row in zip(two, conversations_to_skyrl(two, reward="composite"), strict=True):
        extras = {name: value for name, value in row.items() if name not in ("prompt", "env_class")}
        env = skyrl_gym.make(row["env_class"], env_config={}, extras={**extras, "max_turns": 1})
        env.init([dict(message) for message in row["prompt"]])
        steps = [env.step(text) for text in replies(about).values()]
        want = frozen[about.conversation_id]
        assert [step["reward"] for step in steps] == [step["reward"] for step in want["steps"]]
        told = [(step["metadata"]["parts"], step["metadata"]["reason"]) for step in steps]
        assert told == [(step["parts"], step["reason"]) for step in want["steps"]]
        assert [step["done"] for step in steps] == [False] * (len(steps) - 1) + [True]
        assert env.get_metrics()["return"] == pytest.approx(want["total"], abs=1e-12)
