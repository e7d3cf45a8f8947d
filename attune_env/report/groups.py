"""Which metrics a report shows, in the README's three groups: those that have a role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from attune_rewards.metric import Group, Role
from attune_rewards.metrics import SHOWN
from attune_rewards.tree import COMPOSITE


@dataclass(frozen=True, slots=True)
class Metric:
    """One reported metric."""

    name: str
    """Its name in score files."""
    label: str
    role: Role
    places: int = 3
    scale: float = 1.0
    """The factor that scales values for display."""


def _of(group: Group) -> tuple[Metric, ...]:
    return tuple(
        Metric(m.column, m.label, m.role, m.places, m.scale) for m in SHOWN if m.group == group and m.role
    )


TURN: Final = _of("turn")
WIDE: Final = _of("wide")
COMPOSITES: Final = _of("composite")
GROUPS: Final = (
    ("Turn-by-turn scores", TURN),
    ("Conversation-wide scores", WIDE),
    ("Composite", COMPOSITES),
)
METRICS: Final = {metric.name: metric for _, group in GROUPS for metric in group}
"""Every metric that a report shows, by its name in score files."""

_PILLARS: Final = tuple(pillar.name for pillar in COMPOSITE.children)
LEADERBOARD: Final = {
    "canonical": ("composite_score", *(f"pillar_{name}" for name in _PILLARS)),
    "strict": ("composite_strict", *(f"strict_{name}" for name in _PILLARS)),
}
"""Scoring variant -> the Composite and its three pillars."""
