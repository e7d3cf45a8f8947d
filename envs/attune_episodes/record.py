"""The official result record of an episode, our additions under the one key `attune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attune_data import __version__
from attune_data.affect import NEGATIVE, POSITIVE
from attune_data.loading import fingerprint
from attune_data.schema import Conversation
from attune_data.version import SCORING_VERSION
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.extract import kept
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_rewards.panas import totals
from attune_rewards.predictions import (
    STAGES,
    TURN_STAGES,
    Assess,
    AssessHP,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    Stage,
)

Answered = Mapping[str, Prediction | Unparsed]
"""Request id -> what its reply said."""


def result_record(
    conversation: Conversation,
    settings: Settings,
    requests: Sequence[Request],
    answered: Answered,
    replies: Mapping[str, str],
    *,
    em_model: str,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """One result record; an unanswered field is null, an empty answer is `[]` or `{}`."""
    by_place = {(request.turn, request.stage): request for request in requests}
    record: dict[str, Any] = {
        "conversationId": conversation.conversation_id,
        "source_file": facts.get("source_file"),
        "em_model": em_model,
        "run_timestamp": facts.get("run_timestamp") or datetime.now(UTC).isoformat(timespec="seconds"),
        "mode": settings.mode,
        "turns": [
            _turn(conversation, turn.turn_number, by_place, answered, replies) for turn in conversation.turns
        ],
        "post_conversation": _post(settings, by_place.get((None, "reflect")), answered, replies),
        "api_cost": facts.get("api_cost"),
        "duration_seconds": facts.get("duration_seconds"),
    }
    record["attune"] = {
        "versions": {"attune-env": __version__, "scoring": SCORING_VERSION},
        "settings": settings.describe(),
        "data": {"fingerprint": fingerprint(conversation), "provenance": conversation.origin},
        "not_asked": [stage for stage in STAGES if stage not in settings.stages],
        "complete": all(request.id in answered for request in requests),
        **facts.get("attune", {}),
    }
    return record


def _outcome(request: Request | None, answered: Answered) -> str:
    if request is None:
        return "not_asked"
    said = answered.get(request.id)
    if said is None:
        return "missing"
    return said.reason if isinstance(said, Unparsed) else "ok"


def _turn(
    conversation: Conversation,
    number: int,
    by_place: Mapping[tuple[int | None, Stage], Request],
    answered: Answered,
    replies: Mapping[str, str],
) -> dict[str, Any]:
    requests = {stage: by_place.get((number, stage)) for stage in TURN_STAGES}
    said = {stage: answered.get(request.id) if request else None for stage, request in requests.items()}
    draft, assess, hp, prefer = (said[stage] for stage in TURN_STAGES)
    turn = conversation.turn(number)
    comparisons = turn.comparisons if turn else ()
    entry: dict[str, Any] = {
        "turnNumber": number,
        "em_emotion_tags": None,
        "em_drafted_response": draft.text if isinstance(draft, Draft) else None,
        "response_reasoning": draft.reasoning if isinstance(draft, Draft) else None,
        "emotion_reasoning": assess.reasoning if isinstance(assess, Assess) else None,
        "pairwise_assignment": {
            str(i): {"A": c.response_a, "B": c.response_b} for i, c in enumerate(comparisons)
        },
        **_binary(assess, ""),
        **_binary(hp, "_hp"),
        "em_pairwise_selections": (
            {str(i): side for i, side in sorted(prefer.picks.items())} if isinstance(prefer, Prefer) else None
        ),
        "em_four_branch_scores": {},
        "em_draft_judge_scores": {},
        "em_draft_judge_scores_by_model": {},
        "em_draft_binary_assessment": {},
        "em_draft_binary_assessment_by_model": {},
    }
    if isinstance(assess, Assess) and assess.tags is not None:
        entry["em_emotion_tags"] = [
            {"emotion": tag.emotion, "intensity": tag.intensity} for tag in assess.tags
        ]
    shown = requests["prefer"]
    entry["attune"] = {
        "outcomes": {stage: _outcome(request, answered) for stage, request in requests.items()},
        "replies": {s: kept(replies[r.id]) for s, r in requests.items() if r and r.id in replies},
    }
    if shown is not None:
        entry["attune"]["shown"] = {
            "labels": dict(shown.shown_labels),
            "order": [c.index for c in shown.comparisons],
            "swapped": [c.index for c in shown.comparisons if c.swapped],
        }
    return entry


def _binary(said: Prediction | Unparsed | None, suffix: str) -> dict[str, Any]:
    answers = said if isinstance(said, (Assess, AssessHP)) else None
    return {
        f"em_binary_om_assessment{suffix}": dict(answers.observed) if answers else None,
        f"em_binary_human_prediction{suffix}": dict(answers.preferred) if answers else None,
    }


def _post(
    settings: Settings, request: Request | None, answered: Answered, replies: Mapping[str, str]
) -> dict[str, Any]:
    said = answered.get(request.id) if request else None
    reflect = said if isinstance(said, Reflect) else Reflect()
    positive, negative = totals(dict(reflect.panas), reflect.panas_totals)
    shown = request.pre_totals if request else None
    post: dict[str, Any] = {
        "panas_strategy": settings.panas_strategy,
        "pre_panas_shown": (
            {"totalPositiveAffect": shown[0], "totalNegativeAffect": shown[1], "items": {}} if shown else None
        ),
        "predicted_post_panas": {
            "totalPositiveAffect": positive,
            "totalNegativeAffect": negative,
            "items": {name: reflect.panas[name] for name in (*POSITIVE, *NEGATIVE) if name in reflect.panas},
        },
        "predicted_panas_delta": dict(reflect.panas_change or {}),
        "predicted_conversation_wide": {
            "q1_lookingFor": None if reflect.q1 is None else list(reflect.q1),
            "q2_emotionClarity": reflect.q2,
            "q3_modelFit": reflect.q3,
            "q3_followUp_whatFeltOff": None if reflect.q3_follow_up is None else list(reflect.q3_follow_up),
            "fourBranchScores": dict(reflect.branches),
        },
    }
    post["attune"] = {"outcomes": {"reflect": _outcome(request, answered)}}
    if request and request.id in replies:
        post["attune"]["replies"] = {"reflect": kept(replies[request.id])}
    return post
