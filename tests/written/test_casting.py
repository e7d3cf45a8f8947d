"""The plan of the corpus comes out of its seed, keeps its parts apart and deals what the gates count."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from attune_data.simulate.draws import Draws
from attune_data.written.compact import OFF
from tests.written.casting import EVENTS, PARTS, PLAN, cast, dealt, text


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PLAN.read_text(encoding="utf-8").splitlines()]


def test_the_committed_plan_comes_out_of_the_seed() -> None:
    assert text(cast()) == PLAN.read_text(encoding="utf-8")


def test_shares_are_dealt_exactly() -> None:
    # 10 × (½, 3/10, 2/10); of 3 × (½, ½) one gets the third
    assert Counter(dealt(Draws(1), {"a": 5, "b": 3, "c": 2}, 10)) == {"a": 5, "b": 3, "c": 2}
    assert sorted(Counter(dealt(Draws(1), {"a": 1, "b": 1}, 3)).values()) == [1, 2]


def test_no_person_topic_or_prop_is_in_two_parts(rows: list[dict[str, Any]]) -> None:
    for key in (lambda row: row["person"]["id"], lambda row: (row["category"], row["subtopic"])):
        parts: dict[Any, set[str]] = {}
        for row in rows:
            parts.setdefault(key(row), set()).add(row["part"])
        assert all(len(those) == 1 for those in parts.values())
    assert len({row["prop"] for row in rows}) == len({row["id"] for row in rows}) == len(rows) == 364
    assert Counter(row["part"] for row in rows) == {part: 13 * each for part, (_, each) in PARTS.items()}


def test_a_batch_is_of_one_part_and_holds_both_of_a_person(rows: list[dict[str, Any]]) -> None:
    batches = Counter(row["batch"] for row in rows)
    homes: dict[str, str] = {}
    assert set(batches.values()) <= {4, 5}
    for row in rows:
        assert row["batch"].startswith(row["part"])
        assert homes.setdefault(row["person"]["id"], row["batch"]) == row["batch"]


def test_the_plan_has_what_the_gates_count(rows: list[dict[str, Any]]) -> None:
    kept = 0.9  # an editor drops one in ten
    turns = [turn for row in rows for turn in row["turns"]]
    assert kept * len(turns) > 1500
    assert 0.3 < sum(turn["shift"] == "none" for turn in turns) / len(turns) < 0.5
    tagged = [turn["tags"] for turn in turns if turn["tags"]]
    assert 1.2 < sum(tagged) / len(tagged) < 1.8
    assert sum(row["fit"] in ("mixed", "off") for row in rows) > len(rows) / 3
    assert kept * sum(row["risk"] for row in rows) >= 10
    for counts in (
        Counter(row["category"] for row in rows), Counter(goal for row in rows for goal in row["goals"]),
        Counter(row["clarity"] for row in rows), Counter(row["fit"] for row in rows),
        Counter(dict.fromkeys(OFF, 0)) + Counter(o for row in rows for o in row["off"]),
    ):  # fmt: skip
        assert kept * min(counts.values()) >= 8
    events = (turn["reply"] for row in rows if row["part"] == "test" for turn in row["turns"])
    test = Counter(event.split()[0] for event in events if event)
    assert all(kept * test[name] >= 10 for name in ("B310", "B315", "B408", "B20", "B311"))
    assert {turn["reply"] for turn in turns} >= set(EVENTS)
