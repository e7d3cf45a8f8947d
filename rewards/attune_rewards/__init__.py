"""Scoring of predictions: the benchmark's metrics, the strict Composite, and rewards made of them.

Importing it is cheap: it loads nothing heavier than pydantic.
"""

from attune_rewards.metrics.aggregate import aggregate, flatten
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.metrics.tree import COMPOSITE, LEAVES
from attune_rewards.predictions import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Judged,
    Prediction,
    Prefer,
    Reflect,
    Stage,
    Tag,
    TurnPrediction,
)
from attune_rewards.record.read import read_record
from attune_rewards.reward.score import Score, score_request
from attune_rewards.reward.spec import PRESETS, RewardSpec

__all__ = [
    "COMPOSITE",
    "LEAVES",
    "PRESETS",
    "STAGES",
    "Assess",
    "AssessHP",
    "ConversationPrediction",
    "Draft",
    "Judged",
    "Prediction",
    "Prefer",
    "Reflect",
    "RewardSpec",
    "Score",
    "Stage",
    "Tag",
    "TurnPrediction",
    "aggregate",
    "flatten",
    "read_record",
    "score_conversation",
    "score_request",
]
