"""Bad conversation data: each problem names the file, the exact place, what was found and expected."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import DataError, Problem, fingerprint
from attune_data.format.validate import conversation_from
from tests.data.builders import Place, only_problem, places, record, replaced, without

JUDGEMENT: Place = ("turns", 0, "annotations", "binaryJudgements", 0)
COMPARISON: Place = ("turns", 0, "annotations", "pairwiseComparisons", 1)
TAG: Place = ("turns", 1, "moodShiftTags")
WIDE = "conversationWideQuestions"
ITEM = "turns[0].annotations.binaryJudgements[0]"
PAIR = "turns[0].annotations.pairwiseComparisons[1]"


TAGS = "turns[1].moodShiftTags"


@pytest.mark.parametrize(("at", "value", "place", "found", "expected"), [
    ((*COMPARISON, "winner"), "C", f"{PAIR}.winner", '"C"', '"A" or "B"'),
    ((*COMPARISON, "winner"), 1, f"{PAIR}.winner", "1", '"A" or "B"'),
    ((*COMPARISON, "responseA"), "best", f"{PAIR}.responseA", '"best"', '"original", "alternate" or "human"'),
    ((*COMPARISON, "responseB"), None, f"{PAIR}.responseB", "null", '"original", "alternate" or "human"'),
    ((*JUDGEMENT, "observedBehavior"), "maybe", f"{ITEM}.observedBehavior", '"maybe"', '"yes", "no" or "na"'),
    ((*JUDGEMENT, "preferredBehavior"), 1, f"{ITEM}.preferredBehavior", "1", '"yes", "no" or "na"'),
    ((*JUDGEMENT, "questionId"), 7, f"{ITEM}.questionId", "7", "text"),
    (TAG, [{"emotion": "Upset", "intensity": 9}], f"{TAGS}[0].intensity", "9", "1 to 7"),
    (TAG, [{"emotion": "Upset", "intensity": 0}], f"{TAGS}[0].intensity", "0", "1 to 7"),
    (TAG, [{"emotion": "Upset", "intensity": True}], f"{TAGS}[0].intensity", "true", "1 to 7"),
    (TAG, [{"emotion": "Alert", "intensity": "so"}], f"{TAGS}[0].intensity", '"so"', "mild"),
    (TAG, [{"emotion": "Upset"}, {"emotion": 0}], f"{TAGS}[1].emotion", "0", "20 PANAS"),
    (TAG, [{"emotion": None}], f"{TAGS}[0].emotion", "null", "20 PANAS"),
    (TAG, [{"emotion": "בוש 😳"}], f"{TAGS}[0].emotion", '"בוש 😳"', "20 PANAS"),
    (TAG, {"emotion": "Upset"}, TAGS, "an object", "a list"),
    (("turns", 0, "turnNumber"), 0, "turns[0].turnNumber", "0", "whole number from 1 up"),
    (("turns", 0, "turnNumber"), "1", "turns[0].turnNumber", '"1"', "a whole number"),
    (("turns", 0, "turnNumber"), 1.5, "turns[0].turnNumber", "1.5", "a whole number"),
    (("turns", 1, "turnNumber"), 1, "turns", "a list of 2", "1 is at turns[0] and turns[1]"),
    (("turns", 0, "llmResponse"), ["hi"], "turns[0].llmResponse", "a list of 1", "text"),
    (("turns", 1), None, "turns[1]", "null", "an object"),
    (("turns",), [], "turns", "an empty list", "at least one"),
    (("turns",), {}, "turns", "an empty object", "a list"),
    (("conversationId",), "", "conversationId", '""', "some text"),
    (("conversationId",), "x" * 201, "conversationId", "xxx", "at most 200 characters"),
    (("conversationId",), 12, "conversationId", "12", "text"),
    (("provenance",), "mine", "provenance", '"mine"',
     '"imported", "own", "played", "study", "filler" or "benchmark"'),
    (("prePanas", "responses", "proud"), 8, "prePanas.responses.proud", "8", "1 to 7"),
    (("postPanas", "responses", "upset"), 2.5, "postPanas.responses.upset", "2.5", "1 to 7"),
    (("prePanas", "totalPositiveAffect"), "9", "prePanas.totalPositiveAffect", '"9"', "a number from 10"),
    (("prePanas", "totalPositiveAffect"), 9, "prePanas.totalPositiveAffect", "9", "a number from 10 to 70"),
    (("prePanas",), [3], "prePanas", "a list of 1", "an object"),
    ((WIDE, "fourBranchScores", "managing"), 8, f"{WIDE}.fourBranchScores.managing", "8", "1 to 7"),
    ((WIDE, "q1_lookingFor"), "Other", f"{WIDE}.q1_lookingFor", '"Other"', "a list"),
    ((WIDE, "q1_lookingFor"), ["Other", 5], f"{WIDE}.q1_lookingFor[1]", "5", "text"),
    (("participant_profile", "demographics"), "US", "participant_profile.demographics", '"US"', "an object"),
])  # fmt: skip
def test_a_wrong_value_is_located(at: Place, value: object, place: str, found: str, expected: str) -> None:
    problem = only_problem(lambda: conversation_from(replaced(record(), at, value), "one.json"))
    assert (problem.file, problem.place) == ("one.json", place)
    assert found in problem.found
    assert expected in problem.expected


REQUIRED: list[Place] = [
    ("conversationId",), ("turns",), ("turns", 1, "turnNumber"), ("turns", 1, "userMessage"),
    ("turns", 1, "llmResponse"), ("turns", 0, "moodShiftTags", 0, "emotion"), (*JUDGEMENT, "questionId"),
    (*COMPARISON, "questionId"), (*COMPARISON, "responseA"), (*COMPARISON, "responseB"),
]  # fmt: skip


def dotted(place: Place) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).lstrip(".")


@pytest.mark.parametrize("at", REQUIRED, ids=dotted)
def test_a_missing_field_is_named(at: Place) -> None:
    problem = only_problem(lambda: conversation_from(without(record(), at), "one.json"))
    assert problem == Problem("one.json", dotted(at), "nothing", "this field", "add it")


OPTIONAL = [
    place
    for place in places(record())
    if isinstance(place[-1], str) and place[-1] not in {required[-1] for required in REQUIRED}
]


@pytest.mark.parametrize("at", OPTIONAL, ids=dotted)
def test_every_other_field_may_be_left_out(at: Place) -> None:
    less = without(record(provenance="own"), at)
    assert conversation_from(less, "f.json").to_record() == less | {
        "provenance": less.get("provenance", "benchmark")
    }


@pytest.mark.parametrize(("value", "found"), [
    ([record()], "a list of 1"), ("hi", '"hi"'), (3, "3"), (3.5, "3.5"), (True, "true"), (None, "null"),
])  # fmt: skip
def test_a_wrong_top_level_type_is_named(value: object, found: str) -> None:
    problem = only_problem(lambda: conversation_from(value, "one.json"))
    assert (problem.place, problem.found) == ("", found)
    assert "one conversation object" in problem.expected


@pytest.mark.parametrize("text", ["x" * 100_000, "line\nline\r\n\u2028\x1b[31m", "\u202eevil", "😀" * 500])
def test_what_was_found_is_shown_short_and_on_one_line(text: str) -> None:
    bad = replaced(record(), (*COMPARISON, "winner"), text)
    said = str(only_problem(lambda: conversation_from(bad, "f.json")))
    assert len(said) < 400
    assert said.isprintable()


# properties

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.slow
@given(at=st.sampled_from(list(places(record()))), value=JSON)
def test_a_record_with_one_place_replaced_is_read_or_refused(at: Place, value: object) -> None:
    try:
        found = conversation_from(replaced(record(), at, value), "f.json")
    except DataError as error:
        said = str(error).splitlines()
    else:
        said = []
        again = conversation_from(json.loads(json.dumps(found.to_record())), "f.json")
        assert fingerprint(again) == fingerprint(found)
    assert all(line.startswith("f.json: ") and line.isprintable() for line in said)
