"""The official result record of an episode, with our additions under the single key `attune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attune_data import __version__
from attune_data.files.load import fingerprint
from attune_data.format.affect import NEGATIVE, POSITIVE
from attune_data.format.schema import Conversation, Turn
from attune_data.version import SCORING_VERSION
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.extract import kept
from attune_episodes.play.score import resolved
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.metrics.panas import totals
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
from attune_rewards.truth import truth_of

Said = Prediction | Unparsed | None
"""The content of a reply; None if there is no reply."""


def result_record(
    conversation: Conversation,
    settings: Settings,
    requests: Sequence[Request],
    answered: Mapping[str, Prediction | Unparsed],
    replies: Mapping[str, str],
    *,
    em_model: str,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """Build one result record; an unanswered field is null, an empty answer is `[]` or `{}`.

    `answered` and `replies` are keyed by request id.
    """
    truth = truth_of(conversation)
    asked = {(request.turn, request.stage): request for request in requests}
    said = {place: answered[one.id] for place, one in asked.items() if one.id in answered}

    def outcome(turn: int | None, stage: Stage) -> str:
        if (turn, stage) not in asked:
            return "not_asked"
        found = said.get((turn, stage))
        return "missing" if found is None else found.reason if isinstance(found, Unparsed) else "ok"

    def marks(turn: int | None, *stages: Stage) -> dict[str, Any]:
        kept_of = {
            stage: kept(replies[one.id])
            for stage in stages
            if (one := asked.get((turn, stage))) and one.id in replies
        }
        return {"outcomes": {stage: outcome(turn, stage) for stage in stages}, "replies": kept_of}

    turns = []
    for turn in conversation.turns:
        number = turn.turn_number
        entry = _turn(turn, *(said.get((number, stage)) for stage in TURN_STAGES))
        entry["attune"] = marks(number, *TURN_STAGES)
        if shown := asked.get((number, "prefer")):
            entry["attune"]["shown"] = {
                "labels": dict(shown.shown_labels),
                "order": [c.index for c in shown.comparisons],
                "swapped": [c.index for c in shown.comparisons if c.swapped],
            }
        turns.append(entry)
    end, reflect = asked.get((None, "reflect")), said.get((None, "reflect"))
    post = _post(settings, end, resolved(truth, reflect) if isinstance(reflect, Reflect) else Reflect())
    post["attune"] = {name: found for name, found in marks(None, "reflect").items() if found}
    return {
        "conversationId": conversation.conversation_id,
        "source_file": facts.get("source_file"),
        "em_model": em_model,
        "run_timestamp": facts.get("run_timestamp") or datetime.now(UTC).isoformat(timespec="seconds"),
        "mode": settings.mode,
        "turns": turns,
        "post_conversation": post,
        "api_cost": facts.get("api_cost"),
        "duration_seconds": facts.get("duration_seconds"),
        "attune": {
            "versions": {"attune-env": __version__, "scoring": SCORING_VERSION},
            "settings": settings.describe(),
            "data": {"fingerprint": fingerprint(conversation), "provenance": conversation.origin},
            "not_asked": [stage for stage in STAGES if stage not in settings.stages],
            "complete": all(request.id in answered for request in requests),
            **facts.get("attune", {}),
        },
    }


def _turn(turn: Turn, draft: Said, assess: Said, hp: Said, prefer: Said) -> dict[str, Any]:
    tags = assess.tags if isinstance(assess, Assess) else None
    picks = sorted(prefer.picks.items()) if isinstance(prefer, Prefer) else None
    return {
        "turnNumber": turn.turn_number,
        "em_emotion_tags": (
            None if tags is None else [{"emotion": tag.emotion, "intensity": tag.intensity} for tag in tags]
        ),
        "em_drafted_response": draft.text if isinstance(draft, Draft) else None,
        "response_reasoning": draft.reasoning if isinstance(draft, Draft) else None,
        "emotion_reasoning": assess.reasoning if isinstance(assess, Assess) else None,
        "pairwise_assignment": {
            str(i): {"A": c.response_a, "B": c.response_b} for i, c in enumerate(turn.comparisons)
        },
        **_binary(assess, ""),
        **_binary(hp, "_hp"),
        "em_pairwise_selections": None if picks is None else {str(i): side for i, side in picks},
        "em_four_branch_scores": {},
        "em_draft_judge_scores": {},
        "em_draft_judge_scores_by_model": {},
        "em_draft_binary_assessment": {},
        "em_draft_binary_assessment_by_model": {},
    }


def _binary(said: Said, suffix: str) -> dict[str, Any]:
    answers = said if isinstance(said, (Assess, AssessHP)) else None
    return {
        f"em_binary_om_assessment{suffix}": dict(answers.observed) if answers else None,
        f"em_binary_human_prediction{suffix}": dict(answers.preferred) if answers else None,
    }


def _post(settings: Settings, request: Request | None, reflect: Reflect) -> dict[str, Any]:
    shown = request.pre_totals if request else None
    return {
        "panas_strategy": settings.panas_strategy,
        "pre_panas_shown": _panas(shown, {}) if shown else None,
        "predicted_post_panas": _panas(totals(dict(reflect.panas), reflect.panas_totals), reflect.panas),
        "predicted_panas_delta": dict(reflect.panas_change or {}),
        "predicted_conversation_wide": {
            "q1_lookingFor": None if reflect.q1 is None else list(reflect.q1),
            "q2_emotionClarity": reflect.q2,
            "q3_modelFit": reflect.q3,
            "q3_followUp_whatFeltOff": None if reflect.q3_follow_up is None else list(reflect.q3_follow_up),
            "fourBranchScores": dict(reflect.branches),
        },
    }


def _panas(sums: tuple[float | None, float | None], items: Mapping[str, int]) -> dict[str, Any]:
    return {
        "totalPositiveAffect": sums[0],
        "totalNegativeAffect": sums[1],
        "items": {name: items[name] for name in (*POSITIVE, *NEGATIVE) if name in items},
    }
