"""Every name and spelling in the tables of aliases is read to the format's own value."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data.format import fields
from attune_data.format.validate import conversation_from
from tests.data.builders import comparison, conversation, judgement, record, turn, with_annotations

NAMES = [(name, other) for name, others in fields.FIELDS.items() for other in others]


def mapped(value: Any, change: Any) -> Any:
    """A JSON value with every object changed, the inner ones first."""
    if isinstance(value, list):
        return [mapped(child, change) for child in value]
    if isinstance(value, dict):
        return change({key: mapped(child, change) for key, child in value.items()})
    return value


@pytest.mark.parametrize(("name", "other"), NAMES)
def test_every_other_field_name_reads_as_the_format_name_which_wins_over_it(name: str, other: str) -> None:
    old = mapped(record(), lambda one: {other if key == name else key: v for key, v in one.items()})
    assert old != record()  # the record does hold that field
    assert conversation_from(old, "f.json") == conversation()
    # the other name stands first: order must not matter
    both = mapped(record(), lambda one: ({other: {"nonsense": 1}} if name in one else {}) | one)
    kept = conversation_from(both, "f.json").to_record()
    without = mapped(kept, lambda one: {key: v for key, v in one.items() if key != other})
    assert without == conversation().to_record()


@pytest.mark.parametrize(("given", "want"), [
    *fields.ANSWERS.items(), (True, "yes"), (False, "no"),
    ("YES", "yes"), (" Yes ", "yes"), ("N", "no"), ("NA", "na"), ("N/A", "na"), ("Not Applicable", "na"),
])  # fmt: skip
def test_every_spelling_of_an_answer(given: object, want: str) -> None:
    value = with_annotations(binaryJudgements=[judgement("B1", given, given, llmValue=given)])
    judged = conversation(**value).turns[0].judgements[0]
    assert (judged.observed, judged.preferred, judged.llm_value) == (want, want, want)
    assert fields.read_answer(given) == want


@pytest.mark.parametrize(("field", "attribute", "given", "want"), [
    *(("winner", "winner", given, want) for given, want in fields.WINNERS.items()),
    *(("responseA", "response_a", given, want) for given, want in fields.RESPONSE_NAMES.items()),
    *(("responseB", "response_b", given, want) for given, want in fields.RESPONSE_NAMES.items()),
])  # fmt: skip
def test_every_spelling_in_a_comparison(field: str, attribute: str, given: object, want: str) -> None:
    found = conversation(**with_annotations(pairwiseComparisons=[comparison() | {field: given}]))
    assert getattr(found.turns[0].comparisons[0], attribute) == want


@pytest.mark.parametrize(("given", "want"), [
    *fields.INTENSITIES.items(), ("Mild", 2), (" INTENSE ", 6), (1, 1), (7, 7), (7.0, 7), (None, None),
])  # fmt: skip
def test_every_spelling_of_an_intensity_and_emotions_in_any_case(given: object, want: int | None) -> None:
    tags = conversation(turns=[turn(moodShiftTags=[{"emotion": "pROUD", "intensity": given}])]).turns[0]
    assert tags.mood_shift_tags is not None
    assert [(tag.emotion, tag.intensity) for tag in tags.mood_shift_tags] == [("Proud", want)]


def test_items_are_read_in_any_case() -> None:
    shouting = record()["prePanas"]
    shouting["responses"] = {key.upper(): rating for key, rating in shouting["responses"].items()}
    assert conversation(prePanas=shouting) == conversation()
    assert conversation(prePanas=shouting).to_record() == conversation().to_record()
