"""What is read is written back: unknown fields, equality, and the fingerprint of the content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attune_data import Conversation, fingerprint
from attune_data.validate import conversation_from
from tests.data.builders import Place, conversation, places, record, replaced, turn


def read(value: Any) -> Conversation:
    return conversation_from(value, "f.json")


EXTRAS: tuple[Place, ...] = (
    ("note",), ("metadata", "note"), ("participant_profile", "note"),
    ("participant_profile", "demographics", "note"), ("prePanas", "note"), ("prePanas", "responses", "bored"),
    ("conversationWideQuestions", "note"), ("conversationWideQuestions", "fourBranchScores", "note"),
    ("turns", 0, "note"), ("turns", 0, "moodShiftTags", 0, "note"), ("turns", 0, "annotations", "note"),
    ("turns", 0, "annotations", "binaryJudgements", 0, "note"),
    ("turns", 0, "annotations", "alternateResponses", "note"),
    ("turns", 0, "annotations", "pairwiseComparisons", 0, "note"),
)  # fmt: skip


@pytest.mark.parametrize("place", EXTRAS)
def test_an_unknown_field_survives_reading_and_writing(place: Place) -> None:
    rated = place[-2:] in (("responses", "bored"), ("fourBranchScores", "note"))
    extra: Any = 3 if rated else {"who": ["naïve 😀", None, 1.5, {"deep": True}], "שלום": []}
    value = replaced(record(provenance="own"), place, extra)
    assert read(value).to_record() == value


@pytest.mark.parametrize("name", ["to_record", "origin", "turn", "memo", "model_config", "__class__"])
def test_an_unknown_field_may_be_called_like_something_in_python(name: str) -> None:
    found = read(record(provenance="own", **{name: "x"}))
    assert found.to_record()[name] == "x"
    assert found.origin == "own"


def test_a_record_is_written_back_as_it_was() -> None:
    value = record(provenance="simulated")
    assert read(value).to_record() == value
    assert list(read(value).to_record())[:2] == ["conversationId", "provenance"]


def test_reading_what_was_written_gives_an_equal_conversation() -> None:
    first = conversation(provenance="own")
    again = read(json.loads(json.dumps(first.to_record(), ensure_ascii=False)))
    assert again == first
    assert fingerprint(again) == fingerprint(first)


def test_equality_looks_at_the_record_and_not_at_what_was_memoised() -> None:
    first, second = conversation(), conversation()
    first.memo["plan"] = object()
    assert first == second


def backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(child) for child in value] if isinstance(value, list) else value


def test_key_order_and_layout_do_not_change_the_fingerprint() -> None:
    want = fingerprint(conversation())
    for text in (json.dumps(backwards(record())), json.dumps(record(), indent=3, ensure_ascii=False)):
        assert fingerprint(read(json.loads(text))) == want


TEXTS: list[Place] = [
    place for place in places(record())
    if place[-1] in {"userMessage", "llmResponse", "llmImproved", "humanEdited", "conversationId", "country",
                     "subtopic", "conversation_topic_attitude"}
]  # fmt: skip


@pytest.mark.parametrize("place", TEXTS, ids=str)
def test_a_changed_word_changes_the_fingerprint(place: Place) -> None:
    changed = fingerprint(read(replaced(record(), place, "another wörd")))
    assert changed != fingerprint(conversation())


def test_a_mark_is_part_of_the_fingerprint() -> None:
    plain = conversation()
    assert fingerprint(plain.marked("benchmark")) == fingerprint(plain)  # unmarked counts as benchmark
    assert fingerprint(plain.marked("own")) != fingerprint(plain)


@pytest.mark.parametrize("text", ["", " ", "é😀\u200f\u2028", "שלום עולם", "x" * 200_000, "\u0000\t"])
def test_texts_are_kept_letter_by_letter(text: str) -> None:
    found = read(record(turns=[turn(userMessage=text)]))
    assert found.turns[0].user_message == text
    assert read(json.loads(json.dumps(found.to_record()))).turns[0].user_message == text
