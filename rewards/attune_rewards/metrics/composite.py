"""The Composite, canonical and strict: the metrics of a conversation combined into one number.

The canonical one follows the benchmark's own conventions; the strict one is the weighted mean of the tree's
leaves. Both take their weights from `tree.COMPOSITE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from attune_rewards.metrics.metric import OWN, Case, ConversationMetric, Metric
from attune_rewards.metrics.tree import COMPOSITE, LEAF, Node, stages_of

PLACE: Final = 8
"""Among the topics, in score files and tables."""


def _panas(case: Case) -> float:
    adjusted = case["panas_baseline_adjusted"]
    return 0.5 if adjusted is None else float(adjusted + 1) / 2


WHOLE: Final[dict[str, Callable[[Case], float]]] = {
    "panas": _panas,
    "branches": lambda case: float(case["four_branch_normalized"]),
}
"""Nodes that the canonical Composite scores as a whole."""


def _counting(node: Node) -> list[Node]:
    """The children that enter the canonical Composite: nodes, and leaves with a canonical score."""
    return [child for child in node.children if child.children or LEAF[child.name].canonical is not None]


def canonical(node: Node, case: Case) -> float:
    """The canonical value of a node, in [0, 1]: the weighted mean of its children."""
    if node.name in WHOLE:
        return WHOLE[node.name](case)
    if not node.children:
        return float(case[str(LEAF[node.name].canonical)])
    below = _counting(node)
    return _weighted(below, [canonical(child, case) for child in below])


def _weighted(nodes: Sequence[Node], values: Sequence[float]) -> float:
    total, mean = math.fsum(node.weight for node in nodes), 0.0
    for node, value in zip(nodes, values, strict=True):  # `sum` rounds differently from Python 3.12 on
        mean += node.weight / total * value
    return mean


def _exact(case: Case) -> float:
    pillars = COMPOSITE.children
    return 100 * _weighted(pillars, [case[f"pillar_{pillar.name}"] for pillar in pillars])


def _mean_of(nodes: tuple[Node, ...], case: Case) -> float:
    first, second, third = (canonical(node, case) for node in nodes)
    return (first + second + third) / 3


def _named(nodes: Iterable[Node]) -> str:
    *most, last = [node.name for node in nodes]
    return f"{', '.join(most)} and {last}"


def _strict(node: Node, case: Case) -> float | None:
    return node.value(case["strict_parts"])


def _points(case: Case) -> float | None:
    total = _strict(COMPOSITE, case)
    return None if total is None else 100 * total


_TITLES: Final = {
    "emotion": "Emotion Tracking",
    "evaluation": "Evaluation Quality",
    "holistic": "Holistic Comprehension",
}
_ALL: Final = stages_of(COMPOSITE)
_TURN = tuple(COMPOSITE.part(name) for name in ("emotion", "binary", "pairwise"))
_WIDE = COMPOSITE.part("holistic").children

METRICS: Final[tuple[Metric, ...]] = (
    *(
        ConversationMetric(
            f"pillar_{pillar.name}",
            f"weighted mean of {_named(_counting(pillar))} (see the tree)",
            partial(canonical, pillar),
            group="composite", needs=stages_of(pillar), scale=100.0,
            edges="an undefined panas_baseline_adjusted counts as ½" if pillar.name == "holistic" else "",
            label=f"{_TITLES[pillar.name]}, {pillar.weight:.0%} (0-100)", role="input",
        )
        for pillar in COMPOSITE.children
    ),
    ConversationMetric(
        "turn_level_average", f"mean of {_named(_TURN)}", partial(_mean_of, _TURN),
        group="composite", needs=("assess", "prefer"),
    ),
    ConversationMetric(
        "conversation_wide_average", f"mean of {_named(_WIDE)}", partial(_mean_of, _WIDE),
        group="composite", needs=("reflect",),
    ),
    ConversationMetric(
        "composite_exact", "100 × the weighted mean of the three pillars",
        _exact, group="composite", needs=_ALL, high=100.0,
    ),
    ConversationMetric(
        "composite_score", "composite_exact, rounded to 2 places",
        lambda case: round(case["composite_exact"], 2), group="composite", needs=_ALL, high=100.0,
        label="Composite (0-100)", role="total",
    ),
    ConversationMetric(
        "equal_weight_composite",
        "50 × (turn_level_average + conversation_wide_average), rounded to 2 places",
        lambda case: round(50 * (case["turn_level_average"] + case["conversation_wide_average"]), 2),
        group="composite", needs=_ALL, high=100.0,
        label="Equal-weight Composite (0-100)", role="diagnostic", harness=False,
    ),
)  # fmt: skip
STRICT_METRICS: Final[tuple[Metric, ...]] = (
    *(
        ConversationMetric(
            f"strict_{pillar.name}", f"weighted mean of the defined leaves of {pillar.name} (see the tree)",
            partial(_strict, pillar),
            group="strict", needs=stages_of(pillar), undefined="none of them is annotated", source=OWN,
            label=f"Strict {_TITLES[pillar.name]}", role="beside",
        )
        for pillar in COMPOSITE.children
    ),
    ConversationMetric(
        "composite_strict", "100 × the weighted mean of all defined leaves (see the tree), not rounded",
        _points, group="composite", needs=_ALL, high=100.0, undefined="nothing is annotated", source=OWN,
        label="Strict Composite (0-100)", role="beside",
    ),
    ConversationMetric(
        "composite_partial", "the same for a run that left out a scored stage; not a Composite",
        _points, group="composite", needs=(), high=100.0,
        undefined="nothing that was asked is annotated", source=OWN,
        label="Strict, stages asked (0-100)", role="beside", harness=False,
    ),
)  # fmt: skip
