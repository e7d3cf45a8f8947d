"""Merging two sets: order, marks, files, and no id twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import Conversations, load
from tests.data.builders import conversation, folder, only_problem, problems_of, record


def a_set(*names: str, mark: str = "own", source: str = "memory") -> Conversations:
    return Conversations([conversation(conversationId=n, provenance=mark) for n in names], source=source)


def test_a_merge_keeps_order_and_marks() -> None:
    both = a_set("b", "a", source="one") + a_set("c", mark="simulated", source="two")
    assert [(c.conversation_id, c.origin) for c in both] == [("b", "own"), ("a", "own"), ("c", "simulated")]
    assert (both.source, both.provenance) == ("one + two", "imported")
    assert list(both.by_id) == ["b", "a", "c"]


@pytest.mark.parametrize("mark", [None, "benchmark"])
def test_a_merge_with_one_benchmark_record_is_benchmark(mark: str | None) -> None:
    bad = Conversations([conversation(conversationId="x", provenance=mark)])
    assert (a_set("a") + bad).provenance == (bad + a_set("a")).provenance == "benchmark"
    assert (a_set("a") + bad)[:1].provenance == "own"


def test_a_merge_knows_the_files_of_both(tmp_path: Path) -> None:
    one = load(folder(tmp_path / "one", {1: record(conversationId="a"), 2: record(conversationId="b")}))
    two = load(folder(tmp_path / "two", {1: record(conversationId="b")}))
    both = one[:1] + two  # the slice no longer holds "b", so its file of that name is not meant
    assert both.files == {
        k: str(tmp_path / f / "conversation_1.json") for k, f in (("a", "one"), ("b", "two"))
    }


def test_an_id_in_both_is_refused_with_both_places(tmp_path: Path) -> None:
    one = load(folder(tmp_path / "one", {1: record(conversationId="a"), 2: record(conversationId="b")}))
    two = load(folder(tmp_path / "two", {7: record(conversationId="b")}))
    problem = only_problem(lambda: one + two)
    assert problem.file == str(tmp_path / "two" / "conversation_7.json")
    assert problem.found == f'"b", which {tmp_path / "one" / "conversation_2.json"} has too'
    assert len(problems_of(lambda: one + one)) == 2
