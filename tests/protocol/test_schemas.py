"""The JSON schemas of the answers: what servers get for structured output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from attune_data import Conversation, load
from attune_episodes import MODES, Request, Settings, plan, render
from attune_episodes.policies.oracle import OraclePolicy
from attune_episodes.protocol.settings import PANAS_STRATEGIES, Mode, PanasStrategy
from tests.play.builders import (
    EVERY_SETTING,
    Json,
    conversation,
    judgements,
    request_of,
    setting_id,
    turn,
)

HOLES = conversation(turn(1), turn(2, binary=[]), turn(3, pairs=[]), turn(4, binary=judgements()[-2:]))


def reply_to(request: Request, about: Conversation) -> Any:
    """The oracle's answer as JSON, with reasoning where it is asked for."""
    said = OraclePolicy().for_conversation(about).prediction(request)
    return json.loads(render(request, replace(said, reasoning="why") if request.verbose else said))


def objects_in(schema: object) -> Iterator[Json]:
    """Every object schema, however deep."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for child in schema.values():
            yield from objects_in(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from objects_in(child)


def check(request: Request, value: object) -> None:
    """Raises ValidationError where the value is no answer by the request's schema."""
    jsonschema.Draft202012Validator(request.schema).validate(value)


def valid(request: Request, value: object) -> bool:
    return jsonschema.Draft202012Validator(request.schema).is_valid(value)


@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
@pytest.mark.parametrize("mode", MODES)
def test_the_oracle_answers_by_the_schema(mode: Mode, strategy: PanasStrategy) -> None:
    for about in (*load("sample")[:3], conversation()):
        for request in plan(about, Settings(mode=mode, panas_strategy=strategy)):
            check(request, reply_to(request, about))


@pytest.mark.parametrize("settings", EVERY_SETTING, ids=setting_id)
def test_schemas_are_plain_json_and_strict(settings: Settings) -> None:
    for request in plan(HOLES, settings):
        assert json.loads(json.dumps(request.schema)) == request.schema
        names = list(request.schema["properties"])
        assert (names[0] == "reasoning") is ("reasoning" in names) is settings.verbose  # asked first
        for found in objects_in(request.schema):
            assert found["additionalProperties"] is False
            assert found["required"] == list(found["properties"]) != []


def test_the_fields_of_each_stage() -> None:
    fields = {request.stage: set(request.schema["properties"]) for request in plan(conversation())}
    questions = {"q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff"}
    assert fields == {
        "draft": {"draft"},
        "assess": {"emotions", "observed", "preferred"},
        "assess_hp": {"observed", "preferred"},
        "prefer": {"picks"},
        "reflect": {"post_panas", "fourBranchScores", *questions},
    }
    assert set(request_of("assess", of=conversation(turn(1, binary=[]))).schema["properties"]) == {"emotions"}
    change = request_of("reflect", Settings(panas_strategy="blind_delta")).schema["properties"]
    assert set(change) == {"panas_change", "fourBranchScores", *questions}


def test_answers_that_parse_would_not_read_are_refused() -> None:
    about = conversation()
    for stage, path, wrong in (
        ("assess", ("observed", "B1"), "na"),
        ("assess", ("observed", "B1"), True),
        ("assess", ("emotions", 0, "emotion"), "Wistful"),
        ("assess", ("emotions", 0, "intensity"), 8),
        ("assess", ("emotions",), None),
        ("assess", ("emotions",), 21 * [{"emotion": "Proud", "intensity": 1}]),  # more than there are
        ("prefer", ("picks", "1"), "C"),
        ("prefer", ("picks", "13"), "A"),
        ("reflect", ("post_panas", "Proud"), 0),
        ("reflect", ("post_panas", "Proud"), 4.5),
        ("reflect", ("fourBranchScores", "managing"), 8),
        ("reflect", ("q2_emotionClarity",), "no such option"),
        ("draft", ("more",), "x"),
    ):
        request = next(r for r in plan(about) if r.stage == stage)
        value = reply_to(request, about)
        assert valid(request, value)
        inner = value
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = wrong
        assert not valid(request, value), path
