"""The contracts of rewards, episodes and environments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from attune_data import Conversation, Conversations, load
from attune_data.errors import SettingsError, one_line
from attune_env.audit.answers import broken_rules
from attune_episodes import (
    BUILTIN,
    Policy,
    Rollout,
    Settings,
    builtin_policy,
    plan,
    rollout,
    rollout_batch,
)
from attune_episodes.play.score import reward_spec
from attune_episodes.protocol.unanswered import unanswered
from attune_rewards import PRESETS, RewardSpec, read_record, score_conversation
from attune_rewards.reward.score import request_weights
from attune_rewards.reward.spec_files import describe_reward, reward_from

EXACT: Final = 1e-12
GARBAGE: Final = ("", "no", "{}", "[1, 2]", '{"emotions": NaN', "\ud83d", "null", "<think>", "yes " * 500)
"""Meaningless replies, each given to every request of an episode."""


class ContractError(AssertionError):
    """An extension violates its contract."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one conversation in an environment: rewards per request, their sum, the record."""

    rewards: Sequence[float]
    total: float
    statuses: Sequence[str]
    """`ok` or `unparsed:<code>` for each reply."""
    record: dict[str, Any]


Player = Callable[[Policy, Conversation, str], Outcome]
"""Plays one conversation with a policy under a preset."""


def check_env_contract(
    play: Player,
    conversations: Sequence[Conversation] | None = None,
    *,
    policies: Sequence[str] = BUILTIN,
    rewards: Sequence[str] = PRESETS,
) -> None:
    """Raise ContractError unless an environment gives the same rewards as the engine.

    Args:
        play: a function that plays one conversation: (policy, conversation, preset) -> Outcome.
        conversations: conversations of at least two participants; by default five of the bundled sample.
        policies: the built-in policies to play.
        rewards: the presets under which they are played.

    Checked, for every policy and reward: rewards are finite, sum to the return, and the return equals that
    of `rollout` to 1e-12; the oracle earns 1, nothing more than 1, nothing less than 0 without baselines;
    every reply of a built-in policy is read; the record survives JSON, reads back without a warning, is
    complete and holds the strict Composite; playing again on records read again, in the reverse order, gives
    the same.
    """
    data = _tried_on(conversations)
    fresh = _reloaded(data)
    for reward in rewards:
        for name in policies:
            policy, other = builtin_policy(name, data), builtin_policy(name, fresh)
            outcomes = [play(policy, conversation, reward) for conversation in data]
            again = [play(other, conversation, reward) for conversation in list(fresh)[::-1]][::-1]
            for conversation, one, two in zip(data, outcomes, again, strict=True):
                who = f"policy {name!r}, reward {reward!r}, {conversation.conversation_id!r}"
                engine = rollout(conversation, policy, reward=reward)
                _check_outcome(one, engine, reward, who)
                same = list(one.rewards) == list(two.rewards) and one.total == two.total
                _require(same, f"{who}: {one.total!r} first, {two.total!r} when played again")
                if name == "oracle":
                    _require_close(one.total, 1.0, f"{who}: return of the annotations' own answers")


def _check_outcome(one: Outcome, engine: Rollout, reward: str, who: str) -> None:
    _require(all(map(math.isfinite, one.rewards)), f"{who}: rewards {list(one.rewards)}")
    _require_close(math.fsum(one.rewards), one.total, f"{who}: sum of the rewards against the return")
    _require_close(one.total, engine.total, f"{who}: return against that of rollout")
    _require(one.total <= 1 + EXACT, f"{who}: the return is {one.total}, at most 1 is possible")
    _require(one.total >= 0 or reward.startswith("skill"), f"{who}: the return is {one.total}, below 0")
    _require(set(one.statuses) == {"ok"}, f"{who}: unreadable replies: {set(one.statuses) - {'ok'}}")
    _require(one.record["attune"]["complete"] is True, f"{who}: the result record is not complete")
    _check_record(one.record, engine.conversation, one.total if reward == "composite" else None, who)


