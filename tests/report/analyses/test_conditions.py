"""Modes, cost and training steps on scores worked by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from attune_env.report.analyses import Absent, Study
from attune_env.report.analyses.conditions import COST, LEARNING, MODES
from tests.report.analyses.made import A, B, Json, columns, entry, first, means, scored, study

COMPOSITE = "composite_score"


def test_modes_are_compared_within_conversations() -> None:
    base = columns(COMPOSITE, {A: [60.0] * 6, B: [50.0] * 6})
    other = columns(COMPOSITE, {A: [62.0] * 5, B: [65.0] * 6}, mode="verbose")
    table = first(MODES, study([*base, *other]))
    assert table.column("model") == [A, B, "all models"]
    assert means(table, "difference")[:2] == pytest.approx([0.02, 0.15])  # of 100
    assert table.column("n")[:2] == [5, 6]
    assert set(table.column("mode")) == {"verbose (not primary)"}


def test_learning_curves_follow_the_steps_of_a_run() -> None:
    def step(name: str, number: Any, value: float) -> list[Json]:
        marks = {"training": {"run": "r", "step": number}}
        return [entry(f"c{i}", name, composite_score=value, attune=marks) for i in range(6)]

    table = first(LEARNING, study([*step("x/late", 20, 70), *step("x/early", 3, 50), *step("x/no", "7", 0)]))
    assert table.column("step") == [3, 20]
    assert table.column("model") == ["x/early", "x/late"]
    assert means(table, "gain") == [None, 20.0]


@pytest.mark.parametrize("reading", ["canonical", "strict"])
def test_learning_curves_are_drawn_in_either_variant(reading: str) -> None:
    entries = [
        entry(f"c{i}", f"x/{step}", composite_score=50.0, composite_strict=40.0,
              attune={"training": {"run": "r", "step": step}})
        for step in (1, 2)
        for i in range(6)
    ]  # fmt: skip
    (draw,) = LEARNING.run(Study(scored(entries, reading))).draws.values()
    assert draw().axes[0].lines


def result_of(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Of which result an entry of a scores file is."""
    return {name: scores[name] for name in ("conversationId", "em_model", "mode")}


def test_costs_are_those_of_the_result_files(tmp_path: Path) -> None:
    made = study(columns(COMPOSITE, {A: [60.0] * 5, B: [50.0] * 5}), results=tmp_path)
    for scores in made.entries[:-1]:  # the last result is not there
        usage = {"calls": 4, "tokens_in": 100, "tokens_out": 10, "api_cost": 0.0}
        cost = 0.5 if scores["em_model"] == A else 0.0
        record = result_of(scores) | {"api_cost": cost, "attune": {"usage": usage}}
        (tmp_path / scores["source_result"]).write_text(json.dumps(record))
    table = first(COST, made)
    assert means(table, "cost") == [0.5, None]  # nothing recorded is not free
    assert table.column("cost_in_all") == [2.5, None]
    assert means(table, "calls") == [4, 4]
    assert table.column("n") == [5, 4]


@pytest.mark.parametrize(("content", "reason"), [
    ("[]", "none of the scored"), ('{"api_cost": 3}', "none of"), ("nonsense", "none of the scored"),
    ({}, "neither calls nor costs"), ({"attune": 3}, "neither"), ({"api_cost": "much"}, "neither"),
    ({"api_cost": -1}, "neither"),
])  # fmt: skip
def test_files_that_say_nothing_of_costs_are_no_error(tmp_path: Path, content: Any, reason: str) -> None:
    made = study(columns(COMPOSITE, {A: [60.0]}), people=[], results=tmp_path)
    text = content if isinstance(content, str) else json.dumps(result_of(made.entries[0]) | content)
    (tmp_path / made.entries[0]["source_result"]).write_text(text)
    with pytest.raises(Absent, match=reason):
        COST.run(made)
