"""`score_request`: the reward of one request, its parts and its reason. All rewards come from here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from attune_data.memo import memoised
from attune_data.schema import Conversation
from attune_rewards.canonical import CanonicalPart
from attune_rewards.parts import Leaf, Part
from attune_rewards.predictions import PREDICTION_OF, STAGES, Prediction, Stage
from attune_rewards.spec import RewardSpec, above_null
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of

OK = "ok"
NOT_SCORED = "not_scored"
"""Reason of a request that no part of the reward scores: value None, reward 0."""


_NO_PARTS: Final[Mapping[str, float]] = {}


class Score(NamedTuple):
    """The score of one request.

    `value` is None where it could not be judged (`reason` says why: nothing annotated, or a stage
    without weight), which is never the same as 0: a malformed answer of the model is 0.0.
    """

    value: float | None
    """Σ w·s / Σ w over its parts, in [0, 1] (below 0 where the spec measures from nulls)."""
    reason: str = OK
    """ok, unparsed:<code>, or not_scored."""
    parts: Mapping[str, float] = _NO_PARTS
    """Part -> score in [0, 1], before nulls are taken off."""
    weight: float = 0.0
    """Σ w: this request's share of the episode. Σ weight·value over an episode is its total."""

    @property
    def reward(self) -> float:
        """Weight · value; 0 where nothing was scored."""
        return 0.0 if self.value is None else self.weight * self.value


_UNSCORED = Score(None, NOT_SCORED)


def part_means(scores: Iterable[Score]) -> dict[str, float]:
    """Part -> mean over the requests where it was scored, in [0, 1]; a part scored nowhere is left out."""
    scored: dict[str, list[float]] = {}
    for score in scores:
        for name, value in score.parts.items():
            scored.setdefault(name, []).append(value)
    return {name: math.fsum(values) / len(values) for name, values in scored.items()}


Scorer = Callable[[Prediction], float]


@dataclass(frozen=True, slots=True)
class ScoredRequest:
    """The parts of a reward in one request: fixed before the episode starts."""

    stage: Stage
    parts: tuple[tuple[str, float, float], ...]
    """(part, weight, null)"""
    truth: ConversationTruth
    turn: TurnTruth | None
    """The truth of its turn; None in the reflect stage."""
    scorers: tuple[tuple[Scorer, float], ...]
    """For each part its function, and the score of an unreadable reply."""
    weight: float
    """Sum of the weights."""
    floor: float | None = None
    """Lowest paid score of a part that has a null."""

    @staticmethod
    def of(
        stage: Stage,
        parts: Sequence[tuple[Part, float, float]],
        truth: ConversationTruth,
        turn: TurnTruth | None,
        floor: float | None = None,
    ) -> ScoredRequest:
        """The request with these parts, their weights and nulls."""
        named = tuple((part.name, weight, null) for part, weight, null in parts)
        scorers = tuple(_scorer(part, truth, stage, turn) for part, _, _ in parts)
        return ScoredRequest(stage, named, truth, turn, scorers, math.fsum(w for _, w, _ in named), floor)

    def score(self, said: Prediction | None, reason: str = OK) -> Score:
        """Score a prediction; None is a reply that could not be parsed.

        Raises TypeError for a prediction of another stage: that is a bug, not a model's mistake.
        """
        if said is not None and not isinstance(said, PREDICTION_OF[self.stage]):
            wanted = PREDICTION_OF[self.stage].__name__
            raise TypeError(f"stage {self.stage} takes {wanted}, got {type(said).__name__}")
        scores, paid = {}, 0.0
        for (name, weight, null), (scorer, unread) in zip(self.parts, self.scorers, strict=True):
            scores[name] = value = unread if said is None else scorer(said)
            paid += weight * above_null(value, null, self.floor) if null else weight * value
        return Score(paid / self.weight, reason, scores, self.weight)


def _scorer(
    part: Part, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None
) -> tuple[Scorer, float]:
    if isinstance(part, Leaf):
        return partial(part.value, truth if turn is None else turn), 0.0
    unread = part.score(truth, stage, turn, None) if isinstance(part, CanonicalPart) else 0.0
    return partial(part.score, truth, stage, turn), unread


_Table = Mapping[tuple[Stage, int | None], ScoredRequest]


def scored_requests(
    conversation: Conversation, spec: RewardSpec, stages: tuple[Stage, ...] = STAGES
) -> _Table:
    """(stage, turn) -> what is scored there (kept on the conversation).

    Requests that no part scores are not in it.
    """
    return memoised(conversation, "rewards", (spec, stages), lambda: _table(conversation, spec, stages))


def _table(conversation: Conversation, spec: RewardSpec, stages: tuple[Stage, ...]) -> _Table:
    truth, known = truth_of(conversation), spec.parts
    found: dict[tuple[Stage, int | None], list[tuple[Part, float, float]]] = {}
    for slot, weight in spec.weights(truth, stages).items():
        null = spec.nulls.get(slot.part, 0.0)
        found.setdefault((slot.stage, slot.turn), []).append((known[slot.part], weight, null))
    return {
        (stage, number): ScoredRequest.of(
            stage, parts, truth, None if number is None else truth.turn(number), spec.floor
        )
        for (stage, number), parts in found.items()
    }


def request_weights(
    conversation: Conversation, spec: RewardSpec, stages: tuple[Stage, ...] = STAGES
) -> dict[tuple[Stage, int | None], dict[str, float]]:
    """(stage, turn) -> part -> weight, over a whole episode; all together they sum to 1."""
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
    """The score of one request under a reward spec.

    Args:
        conversation: the annotated conversation.
        stage: which request.
        turn: its turn number; None for reflect.
        said: the prediction, None where the reply could not be parsed (every part then scores 0).
        spec: parts and weights.
        stages: the stages of the plan, which fix the weights.
        reason: what to report beside an unparsed reply's 0.

    Raises LookupError for a stage or turn that the conversation does not have.
    """
    scored = scored_requests(conversation, spec, stages).get((stage, turn))
    if scored is None:
        truth = truth_of(conversation)
        if stage not in STAGES or (turn is None) != (stage == "reflect"):
            raise LookupError(f"no stage {stage!r} in turn {turn}")
        if turn is not None and truth.turn(turn) is None:
            raise LookupError(f"conversation {truth.conversation_id!r} has no turn {turn}")
        return _UNSCORED
    return scored.score(said, reason)
