"""`render`: write a typed prediction as the JSON text of a model; the inverse of `parse`."""

from __future__ import annotations

import json
from typing import Any

from attune_episodes.protocol.request import Request
from attune_episodes.protocol.schemas import PANAS_CHANGE, PANAS_ITEMS
from attune_rewards.predictions import Assess, Draft, Prediction, Prefer, Reflect


def render(request: Request, prediction: Prediction) -> str:
    """Write JSON that `parse(request, …)` reads back as the same prediction.

    Unanswered fields are left out, and so are answers to questions that the request does not ask and stated
    PANAS totals.
    """
    said = prediction
    body: dict[str, Any] = {"reasoning": said.reasoning}
    if isinstance(said, Draft):
        body["draft"] = said.text
    elif isinstance(said, Prefer):
        shown = {str(c.number): (c, said.picks.get(c.index)) for c in request.comparisons}
        body["picks"] = {number: c.to_shown(pick) for number, (c, pick) in shown.items() if pick}
    elif isinstance(said, Reflect):
        changes = request.wants_change
        body |= {
            PANAS_CHANGE if changes else PANAS_ITEMS: dict(
                (said.panas_change if changes else said.panas) or {}
            ),
            "q1_lookingFor": said.q1,
            "q2_emotionClarity": said.q2,
            "q3_modelFit": said.q3,
            "q3_followUp_whatFeltOff": said.q3_follow_up,
            "fourBranchScores": dict(said.branches),
        }
    else:
        if isinstance(said, Assess) and said.tags is not None:
            body["emotions"] = [
                {"emotion": tag.emotion} | ({} if tag.intensity is None else {"intensity": tag.intensity})
                for tag in said.tags
            ]
        if request.questions:
            for name, answers in (("observed", said.observed), ("preferred", said.preferred)):
                body[name] = {q: answers[q] for q in request.questions if q in answers}
    return json.dumps({name: value for name, value in body.items() if value is not None}, ensure_ascii=False)
