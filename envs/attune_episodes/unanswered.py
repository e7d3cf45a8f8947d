"""A conversation without its annotated answers, which is all that prompts may depend on."""

from __future__ import annotations

from typing import Any

from attune_data.schema import Conversation


def unanswered(conversation: Conversation) -> Conversation:
    """The conversation with every annotated answer taken out; which questions apply stays as it is."""
    record = conversation.to_record()
    record |= {"postPanas": None, "conversationWideQuestions": None}
    for known, turn in zip(conversation.turns, record["turns"], strict=True):
        turn["moodShiftTags"] = None
        annotations: dict[str, Any] = turn.get("annotations") or {}
        raw = annotations.get("binaryJudgements") or ()
        for judgement, asked in zip(raw, known.judgements, strict=True):
            if asked.applicable:  # and so are questions without any answer
                judgement |= {"observedBehavior": None, "preferredBehavior": None, "llmValue": None}
        for comparison in annotations.get("pairwiseComparisons") or ():
            comparison["winner"] = None
    return Conversation.model_validate(record)
