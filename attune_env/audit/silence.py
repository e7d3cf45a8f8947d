"""The score of silence in the two scoring modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attune_data.means import mean
from attune_data.schema import Conversation
from attune_episodes.attacks import UNANNOTATED, UNANSWERED, without
from attune_rewards.predictions import ConversationPrediction, TurnPrediction
from attune_rewards.scoring import score_conversation


@dataclass(frozen=True, slots=True)
class Silence:
    """One kind of silence: the mean Composite (0–100) with and without it, in both scoring modes."""

    what: str
    canonical: tuple[float, float]
    """(before, after)"""
    strict: tuple[float, float]


def unanswered(
    said: Sequence[ConversationPrediction], conversations: Sequence[Conversation]
) -> list[Silence]:
    """Score a policy that leaves one kind of answer out, for each kind."""
    whole = _both(conversations, said)
    found = []
    for what, silence in UNANSWERED.items():
        quieter = _both(conversations, [silence(one) for one in said])
        found.append(Silence(what, (whole[0], quieter[0]), (whole[1], quieter[1])))
    return found


def unannotated(conversations: Sequence[Conversation]) -> list[Silence]:
    """Score saying nothing at all where one kind of annotation is missing, for each kind."""
    silent = [_silent(conversation) for conversation in conversations]
    whole = _both(conversations, silent)
    found = []
    for what in UNANNOTATED:
        holed = _both([without(conversation, what) for conversation in conversations], silent)
        found.append(Silence(what, (whole[0], holed[0]), (whole[1], holed[1])))
    return found


def _silent(conversation: Conversation) -> ConversationPrediction:
    """A result file that has every turn and no answer in any."""
    turns = {turn.turn_number: TurnPrediction(turn.turn_number) for turn in conversation.turns}
    return ConversationPrediction(conversation.conversation_id, turns)


def _both(
    conversations: Sequence[Conversation], said: Sequence[ConversationPrediction]
) -> tuple[float, float]:
    """Mean canonical and mean strict Composite; conversations without any annotation have no strict one."""
    scores = [score_conversation(c, one) for c, one in zip(conversations, said, strict=True)]
    canonical, strict = (
        mean(one[name] for one in scores) for name in ("composite_exact", "composite_strict")
    )
    return math.nan if canonical is None else canonical, math.nan if strict is None else strict
