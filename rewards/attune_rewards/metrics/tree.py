"""The tree of the Composite: nodes with weights, and the leaves that the topics add to them.

Each module of this folder that assigns `LEAVES` is such a topic.

A node's value is the weighted mean of its children. A part that is not annotated is left out, and its weight
goes to its siblings. Source: AttuneBench v1.0 (pillars), a public port of its scorer (weights within
holistic).
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from attune_data.registry import by_name, collected
from attune_rewards.metrics.leaf import Leaf
from attune_rewards.predictions import STAGES, Stage

LEAF: Final[Mapping[str, Leaf[Any, Any]]] = by_name(
    "leaf",
    (
        (topic.__name__, leaf.name, leaf)
        for topic in collected("attune_rewards.metrics", "LEAVES", besides=__name__)
        for leaf in topic.LEAVES
    ),
)
"""Name -> leaf, including those outside the Composite (`node` None)."""


def _leaf(name: str) -> Leaf[Any, Any]:
    return LEAF[name]


def _reduced(leaf: Leaf[Any, Any]) -> tuple[Callable[[str], Leaf[Any, Any]], tuple[str]]:
    """Pickle and copy a leaf by its name, since its functions cannot be pickled."""
    return _leaf, (leaf.name,)


copyreg.pickle(Leaf, _reduced)


@dataclass(frozen=True, slots=True)
class Node:
    """A named part with its weight among its siblings; a leaf has no children."""

    name: str
    weight: float = 1.0
    children: tuple[Node, ...] = ()

    def leaves(self) -> Iterator[str]:
        """Names of the leaves below this node, in order; a leaf yields its own name."""
        if not self.children:
            yield self.name
        for child in self.children:
            yield from child.leaves()

    def nodes(self) -> Iterator[Node]:
        """This node and all its descendants."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def part(self, name: str) -> Node:
        """Find the node with that name at or below this one; raises LookupError if there is none."""
        for node in self.nodes():
            if node.name == name:
                return node
        raise LookupError(f"no part {name!r} in {self.name!r}")

    def weights(self, defined: Collection[str]) -> dict[str, float]:
        """The weights of the defined leaves, which sum to 1 ({} if none is defined)."""
        if not self.children:
            return {self.name: 1.0} if self.name in defined else {}
        below = [(child.weight, inner) for child in self.children if (inner := child.weights(defined))]
        total = math.fsum(weight for weight, _ in below)
        return {leaf: weight / total * part for weight, inner in below for leaf, part in inner.items()}

    def value(self, parts: Mapping[str, float]) -> float | None:
        """Weighted mean of the defined leaves in `parts`; None if none is defined."""
        weights = self.weights(parts)
        return math.fsum(weight * parts[leaf] for leaf, weight in weights.items()) if weights else None


def _node(name: str, weight: float, *nodes: Node) -> Node:
    """Make a node with these children and the leaves that belong to it."""
    leaves = [Node(leaf.name, leaf.weight) for leaf in LEAF.values() if leaf.node == name]
    return Node(name, weight, (*nodes, *leaves))


COMPOSITE: Final = _node(
    "composite", 1.0,
    _node("emotion", 0.24),
    _node("evaluation", 0.49, _node("binary", 1.0)),
    _node("holistic", 0.27, _node("panas", 0.4), _node("questions", 0.3), _node("branches", 0.3)),
)  # fmt: skip
"""The whole tree; `COMPOSITE.part("emotion")` is a pillar."""
LEAVES: Final[tuple[str, ...]] = tuple(COMPOSITE.leaves())
"""Names of the leaves of the Composite, in order."""


def stages_of(node: Node) -> tuple[Stage, ...]:
    """The stages in which the leaves at or below a node are asked."""
    asked = {LEAF[name].stage for name in node.leaves()}
    return tuple(stage for stage in STAGES if stage in asked)


SCORED_STAGES: Final = frozenset(stages_of(COMPOSITE))
"""The stages that the Composite requires."""
