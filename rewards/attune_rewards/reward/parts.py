"""Parts of rewards: the benchmark's leaves, `format`, and your own.

Whether a part is defined in a request depends only on the annotations, so that its weight is fixed
beforehand; it scores every prediction in [0, 1]. A reply that could not be parsed scores 0 on every part.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from attune_data.errors import AttuneError, show
from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BRANCHES
from attune_rewards.predictions import Assess, Draft, Prediction, Prefer, Reflect, Stage
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

    Leaves are defined in the module of their topic and collected in `tree.LEAF`. The tree, rewards, strict
    scores, training rows and the audit are derived from them. A question without a valid answer earns 0; an
    empty list is an answer.
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

    def __reduce__(self) -> tuple[Callable[[str], Leaf[Any, Any]], tuple[str]]:
        """Pickle and copy by name, since its functions cannot be pickled."""
        return _named, (self.name,)


def _named(name: str) -> Leaf[Any, Any]:
    from attune_rewards.metrics.tree import LEAF

    return LEAF[name]


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


@dataclass(frozen=True)
class CustomPart(Part):
    """A part defined by your own function.

    `function(truth, turn, said)` receives the whole truth, the turn's truth (None in the reflect stage) and
    the typed prediction, and returns a number in [0, 1]. An unparsed reply scores 0 without a call.
    """

    function: Callable[[ConversationTruth, TurnTruth | None, Prediction], float]

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
        f"every request of stage {part.stage}",
        "an unreadable reply",
        part.stage or "",
    )
