"""The score of silence in the two scoring modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from attune_data.means import mean
from attune_data.schema import Conversation
from attune_episodes.attacks import UNANNOTATED, UNANSWERED, without
from attune_rewards.predictions import ConversationPrediction, TurnPrediction
from attune_rewards.scoring import score_conversation


class Composites(NamedTuple):
    """Mean Composites, 0–100; NaN if no conversation has one."""

    canonical: float
    strict: float


WHOLE = ""
"""The key of the score without any silence."""


def unanswered(
    said: Sequence[ConversationPrediction], conversations: Sequence[Conversation]
) -> dict[str, Composites]:
    """Kind of answer (`WHOLE`: everything) -> what a policy earns if it leaves that out."""
    scores = {WHOLE: _composites(conversations, said)}
    for what, silence in UNANSWERED.items():
        scores[what] = _composites(conversations, [silence(one) for one in said])
    return scores


def unannotated(conversations: Sequence[Conversation]) -> dict[str, Composites]:
    """Kind of annotation (`WHOLE`: none) -> what saying nothing at all earns if it is missing."""
    silent = [
        ConversationPrediction(
            about.conversation_id,
            {turn.turn_number: TurnPrediction(turn.turn_number) for turn in about.turns},
        )
        for about in conversations
    ]
    scores = {WHOLE: _composites(conversations, silent)}
    for what in UNANNOTATED:
        scores[what] = _composites([without(about, what) for about in conversations], silent)
    return scores


def _composites(conversations: Sequence[Conversation], said: Sequence[ConversationPrediction]) -> Composites:
    scores = [score_conversation(c, one) for c, one in zip(conversations, said, strict=True)]
    means = (mean(one[name] for one in scores) for name in ("composite_exact", "composite_strict"))
    return Composites(*(math.nan if found is None else found for found in means))
