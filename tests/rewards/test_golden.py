"""The 16 golden conversations × 2 models: every published value, by the API and by the command line."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation
from attune_rewards import aggregate, read_record, score_conversation
from attune_rewards.scoring import Q1Overlap
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


def differences(want: Any, got: Any, place: str = "") -> list[str]:
    """Places where `got` lacks a value of `want` or is more than 1e-9 away from it."""
    if isinstance(want, Mapping):
        if not isinstance(got, Mapping):
            return [f"{place}: {got!r} is no object"]
        return [
            d
            for name, value in want.items()
            for d in differences(value, got.get(name, "absent"), f"{place}.{name}")
        ]
    if isinstance(want, list):
        if not isinstance(got, Sequence) or len(got) != len(want):
            return [f"{place}: {got!r} is no list of {len(want)}"]
        return [
            d
            for i, (w, g) in enumerate(zip(want, got, strict=True))
            for d in differences(w, g, f"{place}[{i}]")
        ]
    if want is None or isinstance(want, (bool, str)):
        return (
            []
            if got is want or (isinstance(want, str) and got == want)
            else [f"{place}: {got!r}, not {want!r}"]
        )
    close = (
        isinstance(got, (int, float))
        and not isinstance(got, bool)
        and math.isclose(got, want, rel_tol=0, abs_tol=1e-9)
    )
    return [] if close else [f"{place}: {got!r}, not {want!r}"]


@pytest.mark.parametrize("name", WANTED)
def test_every_value_of_a_conversation(name: str) -> None:
    assert differences(WANTED[name], scored()[name]) == []


def test_every_aggregate() -> None:
    assert differences(EXPECTED["aggregates"], aggregate(scored().values())) == []


@pytest.fixture(scope="module")
def scores_file(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """What `attune score` writes for the golden results."""
    output = tmp_path_factory.mktemp("scores") / "nested" / "scores.json"
    command = [
        str(Path(sys.executable).parent / "attune"), "score",
        "--results", str(GOLDEN / "results"),
        "--data", str(GOLDEN / "conversations"),
        "--output", str(output),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    content: Json = json.loads(output.read_text("utf-8"))
    return content


def test_the_command_writes_every_value(scores_file: Json) -> None:
    found = {key(entry): entry for entry in scores_file["conversations"]}
    assert set(found) == set(WANTED)
    assert differences(WANTED, found) == []
