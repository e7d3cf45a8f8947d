"""The fields of a result record, as types.

`write` is checked against them, and the JSON Schema of result files is made of them.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12, pydantic cannot read that of `typing`

from attune_data.format.constants import ResponseName, Side
from attune_rewards.predictions import Stage, YesNo

Rated = Annotated[int, Field(ge=1, le=7)]
Answers = dict[str, YesNo]
"""Question id -> answer."""


class TagFields(TypedDict):
    """A feeling."""

    emotion: str
    intensity: Rated | None


class Frame(TypedDict):
    """The responses that the letters of a comparison mean."""

    A: ResponseName
    B: ResponseName


class JudgedFields(TypedDict):
    """The answers of the draft's judges: together, and judge by judge."""

    em_draft_judge_scores: dict[str, float]
    em_draft_judge_scores_by_model: dict[str, dict[str, float]]
    em_draft_binary_assessment: Answers
    em_draft_binary_assessment_by_model: dict[str, Answers]


class TurnMarks(TypedDict):
    """What this project adds to a turn."""

    outcomes: dict[Stage, str]
    replies: dict[Stage, str]
    shown: NotRequired[dict[str, Any]]


class TurnFields(JudgedFields):
    """The answers about a turn; null is unanswered."""

    turnNumber: int
    em_emotion_tags: list[TagFields] | None
    em_drafted_response: str | None
    response_reasoning: str | None
    emotion_reasoning: str | None
    pairwise_assignment: dict[str, Frame]
    em_binary_om_assessment: Answers | None
    em_binary_human_prediction: Answers | None
    em_binary_om_assessment_hp: Answers | None
    em_binary_human_prediction_hp: Answers | None
    em_pairwise_selections: dict[str, Side] | None
    em_four_branch_scores: dict[str, Any]
    attune: TurnMarks


class PanasFields(TypedDict):
    """Totals and items of the feelings at one moment."""

    totalPositiveAffect: float | None
    totalNegativeAffect: float | None
    items: dict[str, Rated]


class WideFields(TypedDict):
    """The answers to the questions about the whole conversation."""

    q1_lookingFor: list[str] | None
    q2_emotionClarity: str | None
    q3_modelFit: str | None
    q3_followUp_whatFeltOff: list[str] | None
    fourBranchScores: dict[str, Rated]


class PostMarks(TypedDict, total=False):
    """What this project adds to the answers after the conversation."""

    outcomes: dict[Stage, str]
    replies: dict[Stage, str]


class PostFields(TypedDict):
    """The answers after the conversation."""

    panas_strategy: str
    pre_panas_shown: PanasFields | None
    predicted_post_panas: PanasFields
    predicted_panas_delta: dict[str, int]
    predicted_conversation_wide: WideFields
    attune: PostMarks


class DataFields(TypedDict):
    """The conversation that was asked about."""

    fingerprint: str
    provenance: str


class Marks(TypedDict):
    """What this project adds to a record; runs add more (docs/formats.md)."""

    versions: dict[str, str]
    settings: dict[str, Any]
    data: DataFields
    not_asked: list[Stage]
    complete: bool


class RecordFields(TypedDict):
    """A result record."""

    conversationId: str
    source_file: str | None
    em_model: str
    run_timestamp: str
    mode: str
    turns: list[TurnFields]
    post_conversation: PostFields
    api_cost: float | None
    duration_seconds: float | None
    attune: Marks
