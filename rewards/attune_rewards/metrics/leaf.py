"""`Part` and `Leaf`: what a reward is made of, and the parts that the benchmark's tree is made of.

Leaves are defined in the module of their topic, beside its metrics, and collected in `tree.LEAF`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from attune_rewards.predictions import Assess, Draft, Prefer, Reflect, Stage
from attune_rewards.truth import ConversationTruth, TurnTruth


class PartText(NamedTuple):
    """The description of a part."""

    what: str
    formula: str
    """How it is computed; its range is always 0 to 1."""
    where: str
    """Where it is scored; elsewhere, its weight goes to its siblings."""
    zero: str
    """Answers other than wrong ones that also earn the lowest value."""
    stage: str = ""


@dataclass(frozen=True)
class Part:
    """A named share of the reward; a turn of None means the reflect stage."""

    name: str
    stage: Stage | None
    """The stage in which it is scored; None if there are several."""
    scores_silence: ClassVar[bool] = False
    """Whether `score` accepts None, an unreadable reply; otherwise such a reply scores 0."""

    @property
    def has_right_answer(self) -> bool:
        """Whether the annotations contain an answer that must earn 1.

        False for drafts: the annotations say what the person felt and preferred, not what to write.
        """
        return self.stage != "draft"

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """Whether it is defined in a request; by default, in every request of its stage."""
        return stage == self.stage

    def score(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Any) -> float:
        """Score a prediction of its stage, in [0, 1]."""
        raise NotImplementedError


About = TypeVar("About", TurnTruth, ConversationTruth)
Said = TypeVar("Said", Assess, Draft, Prefer, Reflect)


@dataclass(frozen=True)
class Leaf(Part, Generic[About, Said]):
    """A leaf of the strict Composite, or a part outside it (if `node` is None).

    The tree, rewards, strict scores, training rows and the audit are derived from it. A question without a
    valid answer earns 0; an empty list is an answer. `tree` has it pickled and copied by its name, since its
    functions cannot be.
    """

    _: KW_ONLY
    stage: Stage
    node: str | None
    """The node of the tree to which it belongs."""
    label: str = ""
    """Its name in reports; if empty, that of the metric `canonical`, or its own name with spaces."""
    weight: float = 1.0
    """Among its siblings."""
    value: Callable[[About, Said], float]
    """Compute its strict score. The truth is that of a turn, or of the conversation in the reflect stage."""
    annotated: Callable[[About], bool]
    """Whether the annotations define it."""
    answered: Callable[[About, Said], float]
    """The share of its questions that have a valid answer, right or wrong."""
    reads: tuple[str, ...]
    """Fields of the truth that a training row must contain; `field.key` for one key of a mapping."""
    canonical: str | None = None
    """The score that replaces it in the canonical Composite; None if it has no place there."""
    text: PartText

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """Whether it is scored in a request: in its stage, where the annotations define it."""
        return stage == self.stage and self.annotated(cast(About, turn or truth))

    def score(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Any) -> float:
        """Its strict score."""
        return self.value(cast(About, turn or truth), said)
