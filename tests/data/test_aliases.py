"""Every name and spelling in the tables of aliases is read to the format's own value."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data import aliases
from attune_data.schema import Conversation
from attune_data.validate import conversation_from
from tests.data.builders import (
    comparison,
    judgement,
    record,
    replaced,
    turn,
    with_annotations,
)

NAMES = [(name, other) for name, others in aliases.FIELDS.items() for other in others]


def read(value: Any) -> Conversation:
    return conversation_from(value, "f.json")


def renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {new if key == old else key: renamed(child, old, new) for key, child in value.items()}
    return [renamed(child, old, new) for child in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("name", "other"), NAMES)
def test_every_other_field_name_reads_as_the_format_name(name: str, other: str) -> None:
    old = renamed(record(), name, other)
    assert old != record()  # the record does hold that field
    assert read(old) == read(record())


@pytest.mark.parametrize(("name", "other"), NAMES)
def test_a_format_name_wins_over_its_other_names(name: str, other: str) -> None:
    wrong = {"nonsense": "under the other name"}

    def both(value: Any) -> Any:
        if isinstance(value, list):
            return [both(child) for child in value]
        if not isinstance(value, dict):
            return value
        # the other name stands first: order must not matter
        first = {other: wrong} if name in value else {}
        return first | {key: both(child) for key, child in value.items()}

    kept = read(both(record())).to_record()
    assert without_key(kept, other) == read(record()).to_record()


def without_key(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: without_key(child, name) for key, child in value.items() if key != name}
    return [without_key(child, name) for child in value] if isinstance(value, list) else value


def first_judgement(value: Any) -> Any:
    return read(with_annotations(binaryJudgements=[judgement("B1", value, value, llmValue=value)]))


ANSWERS = [
    *aliases.ANSWERS.items(), (True, "yes"), (False, "no"),
    ("YES", "yes"), (" Yes ", "yes"), ("N", "no"), ("NA", "na"), ("N/A", "na"), ("Not Applicable", "na"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "want"), ANSWERS)
def test_every_spelling_of_an_answer(given: object, want: str) -> None:
    judged = first_judgement(given).turns[0].judgements[0]
    assert (judged.observed, judged.preferred, judged.llm_value) == (want, want, want)
    assert aliases.read_answer(given) == want


@pytest.mark.parametrize(("given", "want"), aliases.WINNERS.items())
def test_every_spelling_of_a_winner(given: object, want: str) -> None:
    value = read(with_annotations(pairwiseComparisons=[comparison(winner=given)]))
    assert value.turns[0].comparisons[0].winner == want


@pytest.mark.parametrize(("given", "want"), aliases.RESPONSE_NAMES.items())
@pytest.mark.parametrize("side", ["responseA", "responseB"])
def test_every_name_of_a_response(side: str, given: object, want: str) -> None:
    value = read(with_annotations(pairwiseComparisons=[comparison() | {side: given}]))
    found = value.turns[0].comparisons[0]
    assert (found.response_a if side == "responseA" else found.response_b) == want


INTENSITIES = [*aliases.INTENSITIES.items(), ("Mild", 2), (" INTENSE ", 6), (1, 1), (7, 7), (None, None)]


@pytest.mark.parametrize(("given", "want"), INTENSITIES)
def test_every_spelling_of_an_intensity(given: object, want: int | None) -> None:
    value = read(record(turns=[turn(moodShiftTags=[{"emotion": "Proud", "intensity": given}])]))
    tags = value.turns[0].mood_shift_tags
    assert tags is not None
    assert tags[0].intensity == want


def test_emotions_and_items_are_read_in_any_case() -> None:
    value = replaced(record(), ("turns", 0, "moodShiftTags", 0, "emotion"), "uPSET")
    assert read(value) == read(record())
    shouting = replaced(
        record(), ("prePanas", "responses"),
        {key.upper(): rating for key, rating in record()["prePanas"]["responses"].items()},
    )  # fmt: skip
    assert read(shouting) == read(record())
    assert read(shouting).to_record() == read(record()).to_record()
