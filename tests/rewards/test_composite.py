"""The canonical Composite, its equal-weight twin and the turn means: worked by hand."""

from __future__ import annotations

import pytest

from attune_data import Conversation
from attune_rewards import Assess, Prefer, Reflect, Tag, TurnPrediction, score_conversation
from tests.rewards.builders import comparison, conversation, judgement, panas, prediction, summing, turn, wide

ABOUT = conversation(
    turn(
        tags=[Tag("Distressed")],
        judgements=[judgement("B1", "yes", "no")],
        comparisons=[comparison(winner="A"), comparison(winner="B")],
    ),
    pre=panas(summing(30, 20)),
    post=panas(summing(40, 20)),
    questions=wide(["a"], "clear", "good", [], {"perceiving": 5}),
)
SAID = prediction(
    TurnPrediction(
        1,
        assess=Assess((Tag("Upset"),), {"B1": "yes"}, {"B1": "yes"}),
        prefer=Prefer({0: "A", 1: "A"}),
    ),
    reflect=Reflect(
        panas=summing(38, 20),
        q1=("a", "b"),
        q2="clear",
        q3="bad",
        q3_follow_up=(),
        branches={"perceiving": 2},
    ),
)
# emotion: F1 0, VA .9233: .46165. binary: OM 1, HP 0: .5. pairwise: .5. evaluation: ½ · .5 + ½ · .5 = .5
# PANAS: positive .8 (10 moved, 2 off), negative did not move: (.8 + 1)/2 = .9
# questions: ½, 1, 0, 1: .625. branches: 1 - 3/6 = .5. holistic: .4 · .9 + .3 · .625 + .3 · .5 = .6975
# 100 · (.24 · .46165 + .49 · .5 + .27 · .6975) = 100 · (.110796 + .245 + .188325) = 54.4121
EXACT = 54.4121


def test_the_composite() -> None:
    scores = score_conversation(ABOUT, SAID)
    assert scores["composite_exact"] == pytest.approx(EXACT, abs=1e-9)
    assert scores["composite_score"] == 54.41


def test_undefined_panas_pays_half() -> None:
    about = Conversation.model_validate({**ABOUT.to_record(), "prePanas": None})
    scores = score_conversation(about, SAID)
    assert scores["post_score"]["panas_baseline_adjusted"] is None
    assert scores["composite_exact"] == pytest.approx(EXACT - 27 * 0.4 * 0.4, abs=1e-9)  # .5 for .9


def test_turns_absent_from_the_result_are_skipped() -> None:
    truth = turn(2, tags=[Tag("Proud")])
    about = conversation(turn(1, tags=[Tag("Upset")]), truth)
    scores = score_conversation(about, prediction(TurnPrediction(1, assess=Assess((Tag("Upset"),)))))
    assert [t["turnNumber"] for t in scores["turn_scores"]] == [1]
    assert scores["avg_emotion_f1"] == 1.0
    assert scores["strict_parts"]["emotion_f1"] == 0.5  # strict: the absent turn was asked


def test_without_any_readable_turn_the_turn_means_are_0() -> None:
    scores = score_conversation(ABOUT, prediction(reflect=SAID.reflect))
    assert scores["turn_scores"] == []
    zero = [
        "emotion_hit_rate", "emotion_f1", "emotion_f1_intensity", "emotion_va_score",
        "emotion_va_intensity_score",
        "binary_om_accuracy", "binary_human_accuracy", "binary_om_accuracy_hp", "binary_human_accuracy_hp",
        "pairwise_accuracy",
    ]  # fmt: skip
    assert {name: scores[f"avg_{name}"] for name in zero} == dict.fromkeys(zero, 0.0)
    assert scores["avg_emotion_intensity_mae"] is None
    assert scores["avg_pairwise_kendall_tau"] is None
    assert scores["composite_exact"] == pytest.approx(27 * 0.6975)
