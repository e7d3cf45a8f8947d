"""Measuring a reward from what the `prior` policy earns: the nulls of the `skill` preset.

Run as `python -m attune_episodes.skill` to print the preset's file, which is frozen in
`attune_rewards/presets/skill.json`; with a PATH, to print one for reference data of your own.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any, Final

from attune_data import Conversations, load
from attune_data.schema import Conversation
from attune_data.simulate import Simulation
from attune_episodes.policies import builtin_policy
from attune_episodes.rollout import rollout
from attune_episodes.settings import Settings
from attune_rewards.spec import RewardSpec, skill_spec
from attune_rewards.tree import LEAVES

REFERENCE_SIZE: Final = 500
"""Conversations that the package's own preset is measured on."""


def prior_scores(conversations: Sequence[Conversation], settings: Settings | None = None) -> dict[str, float]:
    """Leaf -> mean strict score of `prior`, fitted out of fold by participant, in [0, 1].

    Mean over the turns of a conversation, then over the conversations where the leaf is defined; leaves
    defined nowhere are left out.
    """
    policy = builtin_policy("prior", conversations, settings)
    scores: dict[str, list[float]] = {}
    for conversation in conversations:
        for leaf, score in rollout(conversation, policy, settings).parts.items():
            scores.setdefault(leaf, []).append(score)
    return {leaf: math.fsum(scores[leaf]) / len(scores[leaf]) for leaf in LEAVES if leaf in scores}


def fit_skill(conversations: Conversations, settings: Settings | None = None) -> RewardSpec:
    """The `skill` reward measured on reference data of one's own.

    Each part s becomes (s - n)/(1 - n) with n = `prior_scores`; parts with n > 0.95 are left out.
    """
    return skill_spec(prior_scores(conversations, settings), _reference(conversations))


def _reference(conversations: Conversations) -> str:
    return f"{conversations.source} ({len(conversations)} conversations, {conversations.fingerprint})"


def reference_data() -> Conversations:
    """What the package's own preset is measured on: simulated people, none of the benchmark's."""
    return Simulation(0).take(REFERENCE_SIZE)


def main(source: str | None = None) -> None:
    """Prints the preset file for a reference data set."""
    conversations = load(source) if source else reference_data()
    preset: dict[str, Any] = {"reference": _reference(conversations), "nulls": prior_scores(conversations)}
    print(json.dumps(preset, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:2])
