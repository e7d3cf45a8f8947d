"""Conversations and predictions made by hand, their gold answers, and rewards request by request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attune_data import Conversation
from attune_data.format.affect import NEGATIVE, POSITIVE
from attune_data.format.constants import BRANCHES, Q2_OPTIONS, Q3_OPTIONS
from attune_rewards import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    RewardSpec,
    Stage,
    Tag,
    TurnPrediction,
    score_request,
)
from attune_rewards.predictions import YesNo
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of

Json = dict[str, Any]
GOLDEN = Path(__file__).parents[1] / "golden"
EMOJI = "Çok üzgünüm 😢🏳️‍🌈"
RIGHT_TO_LEFT = "אני עייף مرهق"
LONG = "word " * 250


# --- by hand -----------------------------------------------------------------------------------------


def golden_records() -> dict[str, Json]:
    """Conversation id -> record of the golden conversations."""
    records = [
        json.loads(path.read_text("utf-8")) for path in sorted((GOLDEN / "conversations").glob("*.json"))
    ]
    return {record["conversationId"]: record for record in records}


def judgement(question: str, observed: Any = None, preferred: Any = None, **more: Any) -> Json:
    return {"questionId": question, "observedBehavior": observed, "preferredBehavior": preferred, **more}


def comparison(
    a: str = "original", b: str = "human", winner: str | None = "A", question: str = "general"
) -> Json:
    return {"questionId": question, "responseA": a, "responseB": b, "winner": winner}


def turn(
    number: int = 1,
    *,
    tags: Sequence[Tag] | None = None,
    judgements: Sequence[Json] = (),
    comparisons: Sequence[Json] = (),
    texts: tuple[str, str | None, str | None] = ("the original", "the improved", "the human"),
) -> Json:
    return {
        "turnNumber": number,
        "userMessage": "hello",
        "llmResponse": texts[0],
        "moodShiftTags": None
        if tags is None
        else [{"emotion": t.emotion, "intensity": t.intensity} for t in tags],
        "annotations": {
            "binaryJudgements": list(judgements),
            "alternateResponses": {"llmImproved": texts[1], "humanEdited": texts[2]},
            "pairwiseComparisons": list(comparisons),
        },
    }


def wide(
    q1: Sequence[str] | None = None,
    q2: str | None = None,
    q3: str | None = None,
    follow_up: Sequence[str] | None = None,
    branches: Mapping[str, int | None] | None = None,
) -> Json:
    return {
        "q1_lookingFor": q1 if q1 is None else list(q1),
        "q2_emotionClarity": q2,
        "q3_modelFit": q3,
        "q3_followUp_whatFeltOff": follow_up if follow_up is None else list(follow_up),
        "fourBranchScores": branches if branches is None else dict(branches),
    }


def panas(
    items: Mapping[str, int | None] | None = None, totals: tuple[float | None, float | None] = (None, None)
) -> Json:
    return {
        "totalPositiveAffect": totals[0],
        "totalNegativeAffect": totals[1],
        "responses": None if items is None else {name.lower(): value for name, value in items.items()},
    }


def summing(positive: float | None = None, negative: float | None = None) -> dict[str, int]:
    """Twenty (or ten) items 1–7 with those totals."""
    found: dict[str, int] = {}
    for names, total in ((POSITIVE, positive), (NEGATIVE, negative)):
        if total is not None:
            base, extra = divmod(int(total), 10)
            found |= {name: base + (i < extra) for i, name in enumerate(names)}
    return found


def conversation(
    *turns: Json, pre: Json | None = None, post: Json | None = None, questions: Json | None = None
) -> Conversation:
    return Conversation.model_validate(
        {
            "conversationId": "c1",
            "provenance": "own",
            "prePanas": pre,
            "postPanas": post,
            "conversationWideQuestions": questions,
            "turns": list(turns) or [turn()],
        }
    )


def prediction(
    *turns: TurnPrediction, reflect: Reflect | None = None, not_asked: Sequence[Stage] = ()
) -> ConversationPrediction:
    return ConversationPrediction("c1", {t.turn: t for t in turns}, reflect, frozenset(not_asked))


# --- request by request --------------------------------------------------------------------------------


def places(truth: ConversationTruth) -> Iterator[tuple[Stage, int | None]]:
    """(stage, turn) of every request of an episode."""
    for here in truth.turns:
        for stage in STAGES[:-1]:
            yield stage, here.turn
    yield "reflect", None


def answer(said: ConversationPrediction, stage: Stage, number: int | None) -> Prediction | None:
    """What a prediction holds for one request."""
    if number is None:
        return said.reflect
    here = said.turns.get(number)
    return getattr(here, stage) if here else None


def paid(
    about: Conversation, said: ConversationPrediction, spec: RewardSpec, asked: tuple[Stage, ...] = STAGES
) -> float:
    """Sum of the rewards of all requests of the plan."""
    rewards = (
        score_request(about, stage, number, answer(said, stage, number), spec, stages=asked).reward
        for stage, number in places(truth_of(about))
        if stage in asked
    )
    return float(sum(rewards))


# --- gold ------------------------------------------------------------------------------------------------


def gold(about: Conversation) -> ConversationPrediction:
    """The answers that the annotations give; what is not annotated gets some valid answer."""
    truth = truth_of(about)
    return ConversationPrediction(
        about.conversation_id, {t.turn: gold_turn(t) for t in truth.turns}, gold_reflect(truth)
    )


def gold_turn(truth: TurnTruth) -> TurnPrediction:
    anything: dict[str, YesNo] = dict.fromkeys(truth.applicable, "no")
    observed, preferred = anything | dict(truth.observed), anything | dict(truth.preferred)
    return TurnPrediction(
        truth.turn,
        Draft(truth.responses["human"] or ""),
        Assess(truth.tags or (), observed, preferred),
        AssessHP(observed, preferred),
        Prefer({i: c.winner or "A" for i, c in enumerate(truth.comparisons)}),
    )


def gold_reflect(truth: ConversationTruth) -> Reflect:
    items = {name: value if value is not None else 4 for name, value in truth.post.items()}
    for names, polarity in ((POSITIVE, "positive"), (NEGATIVE, "negative")):
        total = getattr(truth.post_totals, polarity)
        if total is not None and any(truth.post[name] is None for name in names):
            items |= summing(**{polarity: total})
    return Reflect(
        panas=items,
        q1=truth.q1 or (),
        q2=truth.q2 or Q2_OPTIONS[0],
        q3=truth.q3 or Q3_OPTIONS[0],
        q3_follow_up=truth.q3_follow_up or (),
        branches={name: truth.branches.get(name, 4) for name in BRANCHES},
    )
