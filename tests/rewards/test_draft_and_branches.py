"""The draft (similarity, judge, alignment) and the four branches: values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from attune_rewards import Draft, Judged, Reflect, TurnPrediction, score_conversation
from attune_rewards.metrics import branches as branch_metrics
from attune_rewards.metrics import draft as metrics
from attune_rewards.metrics import text
from attune_rewards.predictions import YesNo
from tests.rewards.builders import (
    EMOJI,
    LONG,
    RIGHT_TO_LEFT,
    Json,
    conversation,
    judgement,
    prediction,
    turn,
    wide,
)


def turn_scores(said: TurnPrediction, **parts: Any) -> Json:
    scores: Json = score_conversation(conversation(turn(**parts)), prediction(said))["turn_scores"][0]
    return scores


@pytest.mark.parametrize(("first", "second", "value"), [
    ("a b", "a b", 1.0),
    ("a b", "B A a", 1.0),  # a set of lower-cased words
    ("a b c", "b c d", 2 / 4),
    ("a", "b", 0.0),
    ("", "b", 0.0),
    ("", "", 0.0),
    ("calm.", "calm", 0.0),  # punctuation stays with its word
    ("a\tb\nc", "a b  c", 1.0),  # any white space
    (EMOJI, EMOJI.lower(), 1.0),
    (RIGHT_TO_LEFT, RIGHT_TO_LEFT + " x", 3 / 4),
    (LONG, "word", 1.0),
])  # fmt: skip
def test_token_jaccard(first: str, second: str, value: float) -> None:
    assert text.jaccard(text.tokens(first), text.tokens(second)) == pytest.approx(value)


def test_response_similarity_is_the_best_of_the_three() -> None:
    found = turn_scores(TurnPrediction(1, Draft("a b")), texts=("a b c d", "a b c", "x"))
    assert found["response_similarity_original"] == 2 / 4
    assert found["response_similarity_llm_improved"] == found["response_similarity"] == pytest.approx(2 / 3)
    assert found["response_similarity_human_edited"] == 0.0


@pytest.mark.parametrize(("ratings", "value"), [
    ((1, 1, 1, 1), 0.0),
    ((7, 7, 7, 7), 1.0),
    ((5, 3, 4, 4), 0.5),  # (4 - 1)/6
    ((6, 6, 7, 4), 4.75 / 6),  # (5.75 - 1)/6
    ((7, None, None, None), 1.0),  # the mean of the dimensions that are there
    ((2.5, 3.5, None, None), 2 / 6),  # several judges: means need not be whole
    ((0, 0, 0, 0), 0.0),  # clamped
    ((9, 9, 9, 9), 1.0),
    ((None, None, None, None), None),  # no judge
])  # fmt: skip
def test_draft_judge(ratings: tuple[float | None, ...], value: float | None) -> None:
    names = ("overall_score", "emotional_appropriateness", "helpfulness", "tone_match")
    given = {name: rating for name, rating in zip(names, ratings, strict=True) if rating is not None}
    assert metrics.judge_score(given) == pytest.approx(value)
    assert turn_scores(TurnPrediction(1, judged=Judged(given)))["draft_judge_score"] == pytest.approx(value)


@pytest.mark.parametrize(("answers", "value"), [
    ({"B1": "yes", "B2": "no", "B3": "yes"}, 1.0),
    ({"B1": "no", "B2": "no", "B3": "yes"}, 2 / 3),
    ({"B2": "no"}, 1 / 3),  # a missing answer disagrees, "no" truths too
    ({"B9": "no"}, 0.0),
    ({"B4": "yes", "B1": "yes"}, 1 / 3),  # B4 has no yes/no preferred truth
    ({}, 0.0),  # assessed, but with no valid answer
    (None, None),
])  # fmt: skip
def test_draft_binary_alignment(answers: dict[str, YesNo] | None, value: float | None) -> None:
    judgements = [
        judgement("B1", "no", "yes"),
        judgement("B2", "yes", "no"),
        judgement("B3", "yes", None),  # preferred absent: observed
        judgement("B4", "yes", "na"),
    ]
    found = turn_scores(TurnPrediction(1, judged=Judged(binary=answers)), judgements=judgements)
    assert found["draft_binary_alignment"] == pytest.approx(value)


FULL = {"perceiving": 7, "facilitating": 1, "understanding": 4, "managing": 5}


@pytest.mark.parametrize(("truth", "guess", "errors", "value"), [
    (FULL, FULL, (0, 0, 0, 0), 1.0),
    (FULL, FULL | {"perceiving": 1, "facilitating": 7}, (6, 6, 0, 0), 0.5),  # 1 - 3/6
    (FULL, {}, (3, 3, 0, 1), 1 - 1.75 / 6),  # a missing prediction counts as 4
    (FULL, {"perceiving": 6}, (1, 3, 0, 1), 1 - 1.25 / 6),
    ({"managing": 5}, {"managing": 2, "perceiving": 7}, (None, None, None, 3), 0.5),  # branches with a truth
    ({"managing": 5, "perceiving": None}, {"managing": 5}, (None, None, None, 0), 1.0),
    ({}, FULL, (None, None, None, None), 1.0),  # no truth at all
    ({"charm": 1}, FULL, (None, None, None, None), 1.0),
])  # fmt: skip
def test_branches(
    truth: dict[str, int | None], guess: dict[str, int], errors: tuple[int | None, ...], value: float
) -> None:
    named = {name: error for name, error in zip(FULL, errors, strict=True) if error is not None}
    assert branch_metrics.errors(truth, guess) == named
    assert branch_metrics.normalized(named) == pytest.approx(value)
    about = conversation(questions=wide(branches=truth))
    post = score_conversation(about, prediction(reflect=Reflect(branches=guess)))["post_score"]
    assert post["four_branch_per_branch"] == named
    assert post["four_branch_normalized"] == pytest.approx(value)
    assert post["four_branch_mae"] == (pytest.approx(sum(named.values()) / len(named)) if named else None)


@pytest.mark.parametrize(("truth", "guess", "value"), [
    (4, 4, 1.0), (1, 7, 0.0), (7, 1, 0.0), (5, 3, 4 / 6), (4, None, 0.0),
    (7, 8, 0.0), (1, 0, 0.0), (1, 40, 0.0),
])  # fmt: skip
def test_a_strict_branch_is_0_where_the_answer_is_missing_or_off_the_scale(
    truth: int, guess: int | None, value: float
) -> None:
    assert branch_metrics.strict_score(truth, guess) == pytest.approx(value)
