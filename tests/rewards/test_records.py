"""Reading official result records: aliases, frames, gaps, and what is none of these."""

from __future__ import annotations

from typing import Any

import pytest

from attune_rewards import (
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Judged,
    Prefer,
    Reflect,
    Tag,
    TurnPrediction,
    read_record,
)
from tests.rewards.builders import (
    EMOJI,
    RIGHT_TO_LEFT,
    Json,
    comparison,
    conversation,
    judgement,
    panas,
    summing,
    turn,
    wide,
)

ABOUT = conversation(
    turn(
        1,
        tags=[Tag("Upset", 4)],
        judgements=[judgement("B1", "yes", "no"), judgement("B2", "no", "no")],
        comparisons=[comparison("original", "human", "A"), comparison("alternate", "original", "B")],
    ),
    turn(2, tags=[]),
    pre=panas(summing(30, 20)),
    post=panas(summing(40, 24)),
    questions=wide([], "clear", "good", [], {"perceiving": 4}),
)


def one_turn(**fields: Any) -> tuple[TurnPrediction, list[str]]:
    """What a record with these fields in turn 1 says of that turn, and the places it warns of."""
    said, warnings = read_record({"turns": [{"turnNumber": 1, **fields}]}, ABOUT, "r.json")
    assert all(problem.severity == "warning" and problem.file == "r.json" for problem in warnings)
    return said.turns[1], [problem.place for problem in warnings]


def test_a_whole_record() -> None:
    record: Json = {
        "conversationId": "c1",
        "turns": [
            {
                "turnNumber": 1,
                "em_emotion_tags": [{"emotion": "Upset", "intensity": 5}],
                "em_drafted_response": EMOJI,
                "emotion_reasoning": RIGHT_TO_LEFT,
                "em_binary_om_assessment": {"B1": "yes"},
                "em_binary_human_prediction": {"B1": "no"},
                "em_binary_om_assessment_hp": {"B2": "yes"},
                "em_binary_human_prediction_hp": {"B2": "no"},
                "em_pairwise_selections": {"0": "A", "1": "B"},
                "em_draft_judge_scores": {"overall_score": 6.5},
                "em_draft_binary_assessment": {"B1": "yes"},
            }
        ],
        "post_conversation": {
            "predicted_post_panas": {
                "totalPositiveAffect": 33, "totalNegativeAffect": 21.5, "items": {"Proud": 4}
            },
            "predicted_conversation_wide": {
                "q1_lookingFor": ["x"], "q2_emotionClarity": "clear", "q3_modelFit": "good",
                "q3_followUp_whatFeltOff": [], "fourBranchScores": {"managing": 7},
            },
        },
    }  # fmt: skip
    said, warnings = read_record(record, ABOUT)
    here = TurnPrediction(
        turn=1,
        draft=Draft(EMOJI),
        assess=Assess((Tag("Upset", 5),), {"B1": "yes"}, {"B1": "no"}, RIGHT_TO_LEFT),
        assess_hp=AssessHP({"B2": "yes"}, {"B2": "no"}),
        prefer=Prefer({0: "A", 1: "B"}),
        judged=Judged({"overall_score": 6.5}, {"B1": "yes"}),
    )
    end = Reflect({"Proud": 4}, (33.0, 21.5), None, ("x",), "clear", "good", (), {"managing": 7})
    assert (said, warnings) == (ConversationPrediction("c1", {1: here}, end), ())


@pytest.mark.parametrize("index", ["2", "-1", "x", "", "1.0", "٠", "99999999999999999999"])
def test_a_pick_at_no_comparison_is_left_out_with_a_warning(index: str) -> None:
    here, warned = one_turn(em_pairwise_selections={index: "A"})
    assert here.prefer is not None
    assert (dict(here.prefer.picks), warned) == ({}, [f"turns[0].em_pairwise_selections.{index}"])


@pytest.mark.parametrize(("assignment", "read", "warned"), [
    ({"A": "original", "B": "human"}, "A", False),  # the conversation's own frame
    ({"A": "human", "B": "original"}, "B", False),  # swapped: translated
    ({"A": "human", "B": "alternate"}, None, True),  # other responses: the pick is missing
    ({"A": "original", "B": "alternate"}, None, True),
    ({"A": "original", "B": "original"}, None, True),
    ({"A": "original"}, None, True),
    ({"A": "original", "B": "humanEdited"}, "A", False),  # aliases of the responses
    ({"A": "alternate2", "B": "original"}, "B", False),
    ({}, "A", False),  # says nothing: the conversation's frame
    (None, "A", False),
])  # fmt: skip
def test_an_assignment_translates_the_pick(assignment: Json | None, read: str | None, warned: bool) -> None:
    here, places = one_turn(em_pairwise_selections={"0": "A"}, pairwise_assignment={"0": assignment})
    assert here.prefer is not None
    assert here.prefer.picks.get(0) == read
    assert places == (["turns[0].pairwise_assignment.0"] if warned else [])


