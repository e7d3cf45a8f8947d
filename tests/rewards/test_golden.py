"""The 16 golden conversations × 2 models: every published value, by the API and by the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation
from attune_rewards import aggregate, read_record, score_conversation
from attune_rewards.metrics.scoring import Q1Overlap
from tests.command import attune_here
from tests.rewards.builders import GOLDEN, Json, golden_records

EXPECTED: Json = json.loads((GOLDEN / "expected.json").read_text("utf-8"))
RESULTS: list[Json] = [
    json.loads(path.read_text("utf-8")) for path in sorted((GOLDEN / "results").glob("*.json"))
]


def key(entry: Mapping[str, Any]) -> str:
    return f"{entry['conversationId']} {entry['em_model']}"


WANTED = {key(entry): entry for entry in EXPECTED["conversations"]}


@cache
def scored(q1_overlap: Q1Overlap = "jaccard") -> dict[str, Json]:
    """Key -> every score of one golden result, through the Python API."""
    records = golden_records()
    table = {}
    for result in RESULTS:
        about = Conversation.model_validate(records[result["conversationId"]])
        said, _ = read_record(result, about)
        head = {name: result[name] for name in ("conversationId", "em_model", "mode")}
        table[key(result)] = head | score_conversation(about, said, q1_overlap=q1_overlap)
    return table


def leaves(value: Any, place: str = "") -> dict[str, Any]:
    """Place -> value of everything that is no object and no list; lists with their length."""
    if isinstance(value, Mapping):
        inner = list(value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = [*enumerate(value), ("length", len(value))]
    else:
        return {place: value}
    return {at: leaf for key, child in inner for at, leaf in leaves(child, f"{place}.{key}").items()}


def differences(want: Any, got: Any) -> list[str]:
    """Places where `got` lacks a value of `want` or is more than 1e-9 away from it."""
    there, found = leaves(got), []
    for place, value in leaves(want).items():
        other = there.get(place, "absent")
        if type(value) in (int, float) and type(other) in (int, float):
            same = math.isclose(value, other, rel_tol=0, abs_tol=1e-9)
        else:
            same = (value, type(value)) == (other, type(other))
        found += [] if same else [f"{place}: {other!r}, not {value!r}"]
    return found


@pytest.mark.parametrize("name", WANTED)
def test_every_value_of_a_conversation(name: str) -> None:
    assert differences(WANTED[name], scored()[name]) == []


def test_every_aggregate() -> None:
    assert differences(EXPECTED["aggregates"], aggregate(scored().values())) == []


def test_the_command_writes_every_value(tmp_path: Path) -> None:
    told = ("--results", GOLDEN / "results", "--data", GOLDEN / "conversations")
    attune_here(["score", *told, "--output", "nested/scores.json"], tmp_path)
    content: Json = json.loads((tmp_path / "nested" / "scores.json").read_text("utf-8"))
    found = {key(entry): entry for entry in content["conversations"]}
    assert set(found) == set(WANTED)
    assert differences(WANTED, found) == []
