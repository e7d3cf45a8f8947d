"""What a reward is made of: the benchmark's leaves, `format`, and parts of one's own.

A part is defined in a request by the annotations alone (so its weight is fixed beforehand) and gives a
score in [0, 1] for every prediction, None included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Final, Protocol, runtime_checkable

from attune_data.affect import EMOTIONS
from attune_data.constants import BRANCHES
from attune_data.errors import AttuneError, show
from attune_rewards import leaves
from attune_rewards.predictions import Assess, Draft, Prediction, Prefer, Reflect, Stage
from attune_rewards.truth import ConversationTruth, TurnTruth


@runtime_checkable
class Part(Protocol):
    """A named share of the reward."""

    @property
    def name(self) -> str:
        """The name under which its score is reported."""

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """Whether it scores the request of that stage (turn None: the reflect stage)."""

    def score(
        self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Prediction | None
    ) -> float:
        """The score, in [0, 1]; `said` is None where the reply could not be parsed."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One of the benchmark's own leaves."""

    name: str

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """As `leaves.defined_in_turn` and `leaves.defined_in_reflect` have it."""
        if leaves.LEAF_STAGE[self.name] != stage:
            return False
        if turn is None:
            return self.name in leaves.defined_in_reflect(truth)
        return self.name in leaves.defined_in_turn(turn, stage)

    def score(
        self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Prediction | None
    ) -> float:
        """Its strict score."""
        return leaves.score_stage(truth, stage, turn, said)[self.name]


@dataclass(frozen=True, slots=True)
class Format:
    """Share of the asked fields that were answered validly, whatever they say.

    Not a metric of the benchmark: a help for models that do not keep the format yet. It pays for form
    alone, so keep its weight small and watch the other parts.
    """

    name: str = "format"

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """In every request but the draft, which has no fields."""
        return stage != "draft"

    def score(
        self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Prediction | None
    ) -> float:
        """Valid answers / asked fields; 1 where nothing is asked."""
        if said is None:
            return 0.0
        if isinstance(said, Reflect):
            # changes are the answer where they were asked: without ratings before, no items follow from them
            feelings = said.panas if said.panas_change is None else said.panas_change
            answered = sum(name in feelings for name in EMOTIONS)
            answered += sum(value is not None for value in (said.q1, said.q2, said.q3, said.q3_follow_up))
            answered += sum(name in said.branches for name in BRANCHES)
            return answered / (len(EMOTIONS) + 4 + len(BRANCHES))
        if turn is None or isinstance(said, Draft):
            return 1.0
        if isinstance(said, Prefer):
            asked = len(turn.comparisons)
            return sum(index in said.picks for index in range(asked)) / asked if asked else 1.0
        answered = sum((q in said.observed) + (q in said.preferred) for q in turn.applicable)
        asked = 2 * len(turn.applicable)
        if isinstance(said, Assess):
            answered += said.tags is not None
            asked += 1
        return answered / asked if asked else 1.0


class PartError(AttuneError, ValueError):
    """A part of one's own raised, or returned what is no score."""


@dataclass(frozen=True, slots=True)
class CustomPart:
    """A part from a function of one's own.

    `function(truth, turn, said)` gets the whole truth, the turn's truth (None in the reflect stage) and
    the typed prediction, and returns a number in [0, 1]. An unparsed reply scores 0 without a call.
    """

    name: str
    stage: Stage
    function: Callable[[ConversationTruth, TurnTruth | None, Prediction], float]

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """In every request of its stage."""
        return stage == self.stage

    def score(
        self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Prediction | None
    ) -> float:
        """The function's value; raises PartError, naming the request, where it has none in [0, 1]."""
        if said is None:
            return 0.0
        try:
            value: object = self.function(truth, turn, said)
        except Exception as error:  # whatever its code raises
            found = f"raised {type(error).__name__}: {error}"
            raise PartError(f"part {self.name!r} {found} ({_place(truth, stage, turn)})") from error
        if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
            raise PartError(
                f"part {self.name!r} returned {show(value)}; a part's score is a number in [0, 1] "
                f"({_place(truth, stage, turn)})"
            )
        return float(value)


def _place(truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> str:
    where = "the end" if turn is None else f"turn {turn.turn}"
    return f"conversation {truth.conversation_id!r}, {where}, {stage}"


LEAF_PARTS: Final[dict[str, Leaf]] = {name: Leaf(name) for name in leaves.LEAF_STAGE}
