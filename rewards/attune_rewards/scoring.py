"""Both readings of one result, under the names of the official score files plus ours."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from attune_data.schema import Conversation
from attune_rewards.canonical import Q1Overlap, score_canonical
from attune_rewards.predictions import ConversationPrediction, Stage
from attune_rewards.strict import answered_share, fully_annotated, strict_parts, unscored_share
from attune_rewards.tree import COMPOSITE
from attune_rewards.truth import truth_of


def score_conversation(
    conversation: Conversation, prediction: ConversationPrediction, *, q1_overlap: Q1Overlap = "jaccard"
) -> dict[str, Any]:
    """Every metric of one conversation; None = undefined.

    The canonical scores (`canonical.score_canonical`), then `strict_parts` (leaf -> [0, 1]),
    `composite_strict` (0–100, unrounded, None where nothing is annotated) and `fully_annotated`. Where
    stages were left out of the whole run, what depends on them is None rather than read as silence, and
    the strict total of the rest is called `composite_partial`, since it is no Composite.
    """
    truth = truth_of(conversation)
    scores = score_canonical(truth, prediction, q1_overlap)
    parts = strict_parts(truth, prediction)
    total = COMPOSITE.value(parts)
    strict = None if total is None else 100 * total
    scores["strict_parts"] = parts
    for pillar in ("emotion", "evaluation", "holistic"):
        scores[f"strict_{pillar}"] = COMPOSITE.part(pillar).value(parts)
    scores["composite_strict"] = strict
    if prediction.not_asked:
        _blank(scores, prediction.not_asked)
        if prediction.not_asked & {"assess", "prefer", "reflect"}:
            scores["composite_partial"] = strict
    scores["fully_annotated"] = fully_annotated(truth)
    scores["unscored_share"] = unscored_share(truth)
    scores["answered_share"] = answered_share(truth, prediction)
    return scores


_TURN_SCORES: Final[Mapping[Stage, tuple[str, ...]]] = {
    "draft": (
        "response_similarity", "response_similarity_original", "response_similarity_llm_improved",
        "response_similarity_human_edited", "draft_judge_score", "draft_binary_alignment",
    ),
    "assess": (
        "emotion_hit_rate", "emotion_intensity_mae", "emotion_precision", "emotion_recall", "emotion_f1",
        "emotion_f1_intensity", "emotion_va_score", "emotion_va_intensity_score", "binary_om_accuracy",
        "binary_human_accuracy",
    ),
    "assess_hp": ("binary_om_accuracy_hp", "binary_human_accuracy_hp"),
    "prefer": ("pairwise_accuracy", "pairwise_kendall_tau"),
}  # fmt: skip
"""Stage -> the scores of a turn that mean nothing without it; their means (`avg_…`) neither."""
_COMPOSITES = ("composite_exact", "composite_score", "equal_weight_composite", "composite_strict")
_STAGE_SCORES: Final[Mapping[Stage, tuple[str, ...]]] = {
    "draft": (),
    "assess": (
        "perspective_gap_om_hp", "hp_perspective_gap", "pooled_binary_om_metrics",
        "pooled_binary_human_metrics", "pillar_emotion", "pillar_evaluation", "strict_emotion",
        "strict_evaluation", "turn_level_average", *_COMPOSITES,
    ),
    "assess_hp": ("hp_perspective_gap", "pooled_binary_om_metrics_hp", "pooled_binary_human_metrics_hp"),
    "prefer": ("pillar_evaluation", "strict_evaluation", "turn_level_average", *_COMPOSITES),
    "reflect": ("pillar_holistic", "strict_holistic", "conversation_wide_average", *_COMPOSITES),
}  # fmt: skip
"""Stage -> the scores of a conversation that mean nothing without it."""


def _blank(scores: dict[str, Any], stages: Collection[Stage]) -> None:
    """Sets to None, in place, what the stages left out would have been needed for."""
    if "reflect" in stages:
        scores["post_score"] = dict.fromkeys(scores["post_score"])
    for stage in stages:
        names = _TURN_SCORES.get(stage, ())
        scores |= {
            name: None for name in (*_STAGE_SCORES[stage], *(f"avg_{n}" for n in names)) if name in scores
        }
        for turn in scores["turn_scores"]:
            turn |= dict.fromkeys(names)
