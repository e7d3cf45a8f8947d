"""The contract of an environment: whatever plays conversations pays what the engine pays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from attune_data import Conversation
from attune_env.testing.contract import (
    EXACT,
    check_record,
    reloaded,
    require,
    require_close,
    tried_on,
)
from attune_episodes import BUILTIN, Policy, builtin_policy, rollout
from attune_rewards import PRESETS


@dataclass(frozen=True)
class Outcome:
    """The outcome of one conversation in an environment."""

    rewards: Sequence[float]
    """The reward of each step."""
    total: float
    """The return."""
    statuses: Sequence[str]
    """`ok` or `unparsed:<code>` of each reply."""
    record: dict[str, Any]
    """The official result record."""


Player = Callable[[Policy, Conversation, str], Outcome]
"""Plays one conversation with a policy under a preset."""


def check_env_contract(
    play: Player,
    conversations: Sequence[Conversation] | None = None,
    *,
    policies: Sequence[str] = BUILTIN,
    rewards: Sequence[str] = PRESETS,
) -> None:
    """Raises ContractError unless an environment pays what the engine pays.

    Args:
        play: plays one conversation: (policy, conversation, preset) -> Outcome.
        conversations: of two participants at least; by default five of the bundled sample.
        policies: built-in policies to play.
        rewards: presets to play them under.

    Checked, for every policy and reward: rewards are finite, sum to the return, and the return equals that
    of `rollout` to 1e-12; the oracle earns 1, nothing more than 1, nothing less than 0 without baselines;
    every reply of a built-in policy is read; the record survives JSON, reads back without a warning, is
    complete and holds the strict Composite; playing again on records read again, in the reverse order, gives
    the same.
    """
    data = tried_on(conversations)
    for reward in rewards:
        for name in policies:
            policy = builtin_policy(name, data)
            outcomes = [play(policy, conversation, reward) for conversation in data]
            fresh = reloaded(data)
            other = builtin_policy(name, fresh)
            again = [play(other, conversation, reward) for conversation in list(fresh)[::-1]][::-1]
            for conversation, one, two in zip(data, outcomes, again, strict=True):
                who = f"policy {name!r}, reward {reward!r}, {conversation.conversation_id!r}"
                _check(who, conversation, one, rollout(conversation, policy, reward=reward).total, reward)
                same = list(one.rewards) == list(two.rewards) and one.total == two.total
                require(same, f"{who}: {one.total!r} first, {two.total!r} when played again")
                if name == "oracle":
                    require_close(one.total, 1.0, f"{who}: return of the annotations' own answers")


def _check(who: str, conversation: Conversation, one: Outcome, engine: float, reward: str) -> None:
    require(all(map(math.isfinite, one.rewards)), f"{who}: rewards {list(one.rewards)}")
    require_close(math.fsum(one.rewards), one.total, f"{who}: sum of the rewards against the return")
    require_close(one.total, engine, f"{who}: return against that of rollout")
    require(one.total <= 1 + EXACT, f"{who}: the return is {one.total}, at most 1 is possible")
    require(one.total >= 0 or reward.startswith("skill"), f"{who}: the return is {one.total}, below 0")
    require(set(one.statuses) == {"ok"}, f"{who}: replies that were not read: {set(one.statuses) - {'ok'}}")
    require(one.record["attune"]["complete"] is True, f"{who}: the result record is not complete")
    check_record(one.record, conversation, one.total if reward == "composite" else None, who)
