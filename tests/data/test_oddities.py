"""Warnings: what can be used but contradicts itself."""

from __future__ import annotations

import pytest

from attune_data.format.affect import POSITIVE
from attune_data.format.validate import conversation_from, oddities
from tests.data.builders import (
    Json,
    annotated,
    comparison,
    judgement,
    panas,
    record,
    replaced,
    turn,
    with_annotations,
)

WIDE = "conversationWideQuestions"
HERE = "turns[0].annotations"


def warnings_of(value: Json) -> list[tuple[str, str]]:
    found = list(oddities(conversation_from(value, "f.json"), "f.json"))
    assert all(problem.severity == "warning" and problem.file == "f.json" for problem in found)
    return [(problem.place, problem.found) for problem in found]


def test_a_sound_record_draws_no_warning() -> None:
    assert warnings_of(record()) == []


def with_wide(**answers: object) -> Json:
    return record(conversationWideQuestions=record()[WIDE] | answers)


@pytest.mark.parametrize(("value", "place", "found"), [
    # ten items of 3 are 30
    (record(prePanas=panas(3, 2, totalPositiveAffect=31)), "prePanas.totalPositiveAffect", "31"),
    (record(postPanas=panas(3, 2, totalNegativeAffect=21)), "postPanas.totalNegativeAffect", "21"),
    (record(prePanas={"responses": {"proud": 3, "alert": 4}}), "prePanas.responses",
     "2 of the ten items of totalPositiveAffect"),
    (with_annotations(binaryJudgements=[judgement("B999")]),
     f"{HERE}.binaryJudgements[0].questionId", '"B999"'),
    (with_annotations(binaryJudgements=[judgement("B2"), judgement(), judgement("B2")]),
     f"{HERE}.binaryJudgements[2].questionId", '"B2" again'),
    (record(turns=[turn(moodShiftTags=[{"emotion": "Upset"}, {"emotion": "upset", "intensity": 2}])]),
     "turns[0].moodShiftTags", "an emotion twice"),
    (with_annotations(pairwiseComparisons=[comparison(a="human", b="human")]),
     f"{HERE}.pairwiseComparisons[0]", '"human" on both sides'),
    (with_annotations(pairwiseComparisons=[comparison(), comparison("PW17")]),
     f"{HERE}.pairwiseComparisons[1].questionId", '"PW17"'),
    (with_annotations(alternateResponses={"humanEdited": "x"}, pairwiseComparisons=[comparison()]),
     f"{HERE}.pairwiseComparisons[0]", 'no text of the response "alternate"'),
    (with_wide(q2_emotionClarity="foggy"), f"{WIDE}.q2_emotionClarity", '"foggy"'),
    (with_wide(q3_modelFit="so-so"), f"{WIDE}.q3_modelFit", '"so-so"'),
    (with_wide(q1_lookingFor=["Other", "Trost"]), f"{WIDE}.q1_lookingFor", '"Trost"'),
    (with_wide(q3_modelFit="Mostly well-matched"), f"{WIDE}.q3_followUp_whatFeltOff", "2 entries"),
])  # fmt: skip
def test_a_contradiction_is_located(value: Json, place: str, found: str) -> None:
    assert (place, found) in warnings_of(value)


@pytest.mark.parametrize("value", [
    record(prePanas=panas(3, 2, totalPositiveAffect=None), postPanas={"totalPositiveAffect": 40}),
    record(prePanas={"responses": dict.fromkeys(POSITIVE, 3)}),
    with_annotations(binaryJudgements=[], pairwiseComparisons=[], alternateResponses=None),
    with_wide(q2_emotionClarity=None, q3_modelFit=None, q1_lookingFor=[]),
    with_wide(q2_emotionClarity="mixed or conflicted"),  # options are compared without case
    with_wide(q3_modelFit="mostly OFF-target or intrusive"),  # a bad fit in any case, so a follow-up is due
    with_wide(q3_modelFit="Mostly well-matched", q3_followUp_whatFeltOff=[]),
    replaced(record(), (WIDE,), None),
])  # fmt: skip
def test_what_is_merely_left_out_or_spelt_otherwise_draws_no_warning(value: Json) -> None:
    assert warnings_of(value) == []


def test_missing_texts_are_told_once_for_each_comparison_and_response() -> None:
    parts = annotated(
        alternateResponses=None,
        pairwiseComparisons=[comparison(a="human", b="alternate"), comparison(a="alternate", b="original")],
    )
    assert warnings_of(record(turns=[turn(annotations=parts)])) == [
        (f"{HERE}.pairwiseComparisons[0]", 'no text of the response "human"'),
        (f"{HERE}.pairwiseComparisons[0]", 'no text of the response "alternate"'),
        (f"{HERE}.pairwiseComparisons[1]", 'no text of the response "alternate"'),
    ]


def test_a_field_whose_name_is_nearly_a_known_one_is_told() -> None:
    raw = record()
    raw["provenence"] = "own"
    raw["turns"][0]["moodShiftTag"] = raw["turns"][0].pop("moodShiftTags")
    raw["prePanas"] = {"responses": {"proud": 3, "sad": 4}}
    told = [str(problem) for problem in oddities(conversation_from(raw, "f"), "f")]
    for place, meant in (("provenence", "provenance"), ("turns[0].moodShiftTag", "moodShiftTags")):
        assert any(line.startswith(f"f: {place}: ") and f"expected {meant}, if" in line for line in told)
    assert any("prePanas.responses.sad" in line for line in told)
