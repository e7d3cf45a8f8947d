"""`score_request` scores one request: value, parts and reason. All rewards are computed here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from attune_data.format.schema import Conversation
from attune_rewards.metrics.leaf import Part
from attune_rewards.predictions import PREDICTION_OF, STAGES, Prediction, Stage
from attune_rewards.reward.spec import RewardSpec, above_baseline
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of

OK = "ok"
NOT_SCORED = "not_scored"
"""Reason for a request that no part of the reward scores: its value is None, its reward 0."""
_NO_PARTS: Final[Mapping[str, float]] = {}


class Score(NamedTuple):
    """The score of one request.

    `value` is None if there was nothing to score, because nothing is annotated or the stage has no weight
    (`reason` says so). This differs from 0.0, which a malformed answer of the model gets.
    """

    value: float | None
    """Σ w·s / Σ w over its parts, in [0, 1] (below 0 if the spec measures from baselines)."""
    reason: str = OK
    """ok, unparsed:<code>, or not_scored."""
    parts: Mapping[str, float] = _NO_PARTS
    """Part -> score in [0, 1], before baselines are subtracted."""
    weight: float = 0.0
    """Σ w: this request's share of the episode; Σ weight·value over an episode is its total."""

    @property
    def reward(self) -> float:
        """Weight · value; 0 if nothing was scored."""
        return 0.0 if self.value is None else self.weight * self.value


def part_means(scores: Iterable[Score]) -> dict[str, float]:
    """Part -> mean in [0, 1] over the requests that scored it; a part that was never scored is left out."""
    scored: dict[str, list[float]] = {}
    for score in scores:
        for name, value in score.parts.items():
            scored.setdefault(name, []).append(value)
    return {name: math.fsum(values) / len(values) for name, values in scored.items()}


@dataclass(frozen=True)
class ScoredRequest:
    """The parts of a reward in one request, fixed before the episode starts."""

    stage: Stage
    weighted: tuple[tuple[Part, float, float], ...]
    """(part, weight, baseline)"""
    truth: ConversationTruth
    turn: TurnTruth | None
    """The truth of its turn; None in the reflect stage."""
    floor: float | None = None
    """Lowest rewarded score of a part that has a baseline."""

    @cached_property
    def parts(self) -> tuple[tuple[str, float, float], ...]:
        """(name of the part, weight, baseline)."""
        return tuple((part.name, weight, baseline) for part, weight, baseline in self.weighted)

    @cached_property
    def weight(self) -> float:
        """Sum of the weights."""
        return math.fsum(weight for _, weight, _ in self.weighted)

    def score(self, said: Prediction | None, reason: str = OK) -> Score:
        """Score a prediction; None is a reply that could not be parsed.

        Raises TypeError for a prediction of another stage, which is a bug and not a mistake of the model.
        """
        if said is not None and not isinstance(said, PREDICTION_OF[self.stage]):
            wanted = PREDICTION_OF[self.stage].__name__
            raise TypeError(f"stage {self.stage} expects {wanted}, got {type(said).__name__}")
        scores, paid = {}, 0.0
        for part, weight, baseline in self.weighted:
            read = said is not None or part.scores_silence
            scores[part.name] = value = part.score(self.truth, self.stage, self.turn, said) if read else 0.0
            paid += weight * above_baseline(value, baseline, self.floor) if baseline else weight * value
        return Score(paid / self.weight, reason, scores, self.weight)


_Place = tuple[Stage, int | None]


def scored_requests(
    conversation: Conversation, spec: RewardSpec, stages: tuple[Stage, ...] = STAGES
) -> Mapping[_Place, ScoredRequest]:
    """(stage, turn) -> the parts scored there (cached on the conversation).

    Requests that no part scores are left out.
    """
    return conversation.memoised("rewards", (spec, stages), lambda: _table(conversation, spec, stages))


def _table(
    conversation: Conversation, spec: RewardSpec, stages: tuple[Stage, ...]
) -> dict[_Place, ScoredRequest]:
    truth, known = truth_of(conversation), spec.parts
    found: dict[_Place, list[tuple[Part, float, float]]] = {}
    for slot, weight in spec.weights(truth, stages).items():
        part = (known[slot.part], weight, spec.baselines.get(slot.part, 0.0))
        found.setdefault((slot.stage, slot.turn), []).append(part)
    return {
        (stage, turn): ScoredRequest(
            stage, tuple(parts), truth, None if turn is None else truth.turn(turn), spec.floor
        )
        for (stage, turn), parts in found.items()
    }


def request_weights(
    conversation: Conversation, spec: RewardSpec, stages: tuple[Stage, ...] = STAGES
) -> dict[_Place, dict[str, float]]:
    """(stage, turn) -> part -> weight over a whole episode; together the weights sum to 1."""
    return {
        place: {name: weight for name, weight, _ in scored.parts}
        for place, scored in scored_requests(conversation, spec, stages).items()
    }


def score_request(
    conversation: Conversation,
    stage: Stage,
    turn: int | None,
    said: Prediction | None,
    spec: RewardSpec,
    *,
    stages: tuple[Stage, ...] = STAGES,
    reason: str = OK,
) -> Score:
    """Score one request under a reward spec.

    Args:
        conversation: the annotated conversation.
        stage: the stage of the request.
        turn: its turn number; None for reflect.
        said: the prediction; None if the reply could not be parsed (then every part scores 0).
        spec: parts and weights.
        stages: the stages of the plan, which fix the weights.
        reason: the reason to report for an unparsed reply.

    Raises LookupError for a stage or turn that the conversation does not have.
    """
    if (scored := scored_requests(conversation, spec, stages).get((stage, turn))) is not None:
        return scored.score(said, reason)
    if stage not in STAGES or (turn is None) != (stage == "reflect"):
        raise LookupError(f"no stage {stage!r} in turn {turn}")
    if turn is not None and conversation.turn(turn) is None:
        raise LookupError(f"conversation {conversation.conversation_id!r} has no turn {turn}")
    return Score(None, NOT_SCORED)
