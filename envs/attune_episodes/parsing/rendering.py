"""`render`: a typed prediction as the JSON text that a model would write; the inverse of `parse`."""

from __future__ import annotations

import json
from typing import Any

from attune_episodes.answers import PANAS_CHANGE, PANAS_ITEMS
from attune_episodes.request import Request
from attune_rewards.predictions import Assess, AssessHP, Draft, Prediction, Prefer, Reflect


def render(request: Request, prediction: Prediction) -> str:
    """JSON that `parse(request, …)` reads back as the same prediction.

    Unanswered fields are left out. Two things are the request's own and not carried: answers to
    questions that it does not ask, and stated PANAS totals.
    """
    body: dict[str, Any] = {}
    if prediction.reasoning is not None:
        body["reasoning"] = prediction.reasoning
    if isinstance(prediction, Draft):
        body["draft"] = prediction.text
    elif isinstance(prediction, (Assess, AssessHP)):
        if isinstance(prediction, Assess) and prediction.tags is not None:
            body["emotions"] = [
                {"emotion": tag.emotion}
                if tag.intensity is None
                else {"emotion": tag.emotion, "intensity": tag.intensity}
                for tag in prediction.tags
            ]
        if request.questions:
            body |= _both(request, prediction)
    elif isinstance(prediction, Prefer):
        body["picks"] = {
            str(c.number): c.to_shown(prediction.picks[c.index])
            for c in request.comparisons
            if c.index in prediction.picks
        }
    else:
        body |= _reflect(request, prediction)
    return json.dumps(body, ensure_ascii=False)


def _both(request: Request, said: Assess | AssessHP) -> dict[str, Any]:
    return {
        "observed": {q: a for q in request.questions if (a := said.observed.get(q))},
        "preferred": {q: a for q in request.questions if (a := said.preferred.get(q))},
    }


def _reflect(request: Request, said: Reflect) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if request.wants_change:
        body[PANAS_CHANGE] = dict(said.panas_change or {})
    else:
        body[PANAS_ITEMS] = dict(said.panas)
    if said.q1 is not None:
        body["q1_lookingFor"] = list(said.q1)
    if said.q2 is not None:
        body["q2_emotionClarity"] = said.q2
    if said.q3 is not None:
        body["q3_modelFit"] = said.q3
    if said.q3_follow_up is not None:
        body["q3_followUp_whatFeltOff"] = list(said.q3_follow_up)
    body["fourBranchScores"] = dict(said.branches)
    return body
