"""Read a model's own drafts with the default reader."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from attune_data.format.schema import Conversation
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.readers import reader
from attune_rewards.predictions import ConversationPrediction, Draft
from attune_rewards.truth import TurnTruth, truth_of

READING: Final = "draft_binary_alignment_read"
"""The reward part that needs drafts to be read."""


def read_draft(draft: Draft, turn: TurnTruth) -> Draft:
    """Add the answers of `fitted` to a draft; a draft that was already read is not changed."""
    if draft.read is not None:
        return draft
    return replace(draft, read=reader().read(Exchange(turn.message, draft.text, turn.history)))


def with_readings(conversation: Conversation, prediction: ConversationPrediction) -> ConversationPrediction:
    """The prediction, with every draft read."""
    truth = truth_of(conversation).by_number
    turns = {
        number: said
        if said.draft is None or number not in truth
        else replace(said, draft=read_draft(said.draft, truth[number]))
        for number, said in prediction.turns.items()
    }
    return replace(prediction, turns=turns)
