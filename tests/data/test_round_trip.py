"""What is read is written back: unknown fields, equality, and the fingerprint of the content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attune_data import Conversation, fingerprint
from attune_data.validate import conversation_from
from tests.data.builders import Place, conversation, record, replaced


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


def test_a_record_is_written_back_as_it_was() -> None:
    value = record(provenance="simulated")
    assert read(value).to_record() == value
    assert list(read(value).to_record())[:2] == ["conversationId", "provenance"]


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


def test_a_mark_is_part_of_the_fingerprint() -> None:
    plain = conversation()
    assert fingerprint(plain.marked("benchmark")) == fingerprint(plain)  # unmarked counts as benchmark
    assert fingerprint(plain.marked("own")) != fingerprint(plain)
