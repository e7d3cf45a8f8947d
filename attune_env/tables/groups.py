"""The metrics that a report shows (those with a role), in the README's three groups."""

from __future__ import annotations

from typing import Final

from attune_rewards.metrics.registry import SHOWN
from attune_rewards.metrics.tree import COMPOSITE

TURN, WIDE, COMPOSITES = (
    tuple(metric for metric in SHOWN if metric.group == group) for group in ("turn", "wide", "composite")
)
GROUPS: Final = (
    ("Turn-by-turn scores", TURN),
    ("Conversation-wide scores", WIDE),
    ("Composite", COMPOSITES),
)
METRICS: Final = {metric.column: metric for _, group in GROUPS for metric in group}
"""Every metric that a report shows, by its name in score files."""
INPUTS: Final = tuple(metric for metric in (*TURN, *WIDE) if metric.role == "input")
"""The inputs of the canonical Composite, pillars aside."""

_PILLARS: Final = tuple(pillar.name for pillar in COMPOSITE.children)
LEADERBOARD: Final = {
    "canonical": ("composite_score", *(f"pillar_{name}" for name in _PILLARS)),
    "strict": ("composite_strict", *(f"strict_{name}" for name in _PILLARS)),
}
"""Scoring variant -> the Composite and its three pillars."""
PARTIAL: Final = "composite_partial"
"""The score that takes the Composite's place where some stages were not asked; not comparable with one."""
