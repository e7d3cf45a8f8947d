"""Every other name under which a field or value of the conversation format is accepted.

Older files of the benchmark and results of its public port use these. Reading maps them to the
format's own names; writing uses the format's own names only.
"""

from __future__ import annotations

from typing import Final

from attune_data.constants import Answer, ResponseName, Side

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "conversationId": ("conversation_id",),
    "participant_profile": ("participantProfile",),
    "prePanas": ("pre_panas",),
    "postPanas": ("post_panas",),
    "conversationWideQuestions": ("conversation_wide_questions",),
    "fourBranchScores": ("four_branch_scores",),
    "q1_lookingFor": ("Q1", "q1"),
    "q2_emotionClarity": ("Q2", "q2"),
    "q3_modelFit": ("Q3", "q3"),
    "q3_followUp_whatFeltOff": ("Q3_followUp", "q3_followUp"),
    "turnNumber": ("turn_number",),
    "userMessage": ("user_message",),
    "llmResponse": ("llm_response",),
    "moodShiftTags": ("mood_shift_tags",),
    "binaryJudgements": ("binaryJudgments", "binary_judgements"),
    "alternateResponses": ("alternate_responses",),
    "llmImproved": ("alternate1", "llm_improved"),
    "humanEdited": ("alternate2", "human_edited"),
    "pairwiseComparisons": ("pairwise_comparisons",),
    "selectedPairwiseQuestions": ("selected_pairwise_questions",),
    "questionId": ("question_id",),
    "observedBehavior": ("did_occur", "humanValue", "actualValue"),
    "preferredBehavior": ("should_occur", "humanPreference"),
    "llmValue": ("llm_value",),
    "responseA": ("response_1", "response_a"),
    "responseB": ("response_2", "response_b"),
}
"""Format name -> other names, in the order in which they are looked for. `llmValue` stands in for an
absent observed value when scoring; it is a field of its own, not an alias."""

ANSWERS: Final[dict[object, Answer]] = {
    "yes": "yes",
    "no": "no",
    "na": "na",
    "y": "yes",
    "n": "no",
    "true": "yes",
    "false": "no",
    "n/a": "na",
    "not applicable": "na",
}
"""Folded text -> answer; booleans are read as yes and no."""

WINNERS: Final[dict[object, Side]] = {
    "A": "A",
    "B": "B",
    "a": "A",
    "b": "B",
    "response_1": "A",
    "response_2": "B",
    "responseA": "A",
    "responseB": "B",
}

RESPONSE_NAMES: Final[dict[object, ResponseName]] = {
    "original": "original",
    "alternate": "alternate",
    "human": "human",
    "alternate1": "alternate",
    "alternate2": "human",
    "llmImproved": "alternate",
    "humanEdited": "human",
}

INTENSITIES: Final[dict[object, int]] = {"mild": 2, "moderate": 4, "intense": 6}


def read_answer(value: object) -> Answer | None:
    """yes, no or na for any accepted spelling (booleans too); None if `value` is none of them."""
    if value is True:
        return "yes"
    if value is False:
        return "no"
    if not isinstance(value, str):
        return None
    return ANSWERS.get(value) or ANSWERS.get(value.strip().casefold())
