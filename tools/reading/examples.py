"""Collects the examples that readers are fitted and measured on: recorded replies with observed answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from attune_data.format.schema import Conversation
from attune_rewards.predictions import YesNo
from attune_rewards.reading.exchange import Exchange
from attune_rewards.truth import truth_of


@dataclass(frozen=True, slots=True)
class Example:
    """One recorded reply, and the person's answers about it."""

    participant: str
    conversation: str
    exchange: Exchange
    answers: Mapping[str, bool]
    """Question id -> whether the reply did it; only questions answered yes or no."""
    wanted: Mapping[str, YesNo]
    """Question id -> whether the person wanted it."""


def examples(conversations: Iterable[Conversation]) -> Iterator[Example]:
    """The replies of conversations with their observed answers, in order."""
    for conversation in conversations:
        truth = truth_of(conversation).by_number
        history: tuple[tuple[str, str], ...] = ()
        for turn in conversation.turns:
            exchange = Exchange(turn.user_message, turn.llm_response, history)
            observed = truth[turn.turn_number].observed
            answers = {question: answer == "yes" for question, answer in observed}
            yield Example(conversation.participant, conversation.conversation_id, exchange, answers,
                          dict(truth[turn.turn_number].preferred))  # fmt: skip
            history = (*history, (turn.user_message, turn.llm_response))
