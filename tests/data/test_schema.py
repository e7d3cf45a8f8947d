"""What a record means once read: absent against empty, truths and their fallbacks, PANAS totals."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data import Conversation
from attune_data.affect import Polarity
from attune_data.schema import BinaryJudgement, Panas
from attune_data.validate import conversation_from
from tests.data.builders import (
    NEGATIVE_ITEMS,
    comparison,
    conversation,
    panas,
    record,
    replaced,
    turn,
    with_annotations,
    without,
)


def read(value: Any) -> Conversation:
    return conversation_from(value, "f.json")


def judged(**values: Any) -> BinaryJudgement:
    return read(with_annotations(binaryJudgements=[{"questionId": "B1"} | values])).turns[0].judgements[0]


# absent, null and empty


@pytest.mark.parametrize(("given", "want"), [("absent", None), (None, None), ([], ())])
def test_no_tags_differ_from_an_empty_list_of_tags(given: Any, want: object) -> None:
    one = without(turn(), ("moodShiftTags",)) if given == "absent" else turn(moodShiftTags=given)
    assert read(record(turns=[one])).turns[0].mood_shift_tags == want


@pytest.mark.parametrize(("given", "want"), [("absent", None), (None, None), ([], ())])
def test_an_absent_follow_up_differs_from_an_empty_one(given: Any, want: object) -> None:
    place = ("conversationWideQuestions", "q3_followUp_whatFeltOff")
    value = without(record(), place) if given == "absent" else replaced(record(), place, given)
    wide = read(value).conversation_wide
    assert wide is not None
    assert wide.q3_follow_up == want


def test_a_comparison_may_have_no_winner() -> None:
    value = with_annotations(
        pairwiseComparisons=[comparison(winner=None), without(comparison(), ("winner",))]
    )
    assert [found.winner for found in read(value).turns[0].comparisons] == [None, None]


# truths


@pytest.mark.parametrize(("observed", "llm", "want"), [
    ("yes", "no", "yes"), ("no", "yes", "no"), ("na", "yes", "na"),  # the HP's own label, na too
    (None, "yes", "yes"), (None, "na", "na"),  # else the model's
    (None, None, None),
])  # fmt: skip
def test_observed_truth_falls_back_on_the_models_label(observed: str, llm: str, want: str) -> None:
    assert judged(observedBehavior=observed, llmValue=llm).observed_truth == want


@pytest.mark.parametrize(("preferred", "observed", "llm", "want"), [
    ("yes", "no", None, "yes"), ("na", "yes", None, "na"),  # na is an answer
    (None, "no", "yes", "no"), (None, "na", None, "na"),  # else what was observed
    (None, None, "yes", None),  # a model's label says nothing about what the HP wanted
    (None, None, None, None),
])  # fmt: skip
def test_preferred_truth_falls_back_on_the_observed(
    preferred: str, observed: str, llm: str, want: str
) -> None:
    found = judged(preferredBehavior=preferred, observedBehavior=observed, llmValue=llm)
    assert found.preferred_truth == want


@pytest.mark.parametrize(("observed", "preferred", "llm", "want"), [
    (None, None, None, True),  # both absent: asked
    ("yes", "no", None, True), ("yes", "na", None, True), ("na", "no", None, True),
    ("yes", None, None, True), (None, "no", None, True),
    ("na", "na", None, False), ("na", None, None, False), (None, "na", None, False),
    (None, None, "yes", True), (None, "na", "no", True), (None, None, "na", False),
    ("na", "na", "yes", False),  # the HP's na stands over the model's yes
])  # fmt: skip
def test_a_question_applies_unless_it_was_answered_na(
    observed: str | None, preferred: str | None, llm: str | None, want: bool
) -> None:
    found = judged(observedBehavior=observed, preferredBehavior=preferred, llmValue=llm)
    assert found.applicable is want


# PANAS

POSITIVE_ITEMS = tuple(name for name in panas()["responses"] if name not in NEGATIVE_ITEMS)


def sheet(value: Any) -> Panas:
    found = read(record(prePanas=value)).pre_panas
    assert found is not None
    return found


@pytest.mark.parametrize(("polarity", "want"), [("positive", 30.0), ("negative", 20.0)])
def test_ten_known_items_win_over_the_stored_total(polarity: Polarity, want: float) -> None:
    # ten items of 3 and ten of 2: 30 and 20, whatever the file says
    assert sheet(panas(3, 2)).total(polarity) == want
    assert sheet(panas(3, 2, totalPositiveAffect=70, totalNegativeAffect=70)).total(polarity) == want
    assert sheet(panas(3, 2, totalPositiveAffect=None, totalNegativeAffect=None)).total(polarity) == want


@pytest.mark.parametrize("responses", [
    None, {}, dict.fromkeys(POSITIVE_ITEMS), {"bored": 3}, dict.fromkeys(NEGATIVE_ITEMS, 7),
])  # fmt: skip
def test_the_stored_total_holds_where_no_item_is_known(responses: object) -> None:
    assert sheet({"totalPositiveAffect": 41, "responses": responses}).total("positive") == 41
    assert sheet({"responses": responses}).total("positive") is None


@pytest.mark.parametrize("known", range(1, 10))
def test_some_items_known_leave_the_total_unknown(known: int) -> None:
    some = dict.fromkeys(POSITIVE_ITEMS[:known], 4)
    for responses in (some, dict.fromkeys(POSITIVE_ITEMS) | some):  # absent, and null
        found = sheet({"totalPositiveAffect": 41, "responses": responses})
        assert found.total("positive") is None


def test_turns_stand_in_the_order_of_their_numbers() -> None:
    found = read(record(turns=[turn(10), turn(2), turn(1, moodShiftTags=None)]))
    assert [one.turn_number for one in found.turns] == [1, 2, 10]
    assert found.turn(2) == found.turns[1]
    assert found.turn(3) is None


def test_the_participant_is_the_profiles_id_else_the_conversation() -> None:
    assert conversation().participant == "A00001"
    for profile in (None, {}, {"participant_id": None}, {"participant_id": ""}):
        assert conversation(participant_profile=profile).participant == "c-1"
