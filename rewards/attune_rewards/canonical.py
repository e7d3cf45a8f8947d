"""The canonical Composite as a reward, request by request: what the preset `canonical` is made of.

Each part is a metric of the benchmark in its own conventions, defined in every request of its stage: an
unreadable reply counts as an empty answer, which may earn something. Over an episode whose turns were all
asked the parts sum to `composite_exact` / 100.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from attune_rewards.composite import WHOLE
from attune_rewards.metric import Case, ReflectMetric, TurnMetric
from attune_rewards.metrics import METRICS
from attune_rewards.predictions import (
    PREDICTION_OF,
    ConversationPrediction,
    Prediction,
    Stage,
    TurnPrediction,
)
from attune_rewards.tree import COMPOSITE, LEAF, Node, stages_of
from attune_rewards.truth import ConversationTruth, TurnTruth

_TURN: Final = {metric.column: metric for metric in METRICS if isinstance(metric, TurnMetric)}
_REFLECT: Final = {metric.name: metric for metric in METRICS if isinstance(metric, ReflectMetric)}


@dataclass(frozen=True, slots=True)
class CanonicalPart:
    """The canonical score of one leaf, or of one node that the canonical Composite takes as a whole."""

    name: str
    of: str
    """The leaf or node."""
    stage: Stage

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """In every request of its stage."""
        return stage == self.stage

    def score(
        self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Prediction | None
    ) -> float:
        """Its score, in [0, 1]; an unreadable reply (None) is read as an empty answer."""
        empty: Any = PREDICTION_OF[stage]
        answer: Any = empty() if said is None else said
        if turn is not None:
            given: dict[str, Any] = {stage: answer}
            metric = _TURN[str(LEAF[self.of].canonical)]
            return float(metric.value(turn, TurnPrediction(turn.turn, **given)) or 0.0)
        scores: dict[str, Any] = {name: metric.value(truth, answer) for name, metric in _REFLECT.items()}
        if self.of not in WHOLE:
            return float(scores[str(LEAF[self.of].canonical)])
        return WHOLE[self.of](Case(truth, ConversationPrediction(truth.conversation_id), (), scores))


def canonical_root(node: Node = COMPOSITE) -> Node:
    """The tree of the canonical Composite: the strict one's, `panas` and `branches` being leaves."""
    if node.name in WHOLE or not node.children:
        return Node(f"canonical_{node.name}", node.weight)
    return replace(node, children=tuple(map(canonical_root, node.children)))


CANONICAL: Final = tuple(
    CanonicalPart(leaf, of, stages_of(COMPOSITE.part(of))[0])
    for leaf in canonical_root().leaves()
    for of in [leaf.removeprefix("canonical_")]
)
"""Its parts, in the order of the tree."""
