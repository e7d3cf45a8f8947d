"""Which metrics a report shows, in the README's three groups, and what each one counts as.

`total` is the canonical Composite, `input` enters it, `beside` is reported alongside, `diagnostic` is
related but no paper metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Role = Literal["total", "input", "beside", "diagnostic"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One reported metric."""

    name: str
    """Its name in score files."""
    label: str
    role: Role
    places: int = 3
    scale: float = 1.0
    """What values are multiplied by to be shown."""


TURN: Final = (
    Metric("avg_emotion_f1", "Emotion F1", "input"),
    Metric("avg_emotion_va_score", "Emotion VA", "input"),
    Metric("avg_binary_om_accuracy", "Binary OM Accuracy", "input"),
    Metric("avg_binary_human_accuracy", "Binary HP Accuracy", "input"),
    Metric("avg_pairwise_accuracy", "Pairwise Accuracy", "input"),
    Metric("avg_pairwise_kendall_tau", "Kendall tau", "beside"),
    Metric("avg_draft_judge_score", "Draft Judge", "beside"),
    Metric("avg_draft_binary_alignment", "Draft Binary Alignment", "beside"),
    Metric("perspective_gap_om_hp", "Perspective gap OM-HP", "beside"),
    Metric("avg_binary_om_accuracy_hp", "Binary OM (HP-facing)", "diagnostic"),
    Metric("avg_binary_human_accuracy_hp", "Binary HP (HP-facing)", "diagnostic"),
    Metric("avg_emotion_hit_rate", "Emotion Hit Rate", "diagnostic"),
    Metric("avg_emotion_intensity_mae", "Emotion Intensity MAE (0-6)", "diagnostic"),
    Metric("avg_response_similarity", "Response Similarity", "diagnostic"),
)
WIDE: Final = (
    Metric("panas_baseline_adjusted", "PANAS Baseline-Adjusted (-1 to 1)", "input"),
    Metric("q1_looking_for_score", "Q1 Goals", "input"),
    Metric("q2_emotion_clarity_match", "Q2 Clarity", "input"),
    Metric("q3_model_fit_match", "Q3 Fit", "input"),
    Metric("q3_follow_up_score", "Q3 Follow-up", "input"),
    Metric("four_branch_normalized", "4-Branch", "input"),
    Metric("panas_normalized", "PANAS Normalized", "diagnostic"),
    Metric("panas_item_normalized", "PANAS Item Normalized", "diagnostic"),
    Metric("q3_model_fit_ordinal_distance", "Q3 distance (0-3)", "diagnostic"),
)
COMPOSITES: Final = (
    Metric("composite_score", "Composite (0-100)", "total", 2),
    Metric("composite_strict", "Strict Composite (0-100)", "beside", 2),
    Metric("equal_weight_composite", "Equal-weight Composite (0-100)", "diagnostic", 2),
    Metric("pillar_emotion", "Emotion Tracking, 24% (0-100)", "input", 2, 100.0),
    Metric("pillar_evaluation", "Evaluation Quality, 49% (0-100)", "input", 2, 100.0),
    Metric("pillar_holistic", "Holistic Comprehension, 27% (0-100)", "input", 2, 100.0),
)
GROUPS: Final = (
    ("Turn-by-turn scores", TURN),
    ("Conversation-wide scores", WIDE),
    ("Composite", COMPOSITES),
)
METRICS: Final = {metric.name: metric for _, group in GROUPS for metric in group}
"""Every metric that a report shows, by its name in score files."""

LEADERBOARD: Final = {
    "canonical": ("composite_score", "pillar_emotion", "pillar_evaluation", "pillar_holistic"),
    "strict": ("composite_strict", "strict_emotion", "strict_evaluation", "strict_holistic"),
}
"""Reading -> the Composite and its three pillars."""
