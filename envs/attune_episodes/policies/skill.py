"""Measure a reward relative to the scores of the `prior` policy: the baselines of the `skill` preset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from attune_data import Conversations
from attune_data.format.schema import Conversation
from attune_episodes.play.rollout import rollout
from attune_episodes.policies import builtin_policy
from attune_episodes.protocol.settings import Settings
from attune_rewards.reward.presets.skill import skill_spec
from attune_rewards.reward.spec import RewardSpec

REFERENCE: Final = "written:train"
"""The data on which the package's own preset is measured."""


def prior_scores(
    conversations: Sequence[Conversation], settings: Settings | None = None, spec: RewardSpec | None = None
) -> dict[str, float]:
    """Part -> mean score of `prior`, fitted out of fold by participant, in [0, 1].

    Mean over the turns of a conversation, then over the conversations where the part is defined; parts
    defined nowhere are left out. The parts are those of `spec`, by default the Composite's.
    """
    spec = (spec or RewardSpec.preset("composite")).measured_from({})
    policy = builtin_policy("prior", conversations, settings)
    scores: dict[str, list[float]] = {}
    for conversation in conversations:
        for part, score in rollout(conversation, policy, settings, spec).parts.items():
            scores.setdefault(part, []).append(score)
    return {part: math.fsum(scores[part]) / len(scores[part]) for part in spec.parts if part in scores}


def fit_skill(
    conversations: Conversations, settings: Settings | None = None, spec: RewardSpec | None = None
) -> RewardSpec:
    """The `skill` reward measured on your own reference data; for another reward, `<its name>-skill`.

    Each part s becomes (s - n)/(1 - n) with n = `prior_scores`; parts with n > 0.95 are left out.
    """
    return skill_spec(prior_scores(conversations, settings, spec), described(conversations), spec)


def described(conversations: Conversations) -> str:
    """The reference data as a preset names it: source, number of conversations, fingerprint."""
    return f"{conversations.source} ({len(conversations)} conversations, {conversations.fingerprint})"
