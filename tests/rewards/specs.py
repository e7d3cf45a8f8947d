"""Rewards to hold claims against: every leaf, `format`, the presets, and what is built on them."""

from __future__ import annotations

import math

from attune_data import Conversation
from attune_rewards import (
    PRESETS,
    STAGES,
    ConversationPrediction,
    Draft,
    Prediction,
    RewardSpec,
    score_conversation,
)
from attune_rewards.metrics.tree import LEAF, Node
from attune_rewards.reward.parts import Format
from attune_rewards.reward.spec import is_asked
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of
from tests.rewards.builders import answer


def says_the_human_reply(truth: ConversationTruth, here: TurnTruth | None, said: Prediction) -> float:
    """A custom part: 1 for the human response, 1/4 for another; 1 for anything where there is none."""
    human = (here.responses["human"] or "").strip() if here else ""
    return 1.0 if not human or (isinstance(said, Draft) and said.text.strip() == human) else 0.25


COMPOSITE, HOLISTIC, SKILL = map(RewardSpec.preset, ("composite", "holistic", "skill"))
TWO = RewardSpec.weighted("two", {"emotion_va": 2, "pairwise": 1})
WITH_PART = COMPOSITE.with_part("human", "draft", says_the_human_reply, 0.25)
REWARDS = {
    **{leaf: RewardSpec.weighted(leaf, {leaf: 1}) for leaf in LEAF},
    "format": RewardSpec("format", Node("format"), (Format(),)),
    **{name: RewardSpec.preset(name) for name in PRESETS},
    **{f"{name}, terminal": RewardSpec.preset(name).terminal() for name in PRESETS},
    "weighted": TWO,
    "composite+part": WITH_PART,
    "composite+part, terminal": WITH_PART.terminal(),
    "composite+format": COMPOSITE.with_format(0.1),
    "holistic+format": HOLISTIC.with_format(0.5),
    "skill+part+format": SKILL.with_part("human", "draft", says_the_human_reply, 0.25).with_format(0.1),
    "measured": TWO.measured_from({"emotion_va": 0.4}, "made up"),
    "left out": COMPOSITE.measured_from({"q1": 0.3}, left_out=("q2", "pairwise")),
}


def floor(about: Conversation, spec: RewardSpec) -> float:
    """What 0 on every part earns: -n/(1 - n) of each or the floor, by its weight."""
    return math.fsum(
        weight * spec.transform(slot.part, 0.0) for slot, weight in spec.weights(truth_of(about)).items()
    )


# --- the total, worked out apart from the requests ----------------------------------------------------------


def parts_of(about: Conversation, said: ConversationPrediction, spec: RewardSpec) -> dict[str, float]:
    """Part -> its score over the whole conversation: the strict leaves, and means over requests of others."""
    truth = truth_of(about)
    parts: dict[str, float] = dict(score_conversation(about, said)["strict_parts"])
    beside = [LEAF[name] for name in spec.parts if name in LEAF and LEAF[name].node is None]
    for part in (*spec.extra, *beside):
        scores = []
        for stage in STAGES:
            for here in truth.turns if stage != "reflect" else (None,):
                if is_asked(stage, here) and part.defined(truth, stage, here):
                    given = answer(said, stage, here.turn if here else None)
                    scores.append(0.0 if given is None else part.score(truth, stage, here, given))
        if scores:
            parts[part.name] = sum(scores) / len(scores)
    return parts


def total_of(about: Conversation, said: ConversationPrediction, spec: RewardSpec) -> float:
    """Sum of weight x score as paid, s or (s - n)/(1 - n), over the parts of the tree."""
    parts = {name: value for name, value in parts_of(about, said, spec).items() if name not in spec.left_out}
    nulls = {name: spec.baselines.get(name, 0.0) for name in parts}
    return sum(
        weight * (parts[name] - nulls[name]) / (1 - nulls[name])
        for name, weight in spec.root.weights(parts).items()
    )
