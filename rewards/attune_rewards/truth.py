"""A conversation's annotations in the form used for scoring, computed once per conversation.

Annotations that are absent or null are *unannotated*: they appear here as None or as a leaf that is not
defined. An empty list is an annotation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BRANCHES, Answer, ResponseName, Side
from attune_data.format.schema import Conversation, PairwiseComparison, Panas
from attune_data.format.schema import Turn as ConversationTurn
from attune_rewards.predictions import Tag, YesNo


class Totals(NamedTuple):
    """Positive and negative affect, 10–70 each; None = unknown."""

    positive: float | None
    """Sum of the ten positive items."""
    negative: float | None
    """Sum of the ten negative items."""


@dataclass(frozen=True, slots=True)
class TurnTruth:
    """The annotations of one turn."""

    turn: int
    """Its number in the conversation, from 1."""
    tags: tuple[Tag, ...] | None
    """The feelings that the person named; None = not annotated; () = neutral."""
    has_judgements: bool
    """Whether the turn has any binary judgement, with or without a yes/no truth."""
    observed: tuple[tuple[str, YesNo], ...]
    """(question id, answer) where the person said yes or no to what the recorded reply did."""
    preferred: tuple[tuple[str, YesNo], ...]
    """The same for what the person would have wanted."""
    comparisons: tuple[PairwiseComparison, ...]
    """Two of `responses` each: `question_id`, `response_a`, `response_b`, `winner` ("A", "B" or None)."""
    winners: tuple[tuple[int, Side], ...]
    """(index, winner) of the comparisons that have a winner."""
    responses: Mapping[ResponseName, str | None]
    """original (the recorded reply), alternate and human (edited by a person) -> text; None = missing."""
    applicable: tuple[str, ...]
    """Ids of the yes/no questions that are asked, in the file's order."""
    message: str = ""
    """The person's message, to which a draft replies."""
    history: tuple[tuple[str, str], ...] = ()
    """The exchanges before it: (message, recorded reply)."""


@dataclass(frozen=True, slots=True)
class ConversationTruth:
    """The annotations of a whole conversation; None means not annotated."""

    conversation_id: str
    """Its id in the data."""
    turns: tuple[TurnTruth, ...]
    """Every turn, in order."""
    pre: Mapping[str, int | None]
    """PANAS item -> 1–7 before the conversation; None = not annotated."""
    post: Mapping[str, int | None]
    """The same after the conversation."""
    pre_totals: Totals
    """(positive, negative) affect before the conversation, 10–70 each; None = unknown."""
    post_totals: Totals
    """The same after the conversation."""
    q1: tuple[str, ...] | None
    """What the person was looking for: options of Q1; None = not annotated."""
    q2: str | None
    """How clear the feelings were: an option of Q2; None = not annotated."""
    q3: str | None
    """How well the assistant fitted: an option of Q3; None = not annotated."""
    q3_follow_up: tuple[str, ...] | None
    """What felt off, in the person's words; None = not annotated; () = nothing."""
    branches: Mapping[str, int]
    """Branch -> 1–7, annotated ones only."""
    by_number: Mapping[int, TurnTruth]
    """Turn number -> truth."""

    def turn(self, number: int) -> TurnTruth | None:
        """The truth of the turn with that number, or None."""
        return self.by_number.get(number)


def truth_of(conversation: Conversation) -> ConversationTruth:
    """The annotations of a conversation in the form used for scoring (cached on the conversation)."""
    return conversation.memoised("truth", None, lambda: _compile(conversation))


def _compile(conversation: Conversation) -> ConversationTruth:
    wide = conversation.conversation_wide
    scores = (wide.four_branch_scores if wide else None) or {}
    said = tuple((turn.user_message, turn.llm_response) for turn in conversation.turns)
    turns = tuple(_turn(turn, said[:number]) for number, turn in enumerate(conversation.turns))
    return ConversationTruth(
        conversation_id=conversation.conversation_id,
        turns=turns,
        by_number={turn.turn: turn for turn in turns},
        pre=_items(conversation.pre_panas),
        post=_items(conversation.post_panas),
        pre_totals=_totals(conversation.pre_panas),
        post_totals=_totals(conversation.post_panas),
        q1=wide.q1_looking_for if wide else None,
        q2=wide.q2_emotion_clarity if wide else None,
        q3=wide.q3_model_fit if wide else None,
        q3_follow_up=wide.q3_follow_up if wide else None,
        branches={name: score for name in BRANCHES if (score := scores.get(name)) is not None},
    )


def _turn(turn: ConversationTurn, before: tuple[tuple[str, str], ...]) -> TurnTruth:
    tags = turn.mood_shift_tags
    winners = tuple((i, c.winner) for i, c in enumerate(turn.comparisons) if c.winner is not None)
    return TurnTruth(
        turn=turn.turn_number,
        tags=None if tags is None else tuple(Tag(tag.emotion, tag.intensity) for tag in tags),
        has_judgements=bool(turn.judgements),
        observed=_yes_no((j.question_id, j.observed_truth) for j in turn.judgements),
        preferred=_yes_no((j.question_id, j.preferred_truth) for j in turn.judgements),
        comparisons=turn.comparisons,
        winners=winners,
        responses=turn.responses,
        applicable=tuple(dict.fromkeys(j.question_id for j in turn.judgements if j.applicable)),
        message=turn.user_message,
        history=before,
    )


def _yes_no(answers: Iterable[tuple[str, Answer | None]]) -> tuple[tuple[str, YesNo], ...]:
    return tuple((question, answer) for question, answer in answers if answer is not None and answer != "na")


def _items(panas: Panas | None) -> dict[str, int | None]:
    return {name: panas.item(name) if panas else None for name in EMOTIONS}


def _totals(panas: Panas | None) -> Totals:
    return Totals(panas.total("positive"), panas.total("negative")) if panas else Totals(None, None)
