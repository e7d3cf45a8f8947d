"""The canonical Composite as a reward per request, for the preset `canonical`.

Each part is one of the benchmark's metrics, follows the benchmark's conventions, and is defined in every
request of its stage: an unreadable reply counts as an empty answer, which may earn something. Over an episode
in which all turns were asked, the parts sum to `composite_exact` / 100.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from attune_rewards.metrics.composite import WHOLE, canonical
from attune_rewards.metrics.leaf import Part
from attune_rewards.metrics.metric import Case, ReflectMetric, TurnMetric
from attune_rewards.metrics.registry import METRICS
from attune_rewards.metrics.tree import COMPOSITE, LEAF, Node, stages_of
from attune_rewards.predictions import PREDICTION_OF, ConversationPrediction, Stage, TurnPrediction
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.truth import ConversationTruth, TurnTruth

REWARDS: Final = {
    "canonical": {
        "text": "the benchmark's own Composite, which rewards silence; for evaluation only",
        "rewards_silence": True,
    },
}
_TURN: Final = {metric.column: metric for metric in METRICS if isinstance(metric, TurnMetric)}
_REFLECT: Final = {metric.name: metric for metric in METRICS if isinstance(metric, ReflectMetric)}


@dataclass(frozen=True)
class CanonicalPart(Part):
    """The canonical score of one leaf, or of a node that the canonical Composite scores as a whole."""

    of: Node
    scores_silence: ClassVar[bool] = True

    def score(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Any) -> float:
        """The score, in [0, 1]; an unreadable reply (None) counts as an empty answer."""
        empty: Any = PREDICTION_OF[stage]
        answer = empty() if said is None else said
        if turn is not None:
            metric = _TURN[str(LEAF[self.of.name].canonical)]
            return float(metric.value(turn, TurnPrediction(turn.turn, **{stage: answer})) or 0.0)
        scores = {name: metric.value(truth, answer) for name, metric in _REFLECT.items()}
        return canonical(self.of, Case(truth, ConversationPrediction(truth.conversation_id), (), scores))


def canonical_root(node: Node = COMPOSITE) -> Node:
    """The tree of the canonical Composite: the strict one, but with `panas` and `branches` as leaves."""
    if node.name in WHOLE or not node.children:
        return Node(f"canonical_{node.name}", node.weight)
    return replace(node, children=tuple(map(canonical_root, node.children)))


def _parts() -> tuple[CanonicalPart, ...]:
    nodes = [COMPOSITE.part(leaf.removeprefix("canonical_")) for leaf in canonical_root().leaves()]
    return tuple(CanonicalPart(f"canonical_{node.name}", stages_of(node)[0], node) for node in nodes)


CANONICAL: Final = _parts()
"""The parts of the canonical Composite, in the order of the tree."""


def make(name: str) -> RewardSpec:
    """Make this reward."""
    return RewardSpec(name, canonical_root(), CANONICAL)
