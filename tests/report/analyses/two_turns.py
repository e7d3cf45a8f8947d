"""Answers with known errors to the two turns of `conversation()`."""

from __future__ import annotations

from typing import Any

from tests.data.builders import Json
from tests.report.analyses.made import MODEL, answers


def said(talk: Any, model: str = MODEL) -> Json:
    """Turn 1 felt Upset and Guilty, turn 2 nothing; what is answered is set here."""
    record = answers(talk, model)
    first, second = record["turns"]
    first["em_emotion_tags"] = [{"emotion": "Upset", "intensity": 5}, {"emotion": "Excited", "intensity": 2}]
    second["em_emotion_tags"] = [{"emotion": "Wistful", "intensity": 3}]
    # truths of each turn: OM B1 yes; HP B1 no, B19 yes
    first["em_binary_om_assessment"] = {"B1": "yes"}
    first["em_binary_human_prediction"] = {"B1": "yes"}
    second["em_binary_om_assessment"] = {"B1": "no", "B19": "yes"}
    second["em_binary_human_prediction"] = {"B19": "yes"}
    # winners of each turn: general A (original over alternate), PW4 B (original over human)
    for number, entry in enumerate(record["turns"]):
        entry["em_pairwise_selections"] = {"0": "AB"[number], "1": "B"}
        entry["attune"]["shown"] |= {"order": [1, 0], "swapped": [0]}
    wide = record["post_conversation"]["predicted_conversation_wide"]
    wide["fourBranchScores"] = {"perceiving": 5, "facilitating": 5, "understanding": 4}
    return record
