"""`render` writes what `parse` reads back: for every stage, any valid prediction, reasoning too."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import load
from attune_data.affect import EMOTIONS
from attune_episodes import MODES, Request, Settings, parse, plan, render
from attune_episodes.policies.oracle import OraclePolicy
from attune_episodes.settings import PANAS_STRATEGIES, Mode, PanasStrategy
from attune_rewards import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag
from tests.episodes.builders import ASKED, UNICODE, predictions, request_of

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


@pytest.mark.parametrize("name", REQUESTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_parse_reads_back_what_render_writes(name: str, data: st.DataObject) -> None:
    request = REQUESTS[name]
    said = data.draw(predictions(request))
    assert parse(request, render(request, said)) == said


@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
@pytest.mark.parametrize("mode", MODES)
def test_the_oracle_is_read_back_whole(mode: Mode, strategy: PanasStrategy) -> None:
    for about in load("sample")[:5]:
        oracle = OraclePolicy().for_conversation(about)
        for request in plan(about, Settings(mode=mode, panas_strategy=strategy)):
            assert parse(request, oracle.reply(request)) == oracle.prediction(request)


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


def test_reasoning_comes_first() -> None:
    for name, said in (("draft", Draft("x", "why")), ("prefer", Prefer({}, "why"))):
        assert next(iter(written(REQUESTS[name], said))) == "reasoning"


@pytest.mark.parametrize("seed", range(6))
def test_picks_are_written_under_the_numbers_and_sides_of_the_prompt(seed: int) -> None:
    request = request_of("prefer", Settings(seed=seed))
    for c in request.comparisons:
        # the conversation's side A is the prompt's side B where the sides are swapped
        want = {str(c.number): "B" if c.swapped else "A"}
        assert written(request, Prefer({c.index: "A"})) == {"picks": want}
    assert any(c.swapped for c in request.comparisons)


def test_only_what_the_request_asks_is_written() -> None:
    assess = written(REQUESTS["assess_hp"], AssessHP({"B1": "yes", "B6": "yes", "B20": "no"}, {"B7": "no"}))
    assert assess == {"observed": {"B1": "yes"}, "preferred": {}}
    assert written(REQUESTS["prefer"], Prefer({99: "A"})) == {"picks": {}}
    items, changes = dict.fromkeys(EMOTIONS, 4), dict.fromkeys(EMOTIONS, 0)
    both = Reflect(items, panas_change=changes, panas_totals=(40.0, 40.0))
    assert written(REQUESTS["reflect"], both) == {"post_panas": items, "fourBranchScores": {}}
    assert written(REQUESTS["reflect on changes"], both) == {"panas_change": changes, "fourBranchScores": {}}


def test_text_is_not_escaped() -> None:
    assert UNICODE in render(REQUESTS["draft"], Draft(UNICODE))


@pytest.mark.parametrize(
    ("word", "name"), list(product(["<think>", "</think>", "<thinking>so</thinking>"], ["draft", "assess"]))
)
def test_reasoning_tags_inside_a_string_are_text(word: str, name: str) -> None:
    text = f"a {word} b"
    said = Draft(text, text) if name == "draft" else Assess((), dict.fromkeys(ASKED, "yes"), {}, text)
    assert parse(REQUESTS[name], render(REQUESTS[name], said)) == said
