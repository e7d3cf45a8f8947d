"""Turn the replies to a plan into a conversation's typed prediction and its official result record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attune_data.format.schema import Conversation
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.extract import kept
from attune_episodes.play.score import resolved
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import (
    STAGES,
    TURN_STAGES,
    ConversationPrediction,
    Prediction,
    TurnPrediction,
)
from attune_rewards.record.write import Asked, write_record
from attune_rewards.reward.score import OK
from attune_rewards.truth import truth_of


def prediction_of(
    conversation: Conversation,
    settings: Settings,
    requests: Sequence[Request],
    answered: Mapping[str, Prediction | Unparsed],
) -> ConversationPrediction:
    """Everything that the parsed replies to a plan say; `answered` is keyed by request id.

    A stage without a reply that could be parsed is None, as is one that was not asked.
    """
    said = {
        (one.turn, one.stage): answered[one.id]
        for one in requests
        if one.id in answered and not isinstance(answered[one.id], Unparsed)
    }
    asked = {(one.turn, one.stage) for one in requests}
    turns = {}
    for number in (turn.turn_number for turn in conversation.turns):
        stages: dict[str, Any] = {stage: said.get((number, stage)) for stage in TURN_STAGES}
        left_out = frozenset(stage for stage in TURN_STAGES if (number, stage) not in asked)
        turns[number] = TurnPrediction(number, **stages, not_asked=left_out)
    reflect: Any = said.get((None, "reflect"))
    return ConversationPrediction(
        conversation.conversation_id,
        turns,
        None if reflect is None else resolved(truth_of(conversation), reflect),
        frozenset(stage for stage in STAGES if stage not in settings.stages),
    )


def result_record(
    conversation: Conversation,
    settings: Settings,
    requests: Sequence[Request],
    answered: Mapping[str, Prediction | Unparsed],
    replies: Mapping[str, str],
    *,
    em_model: str,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """Make the official result record of the parsed and raw replies to a plan, keyed by request id.

    `em_model` and `facts` are as for `write_record`.
    """
    asked = Asked(
        settings.describe(),
        {(one.turn, one.stage): _outcome(answered.get(one.id)) for one in requests},
        {(one.turn, one.stage): kept(replies[one.id]) for one in requests if one.id in replies},
        {one.turn: _shown(one) for one in requests if one.stage == "prefer" and one.turn is not None},
        next((one.pre_totals for one in requests if one.stage == "reflect"), None),
    )
    prediction = prediction_of(conversation, settings, requests, answered)
    return write_record(conversation, prediction, asked, em_model=em_model, facts=facts)


def _outcome(said: Prediction | Unparsed | None) -> str:
    return "missing" if said is None else said.reason if isinstance(said, Unparsed) else OK


def _shown(request: Request) -> dict[str, Any]:
    return {
        "labels": dict(request.shown_labels),
        "order": [c.index for c in request.comparisons],
        "swapped": [c.index for c in request.comparisons if c.swapped],
    }
