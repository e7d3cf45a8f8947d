"""The contract of everything that plays: one test over all policies, rewards and ways to play.

A way to play ("player") takes a policy, a conversation, settings' defaults and a reward, and gives the
rewards paid, the return, and the official record. The engine has two: `rollout`, and an `Episode` walked
by hand. An environment (gymnasium, verifiers, …) joins by adding one function to `PLAYERS`; from then on
it is held to all that is said below.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from attune_data import Conversation, Conversations, load
from attune_episodes import BUILTIN, Episode, Policy, builtin_policy, rollout
from attune_episodes.policies.base import prepared
from attune_rewards import PRESETS, read_record, score_conversation

SHORT = load("sample")[:3]
TIME = "2026-01-01T00:00:00+00:00"


@dataclass(frozen=True)
class Outcome:
    """What came of one conversation."""

    rewards: list[float]
    total: float
    statuses: list[str]
    record: dict[str, Any]


Player = Callable[[Policy, Conversation, str], Outcome]


def by_rollout(policy: Policy, about: Conversation, preset: str) -> Outcome:
    played = rollout(about, policy, reward=preset, em_model="m/x", facts={"run_timestamp": TIME})
    steps = played.steps
    return Outcome([s.reward for s in steps], played.total, [s.status for s in steps], played.result)


def by_hand(policy: Policy, about: Conversation, preset: str) -> Outcome:
    player, episode = prepared(policy, about), Episode(about, reward=preset)
    while not episode.done:
        reply = player.reply(episode.request)
        assert isinstance(reply, str)
        episode.submit(reply)
    steps = episode.steps
    record = episode.result("m/x", {"run_timestamp": TIME})
    return Outcome([s.reward for s in steps], episode.total, [s.status for s in steps], record)


PLAYERS: dict[str, Player] = {"rollout": by_rollout, "episode": by_hand}


def fresh(name: str, data: Conversations) -> Policy:
    """The policy made anew, on conversations that nothing has been remembered about."""
    return builtin_policy(name, load("sample")[: len(data)])


@cache
def elsewhere() -> dict[str, list[float]]:
    """ "policy preset" -> returns, from another process with another hash seed."""
    code = (
        "import json\n"
        "from attune_env import builtin_policy, load, rollout\n"
        "from attune_episodes import BUILTIN\n"
        "from attune_rewards import PRESETS\n"
        f"data = load('sample')[:{len(SHORT)}]\n"
        "print(json.dumps({f'{n} {p}': [rollout(c, builtin_policy(n, data), reward=p).total for c in data]\n"
        "                  for n in BUILTIN for p in PRESETS}))"
    )
    seed = "3" if os.environ.get("PYTHONHASHSEED") != "3" else "4"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8", timeout=120,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", BUILTIN)
def test_contract(name: str, preset: str, player: str) -> None:
    play = PLAYERS[player]
    policy = builtin_policy(name, SHORT)
    outcomes = [play(policy, about, preset) for about in SHORT]

    # deterministic: a new policy on newly loaded data, in the reverse order, in another process
    again = [play(fresh(name, SHORT), about, preset) for about in reversed(load("sample")[: len(SHORT)])]
    assert again[::-1] == outcomes
    assert [outcome.total for outcome in outcomes] == elsewhere()[f"{name} {preset}"]

    for about, outcome in zip(SHORT, outcomes, strict=True):
        # what is paid adds up and is finite
        assert all(math.isfinite(reward) for reward in outcome.rewards)
        assert sum(outcome.rewards) == pytest.approx(outcome.total, abs=1e-12)
        assert outcome.total <= 1 + 1e-12
        assert outcome.total >= 0 or preset == "skill"

        # the ceiling is 1 under every reward
        if name == "oracle":
            assert outcome.total == pytest.approx(1.0, abs=1e-12)

        # every reply of a built-in policy is read
        assert set(outcome.statuses) == {"ok"}

        # the record survives JSON and holds the same score, whatever the reward was
        record = json.loads(json.dumps(outcome.record, allow_nan=False))
        assert record == outcome.record
        prediction, warnings = read_record(record, about)
        assert warnings == ()
        if preset == "composite":
            strict = score_conversation(about, prediction)["composite_strict"]
            assert strict == pytest.approx(100 * outcome.total, abs=1e-10)
        assert record["attune"]["complete"] is True
