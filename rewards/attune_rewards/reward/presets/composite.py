"""The strict Composite, and rewards for one branch of its tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from attune_rewards.metrics.tree import COMPOSITE, Node
from attune_rewards.reward.spec import RewardSpec

REWARDS: Final = {
    "composite": {"text": "the benchmark's strict Composite; for evaluation"},
    "emotion": {"text": "the feelings in each turn"},
    "behaviour": {"text": "the yes/no questions about each reply"},
    "preference": {"text": "the comparisons of replies"},
    "holistic": {"text": "what is asked after the conversation"},
}


def make(name: str) -> RewardSpec:
    """Make one of these rewards."""
    if name == "behaviour":
        return RewardSpec(name, replace(COMPOSITE.part("binary"), name=name))
    if name == "preference":
        return RewardSpec(name, Node(name, children=(COMPOSITE.part("pairwise"),)))
    return RewardSpec(name, replace(COMPOSITE.part(name), weight=1.0))
