"""The compact form holds all that a record does, and its checker names file, place, find and expectation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, load
from attune_data.format.validate import conversation_from, oddities
from attune_data.source.source import Source
from attune_data.written import corpus as home
from attune_data.written.compact import expand
from tests.command import read
from tests.data.builders import replaced, without, write
from tests.data.written.compressed import compressed, installed


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return installed(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def good() -> dict[str, Any]:
    return compressed(load("sample")[0], "w001")


@pytest.mark.parametrize("number", [0, 8, 13, 19])
def test_a_sample_conversation_survives_the_round(number: int) -> None:
    original = load("sample")[number]
    found = conversation_from(expand(compressed(original, original.conversation_id), "f"), "f")
    assert not list(oddities(found, "f"))
    for name in ("pre_panas", "post_panas", "conversation_wide"):
        assert getattr(found, name) == getattr(original, name)
    for one, other in zip(found.turns, original.turns, strict=True):
        assert (one.user_message, one.responses, one.mood_shift_tags) == (
            other.user_message, other.responses, other.mood_shift_tags
        )  # fmt: skip
        assert [j.observed for j in one.judgements] == [j.observed for j in other.judgements]
        assert winners(one.comparisons) == winners(other.comparisons)


def winners(comparisons: Any) -> set[tuple[str, str, str]]:
    return {
        (c.question_id, *(c.response_a, c.response_b)[:: 1 if c.winner == "A" else -1]) for c in comparisons
    }


def test_sides_are_drawn_evenly(written: Path) -> None:
    sides = [c.winner for one in load("written") for turn in one.turns for c in turn.comparisons]
    assert len(sides) == 12 * 97
    assert 0.45 < sides.count("A") / len(sides) < 0.55


@pytest.mark.parametrize(("name", "split", "count"), [
    ("written", None, 20), ("written", "dev", 2), ("written:train", None, 12), ("written:test", None, 6),
])  # fmt: skip
def test_the_corpus_loads_by_name(written: Path, name: str, split: str | None, count: int) -> None:
    found = load(name, split=split)
    assert (len(found), found.provenance, found.source) == (count, "own", name)


def test_its_parts_are_data_names(written: Path) -> None:
    assert len(Source("written:test")) == 6
    assert len(Source("written", split="dev")) == 2
    assert Source("written", number=1, training=True)[0].conversation_id == "w001"


def test_an_empty_corpus_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "CORPUS", replace(home.CORPUS, home=tmp_path / "written"))
    with pytest.raises(DataError, match="written:test: found no conversation"):
        load("written:test")


def test_a_broken_file_is_named(written: Path) -> None:
    file = written / "dev" / "w013.json"
    write(file, replaced(read(file), ("turns", 0, "felt"), "Sad 3"))
    with pytest.raises(DataError, match=r'w013.json: turns\[0\].felt: found "Sad 3", expected up to three'):
        load("written")


@pytest.mark.parametrize(("where", "value", "message"), [
    (("before",), "123", 'before: found "123", expected 20 digits 1–7'),
    (("branches",), "6780", "branches: found"),
    (("goals",), ["sort", "win"], "goals: found"),
    (("clarity",), "foggy", 'clarity: found "foggy", expected one of clear'),
    (("off",), [], "entries if the fit is mixed or off"),
    (("person", "id"), None, "person.id: found nothing, expected this field"),
    (("turns",), [], "at least one turn"),
    (("turns", 0, "message"), " ", "message: found"),
    (("turns", 0, "yes"), "1 2 37", 'yes: found "37"'),
    (("turns", 0, "yes"), "1 1", 'yes: found "1"'),
    (("turns", 0, "yes"), "505", 'yes: found "B505", expected B13 with B505'),
    (("turns", 0, "na"), "17 18", 'na: found "B5, B16, B406, B408", expected not applicable'),
    (("turns", 0, "wanted"), "4", "+ or - before each number"),
    (("turns", 0, "wanted"), "+3", 'wanted: found "B3", expected + only where'),
    (("turns", 0, "felt"), "Upset 8", "felt: found"),
    (("turns", 0, "felt"), "Upset 3, Upset 4", "felt: found"),
    (("turns", 0, "ranks"), "1 E>I>R, 2 E>I>R, 3 E>I>R, 4 E>I>R", "general, then three others"),
    (("turns", 0, "ranks"), "general E>E>R, 2 E>I>R, 3 E>I>R, 4 E>I>R", 'ranks: found "general E>E>R"'),
    (("turns", 0, "ranks"), "general E>I>R, 17 E>I>R, 3 E>I>R, 4 E>I>R", 'ranks: found "17 E>I>R"'),
])  # fmt: skip
def test_mistakes_are_named(good: dict[str, Any], where: tuple[Any, ...], value: Any, message: str) -> None:
    bad = without(good, where) if value is None else replaced(good, where, value)
    with pytest.raises(DataError) as caught:
        expand(bad, "w001.json")
    assert message in str(caught.value)
    assert str(caught.value).startswith("w001.json: ")


def test_the_edit_must_differ(good: dict[str, Any]) -> None:
    bad = replaced(good, ("turns", 0, "edit"), good["turns"][0]["reply"])
    with pytest.raises(DataError, match="three different replies"):
        expand(bad, "f")
