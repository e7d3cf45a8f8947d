"""Remove the annotated answers from a conversation; prompts may depend only on the rest."""

from __future__ import annotations

from typing import Any

from attune_data.format.schema import Conversation


def unanswered(conversation: Conversation) -> Conversation:
    """The conversation without any annotated answer; the questions that apply remain."""
    record = conversation.to_record()
    record |= {"postPanas": None, "conversationWideQuestions": None}
    for known, turn in zip(conversation.turns, record["turns"], strict=True):
        turn["moodShiftTags"] = None
        annotations: dict[str, Any] = turn.get("annotations") or {}
        raw = annotations.get("binaryJudgements") or ()
        for judgement, asked in zip(raw, known.judgements, strict=True):
            if asked.applicable:  # this includes questions without any answer
                judgement |= {"observedBehavior": None, "preferredBehavior": None, "llmValue": None}
        for comparison in annotations.get("pairwiseComparisons") or ():
            comparison["winner"] = None
    return Conversation.model_validate(record)
