"""Parts of rewards besides the leaves: `format`, and your own; and the description of any part.

Whether a part is defined in a request depends only on the annotations, so that its weight is fixed
beforehand; it scores every prediction in [0, 1]. A reply that could not be parsed scores 0 on every part.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from attune_data.errors import AttuneError, show
from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BRANCHES
from attune_rewards.metrics.leaf import Leaf, Part, PartText
from attune_rewards.predictions import Assess, Draft, Prefer, Reflect, Stage
from attune_rewards.truth import ConversationTruth, TurnTruth


@dataclass(frozen=True)
class Format(Part):
    """Share of the requested fields that have a valid answer, right or wrong.

    It is not a metric of the benchmark; it helps models that do not yet follow the format. Since it rewards
    only form, keep its weight small and watch the other parts.
    """

    name: str = "format"
    stage: None = None

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """True in every request but the draft, which has no fields."""
        return stage != "draft"

    def score(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Any) -> float:
        """Compute valid answers / requested fields; 1 if nothing is asked."""
        if isinstance(said, Reflect):
            # changes are the answer if they were asked for: without prior ratings, they determine no items
            feelings = said.panas if said.panas_change is None else said.panas_change
            fields = [name in feelings for name in EMOTIONS]
            fields += [value is not None for value in (said.q1, said.q2, said.q3, said.q3_follow_up)]
            fields += [name in said.branches for name in BRANCHES]
        elif turn is None or isinstance(said, Draft):
            return 1.0
        elif isinstance(said, Prefer):
            fields = [index in said.picks for index in range(len(turn.comparisons))]
        else:
            fields = [q in answers for answers in (said.observed, said.preferred) for q in turn.applicable]
            fields += [said.tags is not None] if isinstance(said, Assess) else []
        return sum(fields) / len(fields) if fields else 1.0


class PartError(AttuneError, ValueError):
    """Your own part raised an error or returned something other than a score."""


ScoreFunction = Callable[[ConversationTruth, Any, Any], float]
"""`function(truth, turn, said)`; the stage says what `turn` and `said` are, so they may be typed narrowly."""
AnnotatedFunction = Callable[[ConversationTruth, Any], bool]
"""`annotated(truth, turn)`."""


@dataclass(frozen=True)
class CustomPart(Part):
    """A part defined by your own function.

    `function(truth, turn, said)` receives the whole truth, the turn's truth (None in the reflect stage) and
    the typed prediction, and returns a number in [0, 1]. An unparsed reply scores 0 without a call.
    """

    stage: Stage
    function: ScoreFunction = field(hash=False)
    annotated: AnnotatedFunction | None = field(default=None, hash=False)
    """Whether the annotations define the part in a request of its stage; None if they always do."""
    again: Callable[[], Part] | None = field(default=None, compare=False, repr=False)
    """The function that reads the part again, if `read_reward` read it from a file or a module."""

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """Whether it is scored in a request: in its stage, where `annotated` says so."""
        return stage == self.stage and (self.annotated is None or bool(self.annotated(truth, turn)))

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle a part that was read from somewhere by where it was read from, so that any function works.

        Otherwise its functions are pickled, which works if they can be imported.
        """
        if self.again is not None:
            return self.again, ()
        return CustomPart, (self.name, self.stage, self.function, self.annotated)

    def score(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Any) -> float:
        """Call the function; raises PartError naming the request if the result is not in [0, 1]."""
        where = "the end" if turn is None else f"turn {turn.turn}"
        place = f"conversation {truth.conversation_id!r}, {where}, {stage}"
        try:
            value: object = self.function(truth, turn, said)
        except Exception as error:  # the user's code may raise anything
            found = f"raised {type(error).__name__}: {error}"
            raise PartError(f"part {self.name!r} {found} ({place})") from error
        if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
            raise PartError(
                f"part {self.name!r} returned {show(value)}; a part's score is a number in [0, 1] ({place})"
            )
        return float(value)


def text_of(part: Part) -> PartText:
    """The description of a part; for your own part, its function's docstring."""
    if isinstance(part, Leaf):
        return part.text._replace(stage=part.stage)
    if part == Format():
        what = "how many of the fields have a valid answer, right or wrong; not a metric of the benchmark"
        where, formula, stage = (
            "every request but drafts",
            "valid answers / asked fields",
            "every stage except draft",
        )
        return PartText(what, formula, where, "an unreadable reply", stage)
    told = inspect.getdoc(part.function if isinstance(part, CustomPart) else part)
    return PartText(
        " ".join((told or "a part of your own, without a docstring").split()),
        "its function's",
        f"every request of stage {part.stage}"
        + (" that its own rule calls annotated" if isinstance(part, CustomPart) and part.annotated else ""),
        "an unreadable reply",
        part.stage or "",
    )
