"""`render` writes what `parse` reads back: for every stage, any valid prediction, reasoning too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_episodes import Request, Settings, parse, render
from attune_rewards import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag
from tests.play.builders import UNICODE, predictions, request_of

REQUESTS = {
    "draft": request_of("draft"),
    "assess": request_of("assess"),
    "assess_hp": request_of("assess_hp"),
    "prefer": request_of("prefer"),
    "reflect": request_of("reflect"),
    "reflect on changes": request_of("reflect", Settings(panas_strategy="delta")),
}


def written(request: Request, prediction: Prediction) -> Any:
    return json.loads(render(request, prediction))


@pytest.mark.slow
@pytest.mark.parametrize("name", REQUESTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_parse_reads_back_what_render_writes(name: str, data: st.DataObject) -> None:
    request = REQUESTS[name]
    said = data.draw(predictions(request))
    assert parse(request, render(request, said)) == said


@pytest.mark.parametrize(
    ("name", "said", "want"),
    [
        ("draft", Draft("Oh no."), {"draft": "Oh no."}),
        ("draft", Draft(UNICODE, "why"), {"reasoning": "why", "draft": UNICODE}),
        ("assess", Assess(), {"observed": {}, "preferred": {}}),
        ("assess", Assess(tags=()), {"emotions": [], "observed": {}, "preferred": {}}),
        (
            "assess",
            Assess((Tag("Proud", 3), Tag("Wistful")), {"B1": "yes"}, {"B2": "no"}, "why"),
            {
                "reasoning": "why",
                "emotions": [{"emotion": "Proud", "intensity": 3}, {"emotion": "Wistful"}],
                "observed": {"B1": "yes"},
                "preferred": {"B2": "no"},
            },
        ),
        ("assess_hp", AssessHP({"B1": "no"}, {}), {"observed": {"B1": "no"}, "preferred": {}}),
        ("prefer", Prefer(), {"picks": {}}),
        ("reflect", Reflect(), {"post_panas": {}, "fourBranchScores": {}}),
        ("reflect on changes", Reflect(), {"panas_change": {}, "fourBranchScores": {}}),
        (
            "reflect",
            Reflect(
                {"Proud": 7}, q1=(), q2="Other", q3="Fine", q3_follow_up=("x",), branches={"managing": 2}
            ),
            {
                "post_panas": {"Proud": 7},
                "q1_lookingFor": [],
                "q2_emotionClarity": "Other",
                "q3_modelFit": "Fine",
                "q3_followUp_whatFeltOff": ["x"],
                "fourBranchScores": {"managing": 2},
            },
        ),
    ],
)
def test_unanswered_fields_are_left_out(name: str, said: Prediction, want: dict[str, object]) -> None:
    assert written(REQUESTS[name], said) == want
