"""Played conversations become the corpus, part by part, and the test part is locked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from attune_data import load
from attune_data.jsonio import read_json
from attune_data.source.corpora import corpus
from attune_data.written import corpus as declared
from attune_episodes.people.cards import read_plan
from tools.written import lock, take


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Takes a folder of three conversations, of which one is left out."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for number, part in enumerate(("train", "test", "train"), 1):
        record = load("sample")[number].to_record() | {
            "conversationId": f"p-{number}",
            "played": {"part": part},
        }
        (folder / f"conversation_{number}.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "plan.jsonl").write_text("{}\n")
    monkeypatch.setattr(declared, "CORPUS", replace(declared.CORPUS, home=tmp_path / "written"))
    monkeypatch.setattr(take, "PLAN", tmp_path / "plan.jsonl")
    monkeypatch.setattr(take, "LEFT_OUT", tmp_path / "left_out.json")
    monkeypatch.setattr(lock, "LOCK", tmp_path / "locked.json")
    (tmp_path / "left_out.json").write_text('{"p-3": "two people speak"}')
    return lambda: take.take(folder)


def test_each_conversation_goes_to_its_part_and_keeps_all_but_the_name_of_its_model(
    taken: Callable[[], int],
) -> None:
    assert taken() == 2
    assert [one.conversation_id for one in load("written:train")] == ["p-1"]
    (kept,) = load("written:test")
    whole = load("sample")[2].to_record()
    assert kept.to_record()["turns"] == whole["turns"]
    assert corpus("written").keeps(kept)
    assert taken() == 2  # again: nothing is left of before


def test_a_changed_letter_changes_the_digest_and_a_correction_is_listed(taken: Callable[[], int]) -> None:
    taken()
    lock.main()
    before = read_json(lock.LOCK)
    assert before["conversations"] == 1
    with pytest.raises(SystemExit, match="give the correction"):
        lock.main()
    file = lock.files()[0]
    file.write_bytes(file.read_bytes().replace(b"?", b"!", 1))
    assert lock.digest() != before["sha256"]
    lock.main("p-2 turn 1: a question mark")
    after = read_json(lock.LOCK)
    assert after["sha256"] == lock.digest()
    assert after["corrections"] == ["p-2 turn 1: a question mark"]


def test_the_test_part_is_the_locked_one() -> None:
    locked = read_json(lock.LOCK)
    assert (locked["conversations"], locked["sha256"]) == (len(lock.files()), lock.digest())


def test_no_person_topic_or_circumstance_is_in_two_parts_and_every_conversation_is_of_the_plan() -> None:
    cards = {card.id: card for card in read_plan(take.PLAN)}
    left_out = read_json(take.LEFT_OUT)
    parts = {split: load(f"written:{split}") for split in corpus("written").splits}
    assert {name: cards[name].part for name in cards if name not in left_out} == {
        one.conversation_id: part for part, those in parts.items() for one in those
    }
    for about in (
        lambda card: card.person["id"],
        lambda card: (card.category, card.subtopic),
        lambda card: card.circumstance,
    ):
        where = {(about(card), card.part) for card in cards.values()}
        assert len({what for what, _ in where}) == len(where)