@pytest.mark.parametrize(("answer", "read"), [
    ("yes", "yes"), ("No", "no"), (" Y ", "yes"), ("n", "no"), (True, "yes"), (False, "no"), ("TRUE", "yes"),
    ("na", None), (None, None),
])  # fmt: skip
def test_spellings_of_yes_and_no(answer: object, read: str | None) -> None:
    here, warned = one_turn(em_binary_om_assessment={"B1": answer})
    assert here.assess is not None
    assert (dict(here.assess.observed), warned) == ({} if read is None else {"B1": read}, [])


@pytest.mark.parametrize(("tags", "read", "warned"), [
    (None, None, []),  # null: unanswered
    ([], (), []),  # an answer: none
    ([{"emotion": "Upset", "intensity": 3}], (Tag("Upset", 3),), []),
    ([{"emotion": " uPSET "}], (Tag("Upset"),), []),
    (["proud"], (Tag("Proud"),), []),
    ([{"emotion": "Wistful", "intensity": 3}], (Tag("Wistful", 3),), []),  # kept: a wrong tag
    ([{"emotion": EMOJI}], (Tag(EMOJI),), []),
    ([{"emotion": "Upset", "intensity": "Moderate"}], (Tag("Upset", 4),), []),
    ([{"emotion": "Upset", "intensity": 3.0}], (Tag("Upset", 3),), []),
    ([{"emotion": "Upset", "intensity": 8}], (Tag("Upset"),), ["[0].intensity"]),
    ([{"emotion": "Upset", "intensity": 2.5}], (Tag("Upset"),), ["[0].intensity"]),
    ([{"emotion": "Upset", "intensity": True}], (Tag("Upset"),), ["[0].intensity"]),
    ([{"intensity": 3}, {"emotion": "Upset"}, 7], (Tag("Upset"),), ["[0]", "[2]"]),
    ("Upset", None, [""]),
    ({"emotion": "Upset"}, None, [""]),
])  # fmt: skip
def test_emotion_tags(tags: object, read: tuple[Tag, ...] | None, warned: list[str]) -> None:
    here, places = one_turn(em_emotion_tags=tags)
    assert here.assess is not None
    assert here.assess.tags == read
    assert places == [f"turns[0].em_emotion_tags{place}" for place in warned]


@pytest.mark.parametrize("field", [
    "em_binary_om_assessment", "em_binary_human_prediction", "em_binary_om_assessment_hp",
    "em_binary_human_prediction_hp", "em_pairwise_selections", "pairwise_assignment",
    "em_draft_judge_scores", "em_draft_binary_assessment", "em_drafted_response", "emotion_reasoning",
    "em_emotion_tags",
])  # fmt: skip
def test_a_field_of_a_wrong_type_is_unanswered_with_a_warning(field: str) -> None:
    here, warned = one_turn(**{field: 5})
    assert here == one_turn()[0]
    assert warned == [f"turns[0].{field}"]


@pytest.mark.parametrize(("part", "fields", "place"), [
    ("predicted_post_panas", {"totalPositiveAffect": 71}, "totalPositiveAffect"),
    ("predicted_post_panas", {"items": {"Proud": 8}}, "items.Proud"),
    ("predicted_post_panas", {"items": {"Proud": 2.5}}, "items.Proud"),
    ("predicted_conversation_wide", {"fourBranchScores": {"managing": True}}, "fourBranchScores.managing"),
    ("predicted_conversation_wide", {"q1_lookingFor": [3]}, "q1_lookingFor[0]"),
    ("predicted_conversation_wide", {"q2_emotionClarity": []}, "q2_emotionClarity"),
])  # fmt: skip
def test_a_wrong_answer_at_the_end_is_unanswered_with_a_warning(part: str, fields: Json, place: str) -> None:
    said, warnings = read_record({"post_conversation": {part: fields}}, ABOUT)
    assert said.reflect == (Reflect(q1=()) if "q1" in place else Reflect())
    assert [problem.place for problem in warnings] == [f"post_conversation.{part}.{place}"]


@pytest.mark.parametrize("number", [3, 0, -1, "1", 1.0, True, None, [1]])
def test_an_unknown_turn_is_left_out_with_a_warning(number: object) -> None:
    said, warnings = read_record({"turns": [{"turnNumber": number}, {"turnNumber": 2}]}, ABOUT)
    assert list(said.turns) == [2]
    assert [problem.place for problem in warnings] == ["turns[0].turnNumber"]


def test_stages_that_were_not_asked() -> None:
    marks = {
        "outcomes": {"assess": "not_asked", "prefer": "ok", "draft": "unparsed:empty", "party": "not_asked"}
    }
    record = {"attune": {"not_asked": ["reflect", "party"]}, "turns": [{"turnNumber": 1, "attune": marks}]}
    said, warnings = read_record(record, ABOUT)
    assert ([*said.not_asked], [*said.turns[1].not_asked]) == (["reflect"], ["assess"])
    assert warnings == ()
