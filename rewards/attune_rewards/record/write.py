"""Write the official result record (one model, one conversation, one mode).

This project's additions are under the single key `attune` of the record, of each turn and of the post part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from attune_data.format.affect import NEGATIVE, POSITIVE
from attune_data.format.fingerprint import fingerprint
from attune_data.format.schema import Conversation, Turn
from attune_data.version import SCORING_VERSION, __version__
from attune_rewards.metrics.panas import totals
from attune_rewards.predictions import (
    STAGES,
    TURN_STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Judged,
    Reflect,
    Stage,
    TurnPrediction,
)
from attune_rewards.record.marks import Place
from attune_rewards.record.shape import (
    Answers,
    JudgedFields,
    PanasFields,
    PostFields,
    PostMarks,
    RecordFields,
    TurnFields,
    TurnMarks,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The contents of a record besides the prediction: the questions, their outcomes and the raw replies."""

    settings: Mapping[str, Any]
    """How it was asked, with at least `mode`, `stages` and `panas_strategy`."""
    outcomes: Mapping[Place, str]
    """Place of each request -> `ok`, `unparsed:<code>`, or `missing` without a reply."""
    replies: Mapping[Place, str] = field(default_factory=dict)
    """Place -> raw reply."""
    shown: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """Turn -> how its comparisons were shown: `labels`, `order`, `swapped`."""
    pre_totals: tuple[float, float] | None = None
    """The PANAS totals before the conversation, if the last request shows them."""


def write_record(
    conversation: Conversation,
    prediction: ConversationPrediction,
    asked: Asked,
    *,
    em_model: str,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """Make a result record; an unanswered field is null, an empty answer is `[]` or `{}`.

    Args:
        conversation: the annotated conversation.
        prediction: what the model said about it; PANAS changes must have been turned into items.
        asked: what it was asked.
        em_model: `provider/model`.
        facts: further top-level fields of the format (`source_file`, `run_timestamp`, `api_cost`,
            `duration_seconds`), and further ones of ours under `attune`.
    """

    def marks(turn: int | None, *stages: Stage) -> TurnMarks:
        return {
            "outcomes": {stage: asked.outcomes.get((turn, stage), "not_asked") for stage in stages},
            "replies": {
                stage: asked.replies[turn, stage] for stage in stages if (turn, stage) in asked.replies
            },
        }

    turns = []
    for turn in conversation.turns:
        number = turn.turn_number
        told = marks(number, *TURN_STAGES)
        if shown := asked.shown.get(number):
            told["shown"] = dict(shown)
        turns.append(_turn(turn, prediction.turns.get(number) or TurnPrediction(number), told))
    reflected = marks(None, "reflect")
    last: PostMarks = {"outcomes": reflected["outcomes"]}
    if reflected["replies"]:
        last["replies"] = reflected["replies"]
    record: RecordFields = {
        "conversationId": conversation.conversation_id,
        "source_file": facts.get("source_file"),
        "em_model": em_model,
        "run_timestamp": facts.get("run_timestamp") or datetime.now(UTC).isoformat(timespec="seconds"),
        "mode": asked.settings["mode"],
        "turns": turns,
        "post_conversation": _post(asked, prediction.reflect or Reflect(), last),
        "api_cost": facts.get("api_cost"),
        "duration_seconds": facts.get("duration_seconds"),
        "attune": {
            "versions": {"attune-env": __version__, "scoring": SCORING_VERSION},
            "settings": dict(asked.settings),
            "data": {"fingerprint": fingerprint(conversation), "provenance": conversation.origin},
            "not_asked": [stage for stage in STAGES if stage not in asked.settings["stages"]],
            "complete": "missing" not in asked.outcomes.values(),
            **facts.get("attune", {}),
        },
    }
    return dict(record)


def judged_fields(judged: Judged, by_judge: Mapping[str, Judged]) -> JudgedFields:
    """The four `em_draft_*` fields of a turn: what the judges say together, and each by its name.

    A judge without a valid value for a field is left out of that field; without judges, all four are empty.
    """
    return {
        "em_draft_judge_scores": dict(judged.scores),
        "em_draft_judge_scores_by_model": {m: dict(one.scores) for m, one in by_judge.items() if one.scores},
        "em_draft_binary_assessment": dict(judged.binary or {}),
        "em_draft_binary_assessment_by_model": {
            m: dict(one.binary) for m, one in by_judge.items() if one.binary
        },
    }


def _turn(turn: Turn, said: TurnPrediction, told: TurnMarks) -> TurnFields:
    tags = said.assess.tags if said.assess else None
    om, human = _binary(said.assess)
    om_hp, human_hp = _binary(said.assess_hp)
    return {
        "turnNumber": turn.turn_number,
        "em_emotion_tags": (
            None if tags is None else [{"emotion": tag.emotion, "intensity": tag.intensity} for tag in tags]
        ),
        "em_drafted_response": said.draft.text if said.draft else None,
        "response_reasoning": said.draft.reasoning if said.draft else None,
        "emotion_reasoning": said.assess.reasoning if said.assess else None,
        "pairwise_assignment": {
            str(i): {"A": c.response_a, "B": c.response_b} for i, c in enumerate(turn.comparisons)
        },
        "em_binary_om_assessment": om,
        "em_binary_human_prediction": human,
        "em_binary_om_assessment_hp": om_hp,
        "em_binary_human_prediction_hp": human_hp,
        "em_pairwise_selections": (
            {str(i): side for i, side in sorted(said.prefer.picks.items())} if said.prefer else None
        ),
        "em_four_branch_scores": {},
        **judged_fields(said.judged or Judged(), {}),
        "attune": told,
    }


def _binary(said: Assess | AssessHP | None) -> tuple[Answers | None, Answers | None]:
    return (dict(said.observed), dict(said.preferred)) if said else (None, None)


def _post(asked: Asked, reflect: Reflect, told: PostMarks) -> PostFields:
    return {
        "panas_strategy": asked.settings["panas_strategy"],
        "pre_panas_shown": _panas(asked.pre_totals, {}) if asked.pre_totals else None,
        "predicted_post_panas": _panas(totals(dict(reflect.panas), reflect.panas_totals), reflect.panas),
        "predicted_panas_delta": dict(reflect.panas_change or {}),
        "predicted_conversation_wide": {
            "q1_lookingFor": None if reflect.q1 is None else list(reflect.q1),
            "q2_emotionClarity": reflect.q2,
            "q3_modelFit": reflect.q3,
            "q3_followUp_whatFeltOff": None if reflect.q3_follow_up is None else list(reflect.q3_follow_up),
            "fourBranchScores": dict(reflect.branches),
        },
        "attune": told,
    }


def _panas(sums: tuple[float | None, float | None], items: Mapping[str, int]) -> PanasFields:
    return {
        "totalPositiveAffect": sums[0],
        "totalNegativeAffect": sums[1],
        "items": {name: items[name] for name in (*POSITIVE, *NEGATIVE) if name in items},
    }
