"""A scored request as plain JSON values, and back: what a reward needs of it, without the conversation.

Training rows carry this, so that a reply can be scored wherever the row goes. Only what the request's own
parts read of the annotations is in it; the rest of the conversation stays at home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attune_data.errors import SettingsError
from attune_data.schema import PairwiseComparison
from attune_rewards.parts import Format, Part
from attune_rewards.predictions import Stage, Tag
from attune_rewards.reward import ScoredRequest
from attune_rewards.spec import RewardSpec
from attune_rewards.tree import LEAF
from attune_rewards.truth import ConversationTruth, Totals, TurnTruth

Plain = dict[str, Any]
_KNOWN: Final[Mapping[str, Part]] = {**LEAF, "format": Format()}
"""Parts that every copy of this package knows by name."""


def check_portable(spec: RewardSpec) -> None:
    """Raises SettingsError where a reward cannot travel as data: parts of your own, or a terminal one."""
    for name, part in spec.parts.items():
        if part != _KNOWN.get(name):
            raise SettingsError(
                f"part {name!r} of reward {spec.name!r} is a Python function, which a row cannot carry; make "
                "the rows without it, and give the function to the trainer as a reward function beside them"
            )
    if not spec.dense:
        raise SettingsError(
            f"reward {spec.name!r} is terminal, but each row is paid by itself; leave out .terminal()"
        )


def _comparison(values: Sequence[str | None]) -> PairwiseComparison:
    names = ("questionId", "responseA", "responseB", "winner")
    return PairwiseComparison.model_validate(dict(zip(names, values, strict=True)))


_WRITTEN: Final[Mapping[str, Callable[[Any], list[Any]]]] = {
    "tags": lambda tags: [[tag.emotion, tag.intensity] for tag in tags],
    "comparisons": lambda found: [[c.question_id, c.response_a, c.response_b, c.winner] for c in found],
}
"""Fields of the truth whose values are no JSON yet."""
_READ: Final[Mapping[str, Callable[[Any], object]]] = {
    "tags": lambda tags: tuple(Tag(emotion, intensity) for emotion, intensity in tags),
    "observed": lambda pairs: tuple((question, answer) for question, answer in pairs),
    "preferred": lambda pairs: tuple((question, answer) for question, answer in pairs),
    "comparisons": lambda found: tuple(map(_comparison, found)),
    "q1": tuple,
    "q3_follow_up": tuple,
    "pre_totals": lambda pair: Totals(*pair),
    "post_totals": lambda pair: Totals(*pair),
}
"""Fields of the truth that are made of what was written."""
_FIELDS: Final = (
    "tags", "observed", "preferred", "comparisons", "responses",
    "q1", "q2", "q3", "q3_follow_up", "pre_totals", "post_totals", "pre", "post", "branches",
)  # fmt: skip
"""In the order in which they are written."""


def to_plain(scored: ScoredRequest, *, changes: bool) -> Plain:
    """A scored request as JSON values.

    Args:
        scored: the request's parts and truth.
        changes: PANAS changes are asked, so that the items before are needed to read the answer.
    """
    reads = {field for name, _, _ in scored.parts if name in LEAF for field in LEAF[name].reads}
    if scored.stage == "prefer":
        reads.add("comparisons")  # a reply cannot be read without them
    if changes:
        reads |= {"pre", "pre_totals", "post_totals"}
    truth = scored.truth if scored.turn is None else scored.turn
    annotated = {}
    for field in _FIELDS:
        value = getattr(truth, field, None)
        if isinstance(value, Mapping):
            value = {
                key: one for key, one in value.items()
                if one is not None and (field in reads or f"{field}.{key}" in reads)
            }  # fmt: skip
        if field in reads or (value and isinstance(value, Mapping)):
            annotated[field] = _WRITTEN[field](value) if field in _WRITTEN else value
    return {"parts": [list(part) for part in scored.parts], "annotated": annotated}


def from_plain(
    plain: Mapping[str, Any],
    conversation_id: str,
    stage: Stage,
    turn: int | None,
    *,
    applicable: Sequence[str],
) -> ScoredRequest:
    """The scored request that `to_plain` wrote; scores every reply as the original does.

    Args:
        plain: what `to_plain` returned, be it after a trip through JSON.
        conversation_id: whose request it is.
        stage: which stage.
        turn: its turn number; None for reflect.
        applicable: ids of the yes/no questions that the request asks.

    Raises KeyError, TypeError or ValueError for values that `to_plain` does not write.
    """
    told = {
        field: _READ[field](value) if field in _READ and value is not None else value
        for field, value in plain["annotated"].items()
    }
    here = None if turn is None else _turn(told, turn, tuple(applicable))
    truth = _truth(told, conversation_id, here)
    parts = [(_KNOWN[name], float(weight), float(null)) for name, weight, null in plain["parts"]]
    for part, _, _ in parts:
        if not part.defined(truth, stage, here):
            raise ValueError(f"nothing is annotated that part {part.name} reads")
    return ScoredRequest.of(stage, parts, truth, here)


def _turn(told: Mapping[str, Any], number: int, applicable: tuple[str, ...]) -> TurnTruth:
    comparisons = told.get("comparisons", ())
    return TurnTruth(
        turn=number,
        tags=told.get("tags"),
        has_judgements=bool(applicable),
        observed=told.get("observed", ()),
        preferred=told.get("preferred", ()),
        comparisons=comparisons,
        winners=tuple((i, c.winner) for i, c in enumerate(comparisons) if c.winner is not None),
        responses=told.get("responses", {}),
        applicable=applicable,
    )


def _truth(told: Mapping[str, Any], conversation_id: str, turn: TurnTruth | None) -> ConversationTruth:
    return ConversationTruth(
        conversation_id=conversation_id,
        turns=() if turn is None else (turn,),
        pre=told.get("pre", {}),
        post=told.get("post", {}),
        pre_totals=told.get("pre_totals", Totals(None, None)),
        post_totals=told.get("post_totals", Totals(None, None)),
        q1=told.get("q1"),
        q2=told.get("q2"),
        q3=told.get("q3"),
        q3_follow_up=told.get("q3_follow_up"),
        branches=told.get("branches", {}),
        by_number={} if turn is None else {turn.turn: turn},
    )
