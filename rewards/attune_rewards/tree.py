"""The strict tree: which leaves make up the Composite, and what each weighs in a given conversation.

    composite  → emotion .24, evaluation .49, holistic .27
    emotion    → f1, va                    evaluation → binary, pairwise      binary → om, hp
    holistic   → panas .4, questions .3, branches .3
    panas      → pa, na     questions → q1, q2, q3, follow-up     branches → the four

Values flow upwards as weighted means. What the annotations do not define takes no part, and the weight it
would have had goes to the parts beside it. Source: AttuneBench v1.0 (pillars), the strict reading in
`docs/metrics.md`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Node:
    """A named part with its weight among its siblings; a leaf has no children."""

    name: str
    weight: float = 1.0
    children: tuple[Node, ...] = ()

    def leaves(self) -> Iterator[str]:
        """Names of the leaves below, in order; a leaf names itself."""
        if not self.children:
            yield self.name
        for child in self.children:
            yield from child.leaves()

    def nodes(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def part(self, name: str) -> Node:
        """The node with that name at or below this one; raises LookupError if there is none."""
        for node in self.nodes():
            if node.name == name:
                return node
        raise LookupError(f"no part {name!r} in {self.name!r}")

    def weights(self, defined: Collection[str]) -> dict[str, float]:
        """Weight of each defined leaf, summing to 1 ({} where none is defined)."""
        if not self.children:
            return {self.name: 1.0} if self.name in defined else {}
        below = [(child.weight, inner) for child in self.children if (inner := child.weights(defined))]
        total = math.fsum(weight for weight, _ in below)
        return {leaf: weight / total * part for weight, inner in below for leaf, part in inner.items()}

    def value(self, parts: Mapping[str, float]) -> float | None:
        """Weighted mean of the defined leaves in `parts`; None where none is defined."""
        weights = self.weights(parts)
        return math.fsum(weight * parts[leaf] for leaf, weight in weights.items()) if weights else None


COMPOSITE: Final = Node(
    "composite",
    children=(
        Node("emotion", 0.24, (Node("emotion_f1"), Node("emotion_va"))),
        Node(
            "evaluation",
            0.49,
            (Node("binary", 1.0, (Node("binary_om"), Node("binary_hp"))), Node("pairwise")),
        ),
        Node(
            "holistic",
            0.27,
            (
                Node("panas", 0.4, (Node("panas_pa"), Node("panas_na"))),
                Node("questions", 0.3, (Node("q1"), Node("q2"), Node("q3"), Node("q3_follow_up"))),
                Node(
                    "branches",
                    0.3,
                    (
                        Node("branch_perceiving"),
                        Node("branch_facilitating"),
                        Node("branch_understanding"),
                        Node("branch_managing"),
                    ),
                ),
            ),
        ),
    ),
)
"""The whole tree; `COMPOSITE.part("emotion")` is a pillar."""

LEAVES: Final[tuple[str, ...]] = tuple(COMPOSITE.leaves())
"""The 15 leaves in their order."""
