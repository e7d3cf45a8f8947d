"""The contract of an episode, for your own conversations, settings and policies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attune_data import Conversation
from attune_env.testing.contract import (
    EXACT,
    check_record,
    reloaded,
    require,
    require_close,
    tried_on,
)
from attune_episodes import Policy, Rollout, Settings, builtin_policy, plan, rollout
from attune_episodes.unanswered import unanswered
from attune_rewards import RewardSpec


def check_episode(
    conversations: Sequence[Conversation] | None = None,
    policy: Policy | None = None,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    deterministic: bool = True,
) -> None:
    """Raises ContractError unless conversations play as episodes should, with your own policy.

    Args:
        conversations: the data; by default five conversations of the bundled sample.
        policy: plays each of them; by default `oracle` alone.
        settings: how it is asked.
        reward: a spec or preset; the strict Composite by default.
        deterministic: whether the policy must say the same when it plays again.

    Checked: a record survives JSON; the plan is the same for the same record, and for one whose annotated
    answers were all taken out, so that no prompt can depend on them; requests have ids of their own and end
    with the user; the annotations' own answers earn 1 (where anything is annotated); the policy's rewards sum
    to its return, which is not above the oracle's; its result record survives JSON, reads back without a
    warning and holds the same strict Composite.
    """
    data, settings = tried_on(conversations), settings or Settings()
    oracle = builtin_policy("oracle", data, settings)
    for conversation, again in zip(data, reloaded(data), strict=True):
        who = repr(conversation.conversation_id)
        require(again == conversation, f"{who}: the record read back from its JSON is another")
        _check_plan(conversation, again, settings)
        best = rollout(conversation, oracle, settings, reward)
        if best.total_name != "not_scored":
            require_close(best.total, 1.0, f"{who}: return of the annotations' own answers")
        played = best if policy is None else rollout(conversation, policy, settings, reward)
        _check_played(played, best)
        if policy is not None and deterministic:
            other = rollout(again, policy, settings, reward)
            for one, two in zip(played.steps, other.steps, strict=True):
                require(
                    one.reply == two.reply,
                    f"policy {played.policy!r} says {one.reply[:60]!r} to {one.request.id}, then "
                    f"{two.reply[:60]!r}",
                )


def _check_plan(conversation: Conversation, again: Conversation, settings: Settings) -> None:
    who = repr(conversation.conversation_id)
    requests = plan(conversation, settings)
    ids = [request.id for request in requests]
    require(len(set(ids)) == len(ids), f"{who}: two requests have one id")
    for request in requests:
        roles = [message.role for message in request.messages]
        require(roles[-1:] == ["user"], f"{request.id}: the last message is not the user's: {roles}")
    require(plan(again, settings) == requests, f"{who}: the same record gives another plan")
    blank = plan(unanswered(conversation), settings)
    for request, other in zip(requests, blank, strict=False):
        require(request == other, f"{request.id}: what is asked depends on the annotated answers")
    require(len(requests) == len(blank), f"{who}: how much is asked depends on the annotated answers")


def _check_played(played: Rollout, best: Rollout) -> None:
    who = f"policy {played.policy!r}, {played.conversation.conversation_id!r}"
    paid = math.fsum(step.reward for step in played.steps)
    require_close(paid, played.total, f"{who}: sum of the rewards against the return")
    require(
        played.total <= best.total + EXACT,
        f"{who}: earns {played.total!r}, more than the annotations' own answers ({best.total!r})",
    )
    strict = played.total if played.total_name == "composite_strict" else None
    check_record(played.result, played.conversation, strict, who)
