"""The score of silence: answers taken out of a prediction, and annotations out of the truth.

The canonical reading counts many kinds of silence as answers; the strict one counts none. Each entry here
is one kind, so that a table can show what it pays under either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from attune_data.schema import Conversation
from attune_rewards.predictions import Assess, ConversationPrediction, Prefer, Reflect, TurnPrediction

Silence = Callable[[ConversationPrediction], ConversationPrediction]
Removal = Callable[[dict[str, Any]], None]


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


def _annotations(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [turn["annotations"] for turn in record["turns"] if turn.get("annotations")]


def _no_judgements(record: dict[str, Any]) -> None:
    for marked in _annotations(record):
        marked["binaryJudgements"] = []


def _no_comparisons(record: dict[str, Any]) -> None:
    for marked in _annotations(record):
        marked |= {"pairwiseComparisons": [], "selectedPairwiseQuestions": []}


def _unmoved(record: dict[str, Any]) -> None:
    record["postPanas"] = record.get("prePanas")


def _no_branches(record: dict[str, Any]) -> None:
    (record.get("conversationWideQuestions") or {}).pop("fourBranchScores", None)


def _no_questions(record: dict[str, Any]) -> None:
    wide = record.get("conversationWideQuestions") or {}
    for name in [name for name in wide if name != "fourBranchScores"]:
        del wide[name]


UNANNOTATED: Final[Mapping[str, Removal]] = {
    "judgements": _no_judgements,
    "comparisons": _no_comparisons,
    "a PANAS that moved": _unmoved,
    "branch scores": _no_branches,
    "Q1–Q3 and the follow-up": _no_questions,
}
"""Missing annotation -> the record without it, changed in place."""


def without(conversation: Conversation, what: str) -> Conversation:
    """The conversation as if its participant had never annotated `what`, one of `UNANNOTATED`."""
    record = conversation.to_record()
    UNANNOTATED[what](record)
    return Conversation.model_validate(record)
