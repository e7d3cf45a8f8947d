"""What one model said in one conversation, and what each step of it earned: read from its result record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attune_data.schema import Conversation
from attune_env.results.marks import mapping, marks_of, parts_of
from attune_episodes.score import default_spec
from attune_rewards.predictions import STAGES, ConversationPrediction, Prediction, Stage
from attune_rewards.records import read_record
from attune_rewards.reward import Score, request_weights, score_request
from attune_rewards.scoring import score_conversation

Place = tuple[int | None, Stage]
"""(turn, stage); the turn of reflect is None."""


@dataclass(frozen=True, slots=True)
class Answers:
    """One model's answers."""

    prediction: ConversationPrediction
    outcomes: Mapping[Place, str]
    replies: Mapping[Place, str]
    weights: Mapping[Place, Mapping[str, float]]
    """Place -> part -> what it counts for in the strict Composite, all together 1."""
    steps: Mapping[Place, Score]
    """What each scored request earned."""
    scores: Mapping[str, Any]
    """`composite_score`, `composite_strict`, `strict_parts`."""


def answers_of(
    conversation: Conversation, record: Mapping[str, Any], scores: Mapping[str, Any] | None = None
) -> Answers:
    """A record's answers, scored step by step under the strict Composite."""
    prediction, _ = read_record(record, conversation)
    outcomes, replies = _marks(record)
    stages = tuple(stage for stage in STAGES if stage not in prediction.not_asked)
    spec = default_spec()
    weights = request_weights(conversation, spec, stages)
    steps = {
        (turn, stage): score_request(
            conversation, stage, turn, _said(prediction, stage, turn), spec, stages=stages,
            reason=outcomes.get((turn, stage), "ok"),
        )
        for stage, turn in weights
    }  # fmt: skip
    return Answers(
        prediction,
        outcomes,
        replies,
        {(turn, stage): parts for (stage, turn), parts in weights.items()},
        steps,
        scores if scores is not None else score_conversation(conversation, prediction),
    )


def _said(prediction: ConversationPrediction, stage: Stage, turn: int | None) -> Prediction | None:
    if turn is None:
        return prediction.reflect
    said = prediction.turns.get(turn)
    return getattr(said, stage) if said is not None else None


def _marks(record: Mapping[str, Any]) -> tuple[dict[Place, str], dict[Place, str]]:
    """What the record says of each request's outcome, and the replies it keeps."""
    outcomes: dict[Place, str] = {}
    replies: dict[Place, str] = {}
    for turn, part in parts_of(record):
        marks = marks_of(part)
        told, kept = mapping(marks.get("outcomes")), mapping(marks.get("replies"))
        for stage in STAGES:
            if isinstance(outcome := told.get(stage), str) and outcome != "not_asked":
                outcomes.setdefault((turn, stage), outcome)  # of a turn that stands twice the first counts
            if isinstance(text := kept.get(stage), str):
                replies.setdefault((turn, stage), text)
    return outcomes, replies
