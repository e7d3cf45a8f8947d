"""Kinds of silence: answers removed from a prediction, and annotations from the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from attune_data.format.schema import Conversation
from attune_rewards.predictions import Assess, ConversationPrediction, Prefer, Reflect, TurnPrediction

Silence = Callable[[ConversationPrediction], ConversationPrediction]


def _turns(change: Callable[[TurnPrediction], TurnPrediction]) -> Silence:
    return lambda said: replace(said, turns={n: change(turn) for n, turn in said.turns.items()})


def _assess(**nothing: Any) -> Silence:
    return _turns(lambda turn: replace(turn, assess=replace(turn.assess or Assess(), **nothing)))


def _reflect(**nothing: Any) -> Silence:
    return lambda said: replace(said, reflect=replace(said.reflect or Reflect(), **nothing))


def _first_turn_only(said: ConversationPrediction) -> ConversationPrediction:
    return replace(said, turns={number: said.turns[number] for number in sorted(said.turns)[:1]})


UNANSWERED: Final[Mapping[str, Silence]] = {
    "every yes/no answer": _assess(observed={}, preferred={}),
    "the tags": _assess(tags=None),
    "every pick": _turns(lambda turn: replace(turn, prefer=Prefer())),
    "every turn but the first": _first_turn_only,
    "PANAS": _reflect(panas={}, panas_totals=(None, None), panas_change=None),
    "Q1": _reflect(q1=None),
    "Q2 and Q3": _reflect(q2=None, q3=None),
    "the follow-up": _reflect(q3_follow_up=None),
    "the branch scores": _reflect(branches={}),
    "everything": lambda said: replace(said, turns={}, reflect=None),
}
"""Kind of answer left out -> the prediction without it."""


def _no_annotations(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        for turn in record["turns"]:
            if turn.get("annotations"):
                turn["annotations"] |= {name: [] for name in names}

    return change


def _no_answers_at_the_end(*, branches: bool) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        wide = record.get("conversationWideQuestions") or {}
        for name in [name for name in wide if (name == "fourBranchScores") is branches]:
            del wide[name]

    return change


UNANNOTATED: Final[Mapping[str, Callable[[dict[str, Any]], None]]] = {
    "judgements": _no_annotations("binaryJudgements"),
    "comparisons": _no_annotations("pairwiseComparisons", "selectedPairwiseQuestions"),
    "a PANAS that moved": lambda record: record.update(postPanas=record.get("prePanas")),
    "branch scores": _no_answers_at_the_end(branches=True),
    "Q1–Q3 and the follow-up": _no_answers_at_the_end(branches=False),
}
"""Missing annotation -> the record without it, changed in place."""


def without(conversation: Conversation, what: str) -> Conversation:
    """The conversation as if its participant had never annotated `what`, one of `UNANNOTATED`."""
    record = conversation.to_record()
    UNANNOTATED[what](record)
    return Conversation.model_validate(record)
