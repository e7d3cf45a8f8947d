"""A scored request as plain JSON values, and back: what a reward needs of it, without the conversation.

Training rows carry this, so that a reply can be scored wherever the row goes. Only what the request's own
parts read of the annotations is in it; the rest of the conversation stays at home.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attune_data.constants import BRANCHES
from attune_data.errors import SettingsError
from attune_data.schema import PairwiseComparison
from attune_rewards.leaves import LEAF_STAGE, QUESTIONS
from attune_rewards.panas import Totals
from attune_rewards.parts import Format, Part
from attune_rewards.predictions import Stage, Tag
from attune_rewards.reward import ScoredRequest
from attune_rewards.spec import RewardSpec
from attune_rewards.truth import ConversationTruth, TurnTruth

Plain = dict[str, Any]
_COMPARISON: Final = ("questionId", "responseA", "responseB", "winner")
_OTHERS: Final[Mapping[str, Part]] = {"format": Format()}
"""Parts beside the benchmark's leaves that every copy of this package knows by name."""


def check_portable(spec: RewardSpec) -> None:
    """Raises SettingsError where a reward cannot travel as data: parts of one's own, or a terminal one."""
    for name, part in spec.parts.items():
        if name not in LEAF_STAGE and part != _OTHERS.get(name):
            raise SettingsError(
                f"part {name!r} of reward {spec.name!r} is a Python function, which a row cannot carry; make "
                "the rows without it, and give the function to the trainer as a reward function beside them"
            )
    if not spec.dense:
        raise SettingsError(
            f"reward {spec.name!r} is terminal, but each row is paid by itself; leave out .terminal()"
        )


def to_plain(scored: ScoredRequest, *, changes: bool) -> Plain:
    """A scored request as JSON values.

    Args:
        scored: the request's parts and truth.
        changes: PANAS changes are asked, so that the items before are needed to read the answer.
    """
    parts = {name for name, _, _ in scored.parts}
    if scored.turn is None:
        annotated = _reflect(scored.truth, parts, changes)
    else:
        annotated = _turn(scored.turn, scored.stage, parts)
    return {"parts": [list(part) for part in scored.parts], "annotated": annotated}


def _turn(turn: TurnTruth, stage: Stage, parts: set[str]) -> Plain:
    plain: Plain = {}
    if turn.tags is not None and not parts.isdisjoint(("emotion_f1", "emotion_va")):
        plain["tags"] = [[tag.emotion, tag.intensity] for tag in turn.tags]
    if "binary_om" in parts:
        plain["observed"] = [list(answer) for answer in turn.observed]
    if "binary_hp" in parts:
        plain["preferred"] = [list(answer) for answer in turn.preferred]
    if stage == "prefer":
        plain["comparisons"] = [
            [c.question_id, c.response_a, c.response_b, c.winner] for c in turn.comparisons
        ]
    return plain


def _reflect(truth: ConversationTruth, parts: set[str], changes: bool) -> Plain:
    plain: Plain = {name: getattr(truth, name) for name in QUESTIONS if name in parts}
    if changes or not parts.isdisjoint(("panas_pa", "panas_na")):
        plain |= {"pre_totals": list(truth.pre_totals), "post_totals": list(truth.post_totals)}
    if changes:
        plain["pre"] = {name: value for name, value in truth.pre.items() if value is not None}
    branches = {name: truth.branches[name] for name in BRANCHES if f"branch_{name}" in parts}
    return plain | ({"branches": branches} if branches else {})


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
    told: Mapping[str, Any] = plain["annotated"]
    here = None if turn is None else _turn_from(told, turn, tuple(applicable))
    turns = () if here is None else (here,)
    parts = tuple((str(name), float(weight), float(null)) for name, weight, null in plain["parts"])
    return ScoredRequest(
        stage,
        parts,
        _truth_from(told, conversation_id, turns),
        here,
        math.fsum(weight for _, weight, _ in parts),
        tuple(_OTHERS[name] for name, _, _ in parts if name not in LEAF_STAGE),
    )


def _turn_from(told: Mapping[str, Any], number: int, applicable: tuple[str, ...]) -> TurnTruth:
    tags = told.get("tags")
    comparisons = tuple(
        PairwiseComparison.model_validate(dict(zip(_COMPARISON, values, strict=True)))
        for values in told.get("comparisons", ())
    )
    return TurnTruth(
        turn=number,
        tags=None if tags is None else tuple(Tag(emotion, intensity) for emotion, intensity in tags),
        has_judgements=bool(applicable),
        observed=tuple((question, answer) for question, answer in told.get("observed", ())),
        preferred=tuple((question, answer) for question, answer in told.get("preferred", ())),
        comparisons=comparisons,
        winners=tuple((i, c.winner) for i, c in enumerate(comparisons) if c.winner is not None),
        responses={},
        applicable=applicable,
    )


def _truth_from(
    told: Mapping[str, Any], conversation_id: str, turns: tuple[TurnTruth, ...]
) -> ConversationTruth:
    q1, felt_off = told.get("q1"), told.get("q3_follow_up")
    return ConversationTruth(
        conversation_id=conversation_id,
        turns=turns,
        pre=told.get("pre", {}),
        post={},
        pre_totals=Totals(*told.get("pre_totals", (None, None))),
        post_totals=Totals(*told.get("post_totals", (None, None))),
        q1=None if q1 is None else tuple(q1),
        q2=told.get("q2"),
        q3=told.get("q3"),
        q3_follow_up=None if felt_off is None else tuple(felt_off),
        branches=told.get("branches", {}),
        by_number={turn.turn: turn for turn in turns},
    )