def check_episode(
    conversations: Sequence[Conversation] | None = None,
    policy: Policy | None = None,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    deterministic: bool = True,
) -> None:
    """Raise ContractError unless conversations work as episodes, with your own policy.

    Args:
        conversations: the data; by default five conversations of the bundled sample.
        policy: plays each of them; by default `oracle` alone.
        settings: how it is asked.
        reward: a spec or preset; the strict Composite by default.
        deterministic: whether the policy must give the same answers when it plays again.

    Checked: a record survives JSON; the plan is the same for the same record, and for one whose annotated
    answers were all taken out, so that no prompt can depend on them; requests have unique ids and end with
    the user; the annotations' own answers earn 1 (where anything is annotated); the policy's rewards sum to
    its return, which is not above the oracle's; its result record survives JSON, reads back without a warning
    and holds the same strict Composite.
    """
    data, settings = _tried_on(conversations), settings or Settings()
    oracle = builtin_policy("oracle", data, settings)
    for conversation, again in zip(data, _reloaded(data), strict=True):
        who = repr(conversation.conversation_id)
        _require(again == conversation, f"{who}: the record read back from its JSON differs")
        _check_plan(conversation, again, settings, who)
        best = rollout(conversation, oracle, settings, reward)
        if best.total_name != "not_scored":
            _require_close(best.total, 1.0, f"{who}: return of the annotations' own answers")
        played = best if policy is None else rollout(conversation, policy, settings, reward)
        who = f"policy {played.policy!r}, {who}"
        _check_sum(played, who)
        _require(
            played.total <= best.total + EXACT,
            f"{who}: earns {played.total!r}, more than the annotations' own answers ({best.total!r})",
        )
        strict = played.total if played.total_name == "composite_strict" else None
        _check_record(played.result, conversation, strict, who)
        if policy is not None and deterministic:
            other = rollout(again, policy, settings, reward)
            for one, two in zip(played.steps, other.steps, strict=True):
                said = f"{one.reply[:60]!r} to {one.request.id}, then {two.reply[:60]!r}"
                _require(one.reply == two.reply, f"policy {played.policy!r} says {said}")


def _check_plan(conversation: Conversation, again: Conversation, settings: Settings, who: str) -> None:
    requests = plan(conversation, settings)
    _require(len({request.id for request in requests}) == len(requests), f"{who}: two requests share an id")
    for request in requests:
        roles = [message.role for message in request.messages]
        _require(roles[-1:] == ["user"], f"{request.id}: the last message is not the user's: {roles}")
    _require(plan(again, settings) == requests, f"{who}: the same record gives a different plan")
    blank = plan(unanswered(conversation), settings)
    for request, other in zip(requests, blank, strict=False):
        _require(request == other, f"{request.id}: what is asked depends on the annotated answers")
    _require(len(requests) == len(blank), f"{who}: how much is asked depends on the annotated answers")


def check_reward(
    reward: RewardSpec | str,
    conversations: Sequence[Conversation] | None = None,
    settings: Settings | None = None,
    *,
    empty_at_most: float = 0.5,
    garbage_at_most: float = 0.0,
) -> None:
    """Raise ContractError unless a reward fulfils the contract of rewards.

    Args:
        reward: a spec, the name of a preset, a file or `module:NAME`.
        conversations: conversations to test it on, of at least two participants; by default five of the
            bundled sample.
        settings: how policies are asked.
        empty_at_most: the most that the policy `empty` may earn, as the mean return.
        garbage_at_most: the most that meaningless replies may earn in any conversation.

    Checked: weights sum to 1; the annotations' own answers earn exactly 1 on every part but your own ones of
    drafts, which have no right answer, and answers that say nothing earn 0; every part lies in [0, 1] and
    every value at or below 1 (and at or above 0 if nothing is adjusted) under every built-in
    policy; rewards sum to the return; `empty` and garbage stay below their bounds; the same replies earn the
    same on the same data read again, in another order; dense and terminal give one return; a reward that can
    be written as JSON comes back equal. What a custom part raises is raised here.
    """
    spec = reward_spec(reward)
    data, settings = _tried_on(conversations), settings or Settings()
    fresh, whose = _reloaded(data), f"reward {spec.name!r}"
    for conversation in data:
        if weights := request_weights(conversation, spec, settings.stages):
            total = math.fsum(weight for parts in weights.values() for weight in parts.values())
            _require_close(total, 1.0, f"{whose}: weights of {conversation.conversation_id!r}")
    for broken in broken_rules(spec, data, settings):
        raise ContractError(one_line(str(broken), 1_000))
    for name in BUILTIN:
        played = rollout_batch(data, builtin_policy(name, data, settings), settings, spec)
        policy = builtin_policy(name, fresh, settings)
        again = rollout_batch(list(fresh)[::-1], policy, settings, spec.terminal())[::-1]
        for one, other in zip(played, again, strict=True):
            who = f"{whose}, policy {name!r}, {one.conversation.conversation_id!r}"
            _check_values(spec, one, who)
            _require(
                one.total == other.total, f"{who}: {one.total!r} first, {other.total!r} when played again"
            )
            paid = any(step.reward != 0 for step in other.steps[:-1])
            _require(not paid, f"{who}: terminal, but rewarded before the end")
        mean = math.fsum(one.total for one in played) / len(played)
        if name == "empty":
            stated = f"'empty' earns {mean:.4f}, at most {empty_at_most} is stated"
            _require(mean <= empty_at_most + EXACT, f"{whose}: {stated}")
    for text in GARBAGE:
        _check_garbage(spec, text, data, settings, garbage_at_most)
    try:
        written = json.dumps(describe_reward(spec), allow_nan=False)
    except SettingsError:
        return  # custom parts are Python functions
    _require(
        reward_from(json.loads(written)) == spec, f"{whose}: is not the same after a round trip through JSON"
    )


