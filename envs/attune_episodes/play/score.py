"""`score`: score a parsed reply with the metrics in `attune_rewards`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TypeVar, cast

from attune_data.format.schema import Conversation
from attune_episodes.parsing import Unparsed
from attune_episodes.protocol.request import Request
from attune_rewards.metrics.panas import changed
from attune_rewards.predictions import STAGES, Prediction, Reflect, Stage
from attune_rewards.reward.score import OK, Score, ScoredRequest, score_request, scored_requests
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.reward.spec_files import read_reward
from attune_rewards.truth import ConversationTruth

Outcome = TypeVar("Outcome", bound=Prediction | Unparsed)


@cache
def default_spec() -> RewardSpec:
    """The default reward: the strict Composite."""
    return RewardSpec.preset("composite")


def reward_spec(reward: object) -> RewardSpec:
    """A reward, given as a spec or as what `read_reward` reads; raises its errors, otherwise TypeError."""
    if isinstance(reward, str):
        return read_reward(reward)
    if not isinstance(reward, RewardSpec):
        raise TypeError(f"a reward is a RewardSpec or the name of a preset, got {type(reward).__name__}")
    return reward


def resolved(truth: ConversationTruth, said: Outcome) -> Outcome:
    """Turn PANAS changes in a prediction into items: clamp(pre + change, 1-7)."""
    if isinstance(said, Reflect) and said.panas_change is not None:
        changes = changed(truth.pre, truth.pre_totals, said.panas_change)
        return cast(Outcome, replace(said, panas=changes))
    return said


def as_scored(
    request: Request, outcome: Prediction | Unparsed, scored: ScoredRequest
) -> tuple[Prediction | None, str]:
    """Split a parsed reply for scoring: the prediction, or None if there is none, and the reason."""
    if isinstance(outcome, Unparsed):
        return None, outcome.reason
    return (resolved(scored.truth, outcome) if request.wants_change else outcome), OK


def score(
    conversation: Conversation,
    request: Request,
    prediction: Prediction | Unparsed,
    spec: RewardSpec | None = None,
    *,
    stages: tuple[Stage, ...] = STAGES,
) -> Score:
    """Score one reply under a reward spec (the strict Composite by default).

    `value` is the weighted mean of the request's parts in [0, 1]; a reply that could not be parsed
    earns 0.0 with its reason; `None` means that nothing here is scored (stage without weight, nothing
    annotated). `stages` are those of the plan, which fix the weights.
    """
    if request.conversation_id != conversation.conversation_id:
        raise ValueError(f"{request.id} is not a request of {conversation.conversation_id!r}")
    if spec is None:
        spec = default_spec()
    scored = scored_requests(conversation, spec, stages).get((request.stage, request.turn))
    if scored is None:
        return score_request(conversation, request.stage, request.turn, None, spec, stages=stages)
    return scored.score(*as_scored(request, prediction, scored))
