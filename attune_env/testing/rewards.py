"""The contract of a reward."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from attune_data import Conversation
from attune_data.errors import SettingsError
from attune_env.testing.contract import EXACT, reloaded, require, require_close, tried_on
from attune_episodes import BUILTIN, Rollout, Settings, builtin_policy, rollout, rollout_batch
from attune_rewards import RewardSpec
from attune_rewards.reward import request_weights
from attune_rewards.spec_files import describe_reward, reward_from

GARBAGE = ("", "no", "{}", "[1, 2]", '{"emotions": NaN', "\ud83d", "null", "<think>", "yes " * 500)
"""Replies that say nothing, each given to every request of an episode."""


def check_reward(
    reward: RewardSpec | str,
    conversations: Sequence[Conversation] | None = None,
    settings: Settings | None = None,
    *,
    empty_at_most: float = 0.5,
    garbage_at_most: float = 0.0,
) -> None:
    """Raises ContractError unless a reward keeps what a reward promises.

    Args:
        reward: a spec, or the name of a preset.
        conversations: to try it on, of two participants at least; by default five of the bundled sample.
        settings: how policies are asked.
        empty_at_most: the most that the policy `empty` may earn, as the mean return.
        garbage_at_most: the most that unreadable replies may earn in any conversation.

    Checked: weights sum to 1; the annotations' own answers earn exactly 1; every part lies in [0, 1] and
    every value at or below 1 (and at or above 0 where nothing is adjusted) under every built-in
    policy; rewards sum to the return; `empty` and garbage stay below their bounds; the same replies earn the
    same on the same data read again, in another order; dense and terminal give one return; a reward that can
    be written as JSON comes back equal. What a custom part raises is raised here.
    """
    spec = RewardSpec.preset(reward) if isinstance(reward, str) else reward
    data, settings = tried_on(conversations), settings or Settings()
    for conversation in data:
        _check_weights(spec, conversation, settings)
    for name in BUILTIN:
        played = rollout_batch(data, builtin_policy(name, data, settings), settings, spec)
        for one in played:
            _check_range(spec, one)
        if name == "oracle":
            _check_gold(spec, played)
        if name == "empty":
            mean = math.fsum(one.total for one in played) / len(played)
            require(
                mean <= empty_at_most + EXACT,
                f"reward {spec.name!r}: 'empty' earns {mean:.4f}, at most {empty_at_most} is stated",
            )
        _check_again(spec, name, data, settings, played)
    for text in GARBAGE:
        _check_garbage(spec, text, data, settings, garbage_at_most)
    _check_json(spec)


def _check_weights(spec: RewardSpec, conversation: Conversation, settings: Settings) -> None:
    weights = request_weights(conversation, spec, settings.stages)
    if weights:
        total = math.fsum(weight for parts in weights.values() for weight in parts.values())
        require_close(total, 1.0, f"reward {spec.name!r}: weights of {conversation.conversation_id!r}")


def _check_range(spec: RewardSpec, played: Rollout) -> None:
    for step in played.steps:
        place = f"reward {spec.name!r}, policy {played.policy!r}, {step.request.id}"
        for part, score in step.score.parts.items():
            require(part in spec.parts, f"{place}: a score for {part!r}, which is no part of the reward")
            require(
                0.0 <= score <= 1.0, f"{place}: part {part!r} scores {score!r}, a part's score lies in [0, 1]"
            )
        value = step.score.value
        if value is None:
            require(step.reward == 0 or not spec.dense, f"{place}: paid {step.reward} for what is not scored")
            continue
        lowest = -math.inf if spec.baselines else 0.0
        require(lowest - EXACT <= value <= 1 + EXACT, f"{place}: value {value!r} leaves [{lowest}, 1]")
        json.dumps([value, dict(step.score.parts), step.reward], allow_nan=False)
    paid = math.fsum(step.reward for step in played.steps)
    who = f"reward {spec.name!r}, policy {played.policy!r}, {played.conversation.conversation_id!r}"
    require_close(paid, played.total, f"{who}: sum of the rewards against the return")


def _check_gold(spec: RewardSpec, played: Sequence[Rollout]) -> None:
    for one in played:
        if one.total_name == "not_scored":
            continue
        short = [
            f"{part} {score:.4f} in {step.request.id}"
            for step in one.steps
            for part, score in step.score.parts.items()
            if abs(score - 1) > EXACT
        ]
        require(
            not short,
            f"reward {spec.name!r}: the annotations' own answers earn 1 on every part, found {short[:3]}",
        )
        require_close(one.total, 1.0, f"reward {spec.name!r}: return of the annotations' own answers")


def _check_again(
    spec: RewardSpec,
    name: str,
    data: Sequence[Conversation],
    settings: Settings,
    played: Sequence[Rollout],
) -> None:
    """The same returns from newly read data, in the reverse order, paid at the end."""
    fresh = reloaded(data)
    policy = builtin_policy(name, fresh, settings)
    again = rollout_batch(list(fresh)[::-1], policy, settings, spec.terminal())[::-1]
    for one, other in zip(played, again, strict=True):
        who = f"reward {spec.name!r}, policy {name!r}, {one.conversation.conversation_id!r}"
        require(one.total == other.total, f"{who}: {one.total!r} first, {other.total!r} when played again")
        require(
            all(step.reward == 0 for step in other.steps[:-1]), f"{who}: terminal, but paid before the end"
        )


def _check_garbage(
    spec: RewardSpec, text: str, data: Sequence[Conversation], settings: Settings, at_most: float
) -> None:
    for conversation in data:
        total = rollout(conversation, lambda messages: text, settings, spec).total
        require(
            total <= at_most + EXACT,
            f"reward {spec.name!r}: the reply {text[:20]!r} to every request earns {total:.4f} in "
            f"{conversation.conversation_id!r}, at most {at_most} is stated",
        )


def _check_json(spec: RewardSpec) -> None:
    try:
        plain = describe_reward(spec)
    except SettingsError:
        return  # custom parts are Python functions
    text = json.dumps(plain, allow_nan=False)
    require(reward_from(json.loads(text)) == spec, f"reward {spec.name!r}: comes back from JSON as another")
