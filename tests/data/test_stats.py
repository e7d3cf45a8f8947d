"""What a data set holds, on four turns whose every number is worked out by hand."""

from __future__ import annotations

import pytest

from attune_data import Conversation
from attune_data.format.validate import conversation_from
from attune_data.selection.stats import describe
from tests.data.builders import Json, annotated, comparison, judgement, panas, record, turn

LISTEN = "To just listen or let me vent"

# A00001's first conversation: two turns, everything annotated somewhere
FIRST: Json = record(
    conversationId="c1",
    provenance="own",
    turns=[
        turn(
            1,
            moodShiftTags=[{"emotion": "Upset", "intensity": 5}, {"emotion": "Guilty", "intensity": 2}],
            annotations=annotated(
                binaryJudgements=[judgement("B1", "yes", "no"), judgement("B19", "na", "yes")],
                pairwiseComparisons=[
                    comparison("general", "original", "alternate", "A"),
                    comparison("PW4", "human", "original", "B"),
                ],
            ),
        ),
        turn(
            2,
            moodShiftTags=[],
            annotations=annotated(
                binaryJudgements=[judgement("B1", None, None, llmValue="no"), judgement("B999", "na", "na")],
                pairwiseComparisons=[comparison("general", "alternate", "human", None)],
            ),
        ),
    ],
)
# A00001's second: a turn without annotations, one branch, no PANAS
SECOND: Json = {
    "conversationId": "c2",
    "provenance": "own",
    "participant_profile": {
        "participant_id": "A00001",
        "demographics": {"diagnoses": ["ADHD", "Dépression"]},
    },
    "metadata": {"category": "Family"},
    "conversationWideQuestions": {"fourBranchScores": {"perceiving": 4}, "q1_lookingFor": ["Other"]},
    "turns": [turn(1, moodShiftTags=[{"emotion": "Upset"}], annotations=None)],
}
# no profile, no mark, totals without items, no text of the human response
THIRD: Json = {
    "conversationId": "c3",
    "prePanas": {"totalPositiveAffect": 25},
    "postPanas": {"totalPositiveAffect": 30, "totalNegativeAffect": 12},
    "turns": [
        turn(
            1,
            moodShiftTags=None,
            annotations={
                "binaryJudgements": [judgement("B1", "no", "yes")],
                "pairwiseComparisons": [comparison("general", "human", "original", "A")],
            },
        )
    ],
}  # fmt: skip


def read(*records: Json) -> list[Conversation]:
    return [conversation_from(one, "memory") for one in records]


FACTS = describe(read(FIRST, SECOND, THIRD))

WANT: Json = {
    "conversations": 3,
    "provenance": {"own": 2, "benchmark": 1},
    "participants": 2,  # A00001, and c3 as a person of its own
    "participants_with_several": {"A00001": 2},
    "turns": 4,
    "turns_per_conversation": {"min": 1, "mean": 4 / 3, "max": 2},  # (2 + 1 + 1) / 3
    "tags_per_turn": 1.0,  # (2 + 0 + 1) / 3 turns with annotated tags
    "neutral_turns": 1 / 3,  # of those three, one is []
    "tags": {"Upset": 2, "Guilty": 1},
    "intensity": 3.5,  # (5 + 2) / 2; the third has none
    "comparisons_per_turn": 1.0,  # (2 + 1 + 0 + 1) / 4
    "comparison_questions": {"general": 3, "PW4": 1},
    # three comparisons have a winner: original-alternate A, human-original B, human-original A.
    # original entered 3 and won 2; alternate entered 1 and won 0; human entered 2 and won 1
    "wins": {"original": 2 / 3, "alternate": 0.0, "human": 0.5},
    "winner_a": 2 / 3,  # A, B, A
    "goals": {"Other": 2, LISTEN: 1},
    "clarity": {"Mixed or conflicted": 1},
    "fit": {"Mostly off-target or intrusive": 1},
    "felt_off": {"Gave advice too soon": 1, "Too long": 1},  # a tie: by name
    # perceiving: (7 + 4) / 2
    "branches": {"perceiving": 5.5, "facilitating": 5.0, "understanding": 2.0, "managing": 1.0},
    # positive: 40 - 30 = 10 in c1, 30 - 25 = 5 in c3, mean 7.5; negative: 20 - 40 = -20 in c1, unknown in c3
    "panas_change": {"positive": 7.5, "negative": -20.0},
    "categories": {"Family": 1, "Work": 1},
    "diagnoses": {"ADHD": 2, "Dépression": 1},
    "missing": {
        "turns without tags": 1,  # c3
        "turns without binary judgements": 1,  # c2
        "turns without comparisons": 1,  # c2
        "comparisons without a winner": 1,  # c1, turn 2
        "conversations without pre PANAS": 1,  # c2
        "conversations without post PANAS": 1,
        "conversations without Q1": 1,  # c3
        "conversations without Q2": 2,  # c2, c3
        "conversations without Q3": 2,
        "conversations without branch scores": 1,  # c3
    },
    "contradictions": [
        'c1: turns[1].annotations.binaryJudgements[1].questionId: found "B999", '
        "expected one of the 36 ids B1–B505",
        'c3: turns[0].annotations.pairwiseComparisons[0]: found no text of the response "human", '
        "expected its text in alternateResponses",
    ],
}  # fmt: skip

NEVER_ASKED: Json = {"annotated": 0, "applicable": 0, "observed_yes": None, "preferred_yes": None}


@pytest.mark.parametrize("name", WANT)
def test_each_fact_equals_the_number_worked_by_hand(name: str) -> None:
    want = WANT[name]
    if isinstance(want, dict):
        assert FACTS[name] == pytest.approx(want, abs=1e-12)
        assert list(FACTS[name]) == list(want)  # the order is part of what is shown
    else:
        assert FACTS[name] == (pytest.approx(want, abs=1e-12) if isinstance(want, float) else want)


def test_nothing_annotated_gives_none_and_never_a_zero_rate() -> None:
    bare = {"turnNumber": 1, "userMessage": "hi", "llmResponse": "yo"}
    facts = describe(read({"conversationId": "c", "turns": [bare]}))
    for name in ("tags_per_turn", "neutral_turns", "intensity", "winner_a"):
        assert facts[name] is None
    assert set(facts["wins"].values()) == set(facts["branches"].values()) == {None}
    assert facts["panas_change"] == {"positive": None, "negative": None}
    assert facts["questions"]["B1"] == NEVER_ASKED
    assert set(facts["missing"].values()) == {0, 1}  # comparisons without a winner: there is none


def test_panas_change_takes_items_over_stored_totals() -> None:
    one = record(prePanas=panas(3, 4, totalPositiveAffect=70), postPanas=panas(4, 2))
    # 10 × 4 - 10 × 3 = 10, whatever the stored 70 says
    assert describe(read(one))["panas_change"] == {"positive": 10.0, "negative": -20.0}