def _check_values(spec: RewardSpec, played: Rollout, who: str) -> None:
    lowest = -math.inf if spec.baselines else 0.0
    for step in played.steps:
        place, value = f"{who}, {step.request.id}", step.score.value
        for part, score in step.score.parts.items():
            _require(part in spec.parts, f"{place}: a score for {part!r}, which is not a part of the reward")
            _require(
                0 <= score <= 1, f"{place}: part {part!r} scores {score!r}, a part's score lies in [0, 1]"
            )
        if value is None:
            paid = step.reward != 0 and spec.dense
            _require(not paid, f"{place}: reward {step.reward} for what is not scored")
        else:
            _require(
                lowest - EXACT <= value <= 1 + EXACT, f"{place}: value {value!r} is outside [{lowest}, 1]"
            )
            json.dumps([value, dict(step.score.parts), step.reward], allow_nan=False)
    _check_sum(played, who)


def _check_garbage(
    spec: RewardSpec, text: str, data: Sequence[Conversation], settings: Settings, at_most: float
) -> None:
    for conversation in data:
        total = rollout(conversation, lambda messages: text, settings, spec).total
        earns = f"the reply {text[:20]!r} to every request earns {total:.4f}"
        stated = f"in {conversation.conversation_id!r}, at most {at_most} is stated"
        _require(total <= at_most + EXACT, f"reward {spec.name!r}: {earns} {stated}")


def _check_sum(played: Rollout, who: str) -> None:
    paid = math.fsum(step.reward for step in played.steps)
    _require_close(paid, played.total, f"{who}: sum of the rewards against the return")


def _check_record(
    record: Mapping[str, Any], conversation: Conversation, total: float | None, who: str
) -> None:
    """Check that a result record survives JSON, reads back cleanly, and has `total` (None: not checked)."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    _require(json.loads(text) == record, f"{who}: the result record changes in JSON")
    said, warnings = read_record(record, conversation)
    _require(not warnings, f"{who}: the result record reads back with {', '.join(map(str, warnings[:2]))}")
    if total is not None:
        strict = score_conversation(conversation, said)["composite_strict"]
        _require_close(strict / 100, total, f"{who}: strict Composite of the record against the return")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ContractError(one_line(message))


def _require_close(found: float, wanted: float, what: str) -> None:
    """Raise ContractError unless two finite numbers are equal to within 1e-12."""
    close = math.isfinite(found) and abs(found - wanted) <= EXACT
    _require(close, f"{what}: found {found!r}, expected {wanted!r} (to {EXACT})")


def _tried_on(conversations: Sequence[Conversation] | None) -> Sequence[Conversation]:
    """The conversations given, or the first five of the bundled sample; ValueError if there are none."""
    if conversations is None:
        return load("sample")[:5]
    if not conversations:
        raise ValueError("no conversations to check with")
    return conversations


def _reloaded(conversations: Sequence[Conversation]) -> Conversations:
    """The same records read again from their JSON, without any caches."""
    records = [json.loads(json.dumps(one.to_record(), ensure_ascii=False)) for one in conversations]
    return Conversations([Conversation.model_validate(record) for record in records], source="read again")
