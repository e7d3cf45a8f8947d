"""What a record means once read, and that it is written back as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attune_data import Conversation, fingerprint
from attune_data.format.affect import Polarity
from attune_data.format.schema import BinaryJudgement, Panas
from attune_data.format.validate import conversation_from
from tests.data.builders import (
    NEGATIVE_ITEMS,
    Place,
    comparison,
    conversation,
    judgement,
    panas,
    record,
    replaced,
    turn,
    with_annotations,
    without,
)


def read(value: Any) -> Conversation:
    return conversation_from(value, "f.json")


def judged(observed: Any, preferred: Any, llm: Any) -> BinaryJudgement:
    one = judgement("B1", observed, preferred, llmValue=llm)
    return read(with_annotations(binaryJudgements=[one])).turns[0].judgements[0]


# absent, null and empty


@pytest.mark.parametrize(("given", "want"), [("absent", None), (None, None), ([], ())])
@pytest.mark.parametrize("place", [
    ("turns", 0, "moodShiftTags"), ("conversationWideQuestions", "q3_followUp_whatFeltOff"),
])  # fmt: skip
def test_absent_and_null_differ_from_an_empty_list(place: Place, given: Any, want: object) -> None:
    found = read(without(record(), place) if given == "absent" else replaced(record(), place, given))
    assert found.conversation_wide is not None
    here = found.turns[0].mood_shift_tags if place[0] == "turns" else found.conversation_wide.q3_follow_up
    assert here == want


def test_a_comparison_may_have_no_winner() -> None:
    pairs = [comparison(winner=None), without(comparison(), ("winner",))]
    found = read(with_annotations(pairwiseComparisons=pairs)).turns[0]
    assert [one.winner for one in found.comparisons] == [None, None]


# truths


@pytest.mark.parametrize(("observed", "preferred", "llm", "done", "wanted", "asked"), [
    # observed: the HP's own label, na too, else the model's; preferred: the HP's, else what was observed, a
    # model's label says nothing about it; asked unless it was answered na
    (None, None, None, None, None, True),
    ("yes", "no", None, "yes", "no", True), ("yes", "na", None, "yes", "na", True),
    ("na", "no", None, "na", "no", True), ("no", "yes", "yes", "no", "yes", True),
    ("yes", None, None, "yes", "yes", True), ("no", None, "yes", "no", "no", True),
    (None, "no", None, None, "no", True), (None, None, "yes", "yes", None, True),
    (None, "na", "no", "no", "na", True), ("na", "na", None, "na", "na", False),
    ("na", None, None, "na", "na", False), (None, "na", None, None, "na", False),
    (None, None, "na", "na", None, False), ("na", "na", "yes", "na", "na", False),
])  # fmt: skip
def test_truths_of_a_judgement_and_whether_it_is_asked(
    observed: Any, preferred: Any, llm: Any, done: Any, wanted: Any, asked: bool
) -> None:
    found = judged(observed, preferred, llm)
    assert (found.observed_truth, found.preferred_truth, found.applicable) == (done, wanted, asked)


# PANAS

POSITIVE_ITEMS = tuple(name for name in panas()["responses"] if name not in NEGATIVE_ITEMS)


def sheet(value: Any) -> Panas:
    found = read(record(prePanas=value)).pre_panas
    assert found is not None
    return found


@pytest.mark.parametrize(("polarity", "want"), [("positive", 30.0), ("negative", 20.0)])
def test_ten_known_items_win_over_the_stored_total(polarity: Polarity, want: float) -> None:
    # ten items of 3 and ten of 2: 30 and 20, whatever the file says
    for stored in ({}, dict.fromkeys(("totalPositiveAffect", "totalNegativeAffect"), 70)):
        assert sheet(panas(3, 2, **stored)).total(polarity) == want
    assert sheet(panas(3, 2, totalPositiveAffect=None, totalNegativeAffect=None)).total(polarity) == want


@pytest.mark.parametrize("responses", [
    None, {}, dict.fromkeys(POSITIVE_ITEMS), {"bored": 3}, dict.fromkeys(NEGATIVE_ITEMS, 7),
])  # fmt: skip
def test_the_stored_total_holds_where_no_item_is_known(responses: object) -> None:
    assert sheet({"totalPositiveAffect": 41, "responses": responses}).total("positive") == 41
    assert sheet({"responses": responses}).total("positive") is None


@pytest.mark.parametrize("known", [1, 5, 9])
def test_some_items_known_leave_the_total_unknown(known: int) -> None:
    some = dict.fromkeys(POSITIVE_ITEMS[:known], 4)
    for responses in (some, dict.fromkeys(POSITIVE_ITEMS) | some):  # absent, and null
        assert sheet({"totalPositiveAffect": 41, "responses": responses}).total("positive") is None


# the whole


def test_turns_stand_in_the_order_of_their_numbers() -> None:
    found = read(record(turns=[turn(10), turn(2), turn(1, moodShiftTags=None)]))
    assert [one.turn_number for one in found.turns] == [1, 2, 10]
    assert (found.turn(2), found.turn(3)) == (found.turns[1], None)


def test_the_participant_is_the_profiles_id_else_the_conversation() -> None:
    assert conversation().participant == "A00001"
    for profile in (None, {}, {"participant_id": None}, {"participant_id": ""}):
        assert conversation(participant_profile=profile).participant == "c-1"


@pytest.mark.parametrize("place", [
    (), ("note",), ("metadata", "note"), ("participant_profile", "note"),
    ("participant_profile", "demographics", "note"), ("prePanas", "note"), ("prePanas", "responses", "bored"),
    ("conversationWideQuestions", "note"), ("conversationWideQuestions", "fourBranchScores", "note"),
    ("turns", 0, "note"), ("turns", 0, "moodShiftTags", 0, "note"), ("turns", 0, "annotations", "note"),
    ("turns", 0, "annotations", "binaryJudgements", 0, "note"),
    ("turns", 0, "annotations", "alternateResponses", "note"),
    ("turns", 0, "annotations", "pairwiseComparisons", 0, "note"),
])  # fmt: skip
def test_a_record_is_written_back_as_it_was_with_its_unknown_fields(place: Place) -> None:
    rated = place[-2:] in (("responses", "bored"), ("fourBranchScores", "note"))
    extra: Any = 3 if rated else {"who": ["naïve 😀", None, 1.5, {"deep": True}], "שלום": []}
    value = record(provenance="own")
    value = replaced(value, place, extra) if place else value
    assert read(value).to_record() == value
    assert list(read(value).to_record())[:2] == ["conversationId", "provenance"]


def test_equal_annotations_are_one_object_as_far_as_their_fields_and_unknown_ones_agree() -> None:
    said = [judgement("B1", "yes", None), judgement("B1", True, None), judgement("B1", "yes", None, note=1)]
    said.append({"questionId": "B1", "observedBehavior": "yes"})  # absent is written back as absent
    first, spelled, noted, short = read(with_annotations(binaryJudgements=said)).turns[0].judgements
    assert first is spelled
    assert len({id(first), id(noted), id(short)}) == 3
    assert first == short
    assert first is read(with_annotations(binaryJudgements=said)).turns[0].judgements[0]


def test_the_fingerprint_is_of_content_and_mark_whatever_the_layout() -> None:
    plain = conversation()
    backwards = dict(reversed(record().items()))
    backwards["turns"] = [dict(reversed(one.items())) for one in backwards["turns"]]
    for text in (json.dumps(backwards), json.dumps(record(), indent=3, ensure_ascii=False)):
        assert fingerprint(read(json.loads(text))) == fingerprint(plain)
    assert fingerprint(plain.marked("benchmark")) == fingerprint(plain)  # unmarked counts as benchmark
    assert fingerprint(plain.marked("own")) != fingerprint(plain)
