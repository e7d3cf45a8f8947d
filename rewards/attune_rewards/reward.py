"""`score_request`: the reward of one request, its parts and its reason. Everything that pays calls this."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import cast

from attune_data.schema import Conversation
from attune_rewards.leaves import LEAF_STAGE, score_stage
from attune_rewards.parts import Part
from attune_rewards.predictions import STAGES, Prediction, Stage
from attune_rewards.spec import RewardSpec
from attune_rewards.truth import truth_of

OK = "ok"
NOT_SCORED = "not_scored"
"""Reason of a request that no part of the reward scores: value None, reward 0."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one request earned.

    `value` is None where it could not be judged (`reason` says why: nothing annotated, or a stage
    without weight), which is never the same as 0: a malformed answer of the model is 0.0.
    """

    value: float | None
    """Σ w·s / Σ w over its parts, in [0, 1] (below 0 where the spec measures from nulls)."""
    reason: str = OK
    """ok, unparsed:<code>, failed:<code>, or not_scored."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Part -> score in [0, 1], before nulls are taken off."""
    weight: float = 0.0
    """Σ w: this request's share of the episode. Σ weight·value over an episode is its total."""

    @property
    def reward(self) -> float:
        """Weight · value; 0 where nothing was scored."""
        return 0.0 if self.value is None else self.weight * self.value


_UNSCORED = Score(None, NOT_SCORED)


@dataclass(frozen=True, slots=True)
class _Scored:
    """What a reward looks at in one request: fixed before the episode starts."""

    parts: tuple[tuple[str, float, float], ...]
    """(part, weight, null)"""
    weight: float
    """Sum of the weights."""
    custom: tuple[Part, ...]
    """The parts among them that are no leaves of the benchmark."""


_Plan = Mapping[tuple[Stage, int | None], _Scored]


def _plan(conversation: Conversation, spec: RewardSpec, asked: Collection[Stage]) -> _Plan:
    """(stage, turn) -> what is scored there (memoised on the conversation)."""
    memo = conversation.memo
    key = id(spec) if asked is STAGES else (id(spec), asked)
    known = memo.get(key)
    if known is None or known[0] is not spec:
        weights: dict[tuple[Stage, int | None], dict[str, float]] = {}
        for slot, weight in spec.weights(truth_of(conversation), asked).items():
            weights.setdefault((slot.stage, slot.turn), {})[slot.part] = weight
        parts = spec.parts
        table = {
            place: _Scored(
                tuple((name, weight, spec.nulls.get(name, 0.0)) for name, weight in named.items()),
                sum(named.values()),
                tuple(parts[name] for name in named if name not in LEAF_STAGE),
            )
            for place, named in weights.items()
        }
        known = memo[key] = (spec, table)
    return cast(_Plan, known[1])


def request_weights(
    conversation: Conversation, spec: RewardSpec, asked: Collection[Stage] = STAGES
) -> dict[tuple[Stage, int | None], dict[str, float]]:
    """(stage, turn) -> part -> weight, over a whole episode; all together they sum to 1."""
    return {
        place: {name: weight for name, weight, _ in scored.parts}
        for place, scored in _plan(conversation, spec, tuple(asked)).items()
    }


def score_request(
    conversation: Conversation,
    stage: Stage,
    turn: int | None,
    said: Prediction | None,
    spec: RewardSpec,
    *,
    asked: tuple[Stage, ...] = STAGES,
    reason: str = OK,
) -> Score:
    """The score of one request under a reward spec.

    Args:
        conversation: the annotated conversation.
        stage: which request.
        turn: its turn number; None for reflect.
        said: the prediction, None where the reply could not be parsed (every part then scores 0).
        spec: parts and weights.
        asked: the stages of the plan, which fix the weights.
        reason: what to report beside an unparsed reply's 0.
    """
    scored = _plan(conversation, spec, asked).get((stage, turn))
    if scored is None:
        return _UNSCORED
    truth = truth_of(conversation)
    scores = score_stage(truth, stage, turn, said)
    if scored.custom:
        here = truth.turn(turn) if turn is not None else None
        scores |= {part.name: part.score(truth, stage, here, said) for part in scored.custom}
    if len(scores) > len(scored.parts):
        scores = {name: scores[name] for name, _, _ in scored.parts}
    paid = 0.0
    for name, weight, null in scored.parts:
        value = scores[name]
        paid += weight * ((value - null) / (1.0 - null) if null else value)
    return Score(paid / scored.weight, reason, scores, scored.weight)
