"""The strict reading: the tree of weights, and what counts as unannotated, unanswered and not asked."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data import Conversation
from attune_rewards import (
    COMPOSITE,
    LEAVES,
    Assess,
    ConversationPrediction,
    Prefer,
    Reflect,
    RewardSpec,
    TurnPrediction,
    score_conversation,
)
from attune_rewards.metrics.tree import Node
from attune_rewards.reward.spec import Slot
from attune_rewards.truth import truth_of
from tests.rewards.builders import (
    comparison,
    conversation,
    gold,
    judgement,
    panas,
    prediction,
    summing,
    turn,
    wide,
)

HAND_WEIGHTS = {
    "emotion_f1": 0.12,  # .24/2
    "emotion_va": 0.12,
    "binary_om": 0.1225,  # .49/2/2
    "binary_hp": 0.1225,
    "pairwise": 0.245,  # .49/2
    "panas_pa": 0.054,  # .27 · .4/2
    "panas_na": 0.054,
    **dict.fromkeys(["q1", "q2", "q3", "q3_follow_up"], 0.02025),  # .27 · .3/4
    **dict.fromkeys(
        [f"branch_{b}" for b in ("perceiving", "facilitating", "understanding", "managing")], 0.02025
    ),
}


def test_weights_of_all_leaves() -> None:
    assert COMPOSITE.weights(LEAVES) == pytest.approx(HAND_WEIGHTS, abs=1e-15)
    assert tuple(HAND_WEIGHTS) == LEAVES


@pytest.mark.parametrize(("gone", "leaf", "weight"), [
    ({"panas_na"}, "panas_pa", 0.108),  # the sibling takes all of .27 · .4
    ({"emotion_va"}, "emotion_f1", 0.24),
    ({"binary_om", "binary_hp"}, "pairwise", 0.49),
    ({"q2", "q3"}, "q1", 0.0405),  # .27 · .3/2
    ({"panas_pa", "panas_na"}, "q1", 0.27 / 2 / 4),  # questions .3 and branches .3 share .6
    ({"emotion_f1", "emotion_va"}, "pairwise", 0.49 / 0.76 / 2),  # evaluation .49 of .76
    ({"panas_na"}, "pairwise", 0.245),  # an undefined leaf moves no weight out of its node
])  # fmt: skip
def test_an_undefined_childs_weight_goes_to_its_siblings(gone: set[str], leaf: str, weight: float) -> None:
    assert COMPOSITE.weights(set(LEAVES) - gone)[leaf] == pytest.approx(weight, abs=1e-15)


def test_a_small_tree_by_hand() -> None:
    tree = Node("root", children=(Node("x", 3.0, (Node("a"), Node("b", 3.0))), Node("c", 1.0)))
    assert tree.weights("abc") == pytest.approx({"a": 0.1875, "b": 0.5625, "c": 0.25})  # ¾ · ¼, ¾ · ¾, ¼
    assert tree.value({"a": 1.0, "b": 0.0, "c": 0.5}) == pytest.approx(0.3125)  # .1875 + .125
    assert tree.value({"a": 1.0, "c": 0.5}) == pytest.approx(0.875)  # x = a = 1: ¾ + ⅛
    assert tree.value({"c": 0.5}) == 0.5
    assert tree.value({}) is None


def test_a_leafs_weight_is_spread_over_the_turns_that_define_it() -> None:
    about = conversation(
        turn(1, tags=[]), turn(2, tags=[], comparisons=[comparison()]), turn(3), questions=wide(q2="clear")
    )
    weights = RewardSpec.preset("composite").weights(truth_of(about))
    assert weights == pytest.approx(
        {
            Slot("assess", 1, "emotion_f1"): 0.06,  # .12 over turns 1 and 2; turn 3 has no tags
            Slot("assess", 2, "emotion_f1"): 0.06,
            Slot("assess", 1, "emotion_va"): 0.06,
            Slot("assess", 2, "emotion_va"): 0.06,
            Slot("prefer", 2, "pairwise"): 0.49,
            Slot("reflect", None, "q2"): 0.27,
        }
    )


EVERYTHING = conversation(
    turn(1, tags=[], judgements=[judgement("B1", "no", "no")], comparisons=[comparison()]),
    turn(2, tags=[], judgements=[judgement("B1", "no", "no")], comparisons=[comparison()]),
    pre=panas(summing(30, 20)),
    post=panas(summing(40, 24)),
    questions=wide(
        [], "clear", "good", [], {"perceiving": 4, "facilitating": 4, "understanding": 4, "managing": 4}
    ),
)


@pytest.mark.parametrize("turns", [(), (TurnPrediction(1), TurnPrediction(2))])
def test_a_silent_model_earns_nothing_in_strict_while_canonical_pays_it(turns: Any) -> None:
    scores = score_conversation(EVERYTHING, prediction(*turns))
    assert scores["fully_annotated"]
    assert scores["strict_parts"] == dict.fromkeys(LEAVES, 0.0)
    assert scores["composite_strict"] == 0.0
    # holistic: PANAS undefined ½; Q1 and follow-up "both empty" 1, Q2 and Q3 0: ½; branches 4 = 4: 1
    holistic = 27 * (0.4 * 0.5 + 0.3 * 0.5 + 0.3)
    # with readable turns: tags both empty 1, binaries "no" 1, pairwise 0: 24 + 24.5
    assert scores["composite_exact"] == pytest.approx(holistic + (48.5 if turns else 0.0))


def assessed(*answers: Any) -> ConversationPrediction:
    return prediction(TurnPrediction(1, assess=Assess(*answers)))


def judged(observed: str, preferred: str) -> Conversation:
    return conversation(turn(judgements=[judgement("B1", observed, preferred)]))


NO: dict[str, Any] = {"B1": "no"}
# leaf, annotated as none or with a value, the answer that is right
ANNOTATED: list[tuple[str, Conversation, ConversationPrediction]] = [
    ("emotion_f1", conversation(turn(tags=[])), assessed(())),
    ("emotion_va", conversation(turn(tags=[])), assessed(())),
    ("binary_om", judged("no", "na"), assessed(None, NO)),
    ("binary_hp", judged("na", "no"), assessed(None, {}, NO)),
    ("pairwise", conversation(turn(comparisons=[comparison()])),
     prediction(TurnPrediction(1, prefer=Prefer({0: "A"})))),
    ("q1", conversation(questions=wide(q1=[])), prediction(reflect=Reflect(q1=()))),
    ("q2", conversation(questions=wide(q2="x")), prediction(reflect=Reflect(q2="x"))),
    ("q3", conversation(questions=wide(q3="x")), prediction(reflect=Reflect(q3="x"))),
    ("q3_follow_up", conversation(questions=wide(follow_up=[])),
     prediction(reflect=Reflect(q3_follow_up=()))),
    ("branch_managing", conversation(questions=wide(branches={"managing": 4})),
     prediction(reflect=Reflect(branches={"managing": 4}))),
]  # fmt: skip


@pytest.mark.parametrize(("leaf", "about", "right"), ANNOTATED, ids=[leaf for leaf, _, _ in ANNOTATED])
def test_unannotated_is_not_unanswered(leaf: str, about: Conversation, right: ConversationPrediction) -> None:
    assert score_conversation(about, right)["strict_parts"][leaf] == 1.0
    for unanswered in (prediction(), prediction(TurnPrediction(1), reflect=Reflect())):
        assert score_conversation(about, unanswered)["strict_parts"][leaf] == 0.0
    assert leaf not in score_conversation(conversation(), right)["strict_parts"]


@pytest.mark.parametrize("stage", ["assess", "prefer", "reflect"])
def test_a_run_with_a_subset_of_stages_is_partial(stage: Any) -> None:
    said = gold(EVERYTHING)
    part = ConversationPrediction(said.conversation_id, said.turns, said.reflect, frozenset({stage}))
    scores = score_conversation(EVERYTHING, part)
    assert scores["composite_partial"] == pytest.approx(100)
    for name in ("composite_strict", "composite_exact", "composite_score", "equal_weight_composite"):
        assert scores[name] is None


def test_unscored_share_counts_unannotated_places() -> None:
    assert score_conversation(EVERYTHING, prediction())["unscored_share"] == 0.0
    about = conversation(turn(1, tags=[]), turn(2), questions=wide(q2="x"))
    # 2 × 5 + 10 places; annotated: F1 and VA of turn 1, Q2
    assert score_conversation(about, prediction())["unscored_share"] == pytest.approx(17 / 20)
