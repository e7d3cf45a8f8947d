"""Reward specs: presets and what is built on them; request rewards that add up to the strict Composite."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, SettingsError, UnknownNameError
from attune_rewards import (
    LEAVES,
    PRESETS,
    STAGES,
    Assess,
    ConversationPrediction,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    RewardSpec,
    Stage,
    Tag,
    score_conversation,
    score_request,
)
from attune_rewards.metrics.tree import Node
from attune_rewards.reward.presets.skill import skill_spec
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of
from tests.rewards.builders import (
    comparison,
    conversation,
    judgement,
    paid,
    turn,
    wide,
)
from tests.rewards.strategies import scored

ABOUT = conversation(
    turn(1, tags=[Tag("Upset")], judgements=[judgement("B1", "yes", "yes"), judgement("B2", "no", "no")]),
    turn(2, tags=[], comparisons=[comparison(winner="A"), comparison(winner="B")]),
    questions=wide(q2="clear"),
)
COMPOSITE_SPEC = RewardSpec.preset("composite")


def brevity(truth: ConversationTruth, turn_truth: TurnTruth | None, said: Prediction) -> float:
    return 1.0 if isinstance(said, Draft) and len(said.text) < 20 else 0.25


# --- what adds up to what ---------------------------------------------------------------------------------


@settings(max_examples=25)
@given(scored(), st.sets(st.sampled_from(STAGES)))
def test_the_rewards_of_some_stages_sum_to_the_partial_composite(
    pair: tuple[Conversation, ConversationPrediction], asked: set[Stage]
) -> None:
    about, said = pair
    part = ConversationPrediction(said.conversation_id, said.turns, said.reflect, frozenset(STAGES) - asked)
    scores = score_conversation(about, part)
    total = scores["composite_partial"] if "composite_partial" in scores else scores["composite_strict"]
    found = paid(about, said, RewardSpec.preset("composite"), tuple(sorted(asked)))
    assert found == pytest.approx((total or 0.0) / 100, abs=1e-12)


# --- one request --------------------------------------------------------------------------------------------


def test_a_requests_value_is_the_weighted_mean_of_its_parts() -> None:
    said = Assess((Tag("Upset"), Tag("Wistful")), {"B1": "yes", "B2": "yes"}, {"B1": "yes", "B2": "no"})
    found = score_request(ABOUT, "assess", 1, said, RewardSpec.preset("composite"))
    assert found.parts == pytest.approx(
        {"emotion_f1": 2 / 3, "emotion_va": 0.5, "binary_om": 0.5, "binary_hp": 1.0}
    )
    # weights: emotion .12 each over 2 turns: .06, .06; binary .1225 each in this turn alone
    assert found.weight == pytest.approx(0.365)
    assert found.reward == pytest.approx(0.06 * 2 / 3 + 0.06 / 2 + 0.1225 / 2 + 0.1225)
    assert found.value == pytest.approx(found.reward / 0.365)
    assert found.reason == "ok"


@pytest.mark.parametrize(("stage", "number"), [("draft", 1), ("assess_hp", 1), ("prefer", 1)])
def test_a_request_that_nothing_scores_has_no_value(stage: Stage, number: int) -> None:
    found = score_request(ABOUT, stage, number, None, RewardSpec.preset("composite"), reason="unparsed:empty")
    assert (found.value, found.reason, found.reward, found.weight) == (None, "not_scored", 0.0, 0.0)


def test_a_prediction_of_another_stage_is_a_bug() -> None:
    with pytest.raises(TypeError, match="stage assess expects Assess, got Prefer"):
        score_request(ABOUT, "assess", 1, Prefer({}), RewardSpec.preset("composite"))


# --- building on a spec -------------------------------------------------------------------------------------


def test_weighted_parts_share_by_weight() -> None:
    spec = RewardSpec.weighted("mine", {"emotion_va": 2, "pairwise": 1, "q3": 5})
    weights = {(slot.part, slot.turn): weight for slot, weight in spec.weights(truth_of(ABOUT)).items()}
    # q3 is not annotated: its weight goes to the others; two turns have tags
    assert weights == pytest.approx(
        {("emotion_va", 1): 1 / 3, ("emotion_va", 2): 1 / 3, ("pairwise", 2): 1 / 3}
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_part_of_ones_own_weighs_beside_all_the_others(name: str) -> None:
    spec = RewardSpec.preset(name).with_part("brevity", "draft", brevity, 0.25)
    weights = {(slot.part, slot.turn): w for slot, w in spec.weights(truth_of(ABOUT)).items()}
    # old parts 1, new part ¼: .2 of the whole, over two drafts
    assert weights["brevity", 1] == weights["brevity", 2] == pytest.approx(0.1)
    assert math.fsum(weights.values()) == pytest.approx(1.0)
    assert score_request(ABOUT, "draft", 1, Draft("short"), spec).value == 1.0
    assert score_request(ABOUT, "draft", 1, Draft("long " * 10), spec).value == 0.25
    assert score_request(ABOUT, "draft", 1, None, spec).value == 0.0


@pytest.mark.parametrize(("stage", "number", "said", "share"), [
    # tags and two answers to each of two questions: five fields
    ("assess", 1, Assess((), {"B1": "no", "B2": "no"}, {"B1": "no", "B2": "no"}), 1.0),
    ("assess", 1, Assess(None, {"B1": "no"}, {"B9": "no"}), 1 / 5),
    ("assess", 1, None, 0.0),
    ("prefer", 2, Prefer({0: "B"}), 1 / 2),
    ("reflect", None, Reflect(panas={"Proud": 1}, q1=(), branches={"managing": 1}), 3 / 28),  # of 20 + 4 + 4
    # changes are the answer where they were asked, whether or not items follow from them
    ("reflect", None, Reflect(panas_change={"Proud": 1, "Upset": -2}), 2 / 28),
])  # fmt: skip
def test_format_is_the_share_of_asked_fields_answered(
    stage: Stage, number: int | None, said: Prediction | None, share: float
) -> None:
    spec = RewardSpec.preset("composite").with_format(0.5)
    assert score_request(ABOUT, stage, number, said, spec).parts["format"] == pytest.approx(share)


def weighing(weight: Any) -> RewardSpec:
    return RewardSpec.weighted("w", {"q1": weight})


def measured(baseline: Any) -> RewardSpec:
    return COMPOSITE_SPEC.measured_from({"q1": baseline})


@pytest.mark.parametrize(("build", "error", "message"), [
    (lambda: RewardSpec.preset("composit"), UnknownNameError, "did you mean 'composite'"),
    (lambda: RewardSpec.preset("zzz"), UnknownNameError, "known: composite, emotion"),
    (lambda: RewardSpec.weighted("w", {"emotion_av": 1}), UnknownNameError, "did you mean 'emotion_va'"),
    (lambda: RewardSpec.weighted("w", {}), SettingsError, "at least one part"),
    (lambda: RewardSpec.weighted("w", ["pairwise"]), SettingsError, "map parts to numbers"),  # type: ignore[arg-type]
    (lambda: weighing(0), SettingsError, "weight of part 'q1' is 0"),
    (lambda: weighing(-1), SettingsError, "a number above 0"),
    (lambda: weighing(math.nan), SettingsError, "weight of part 'q1' is nan"),
    (lambda: weighing(math.inf), SettingsError, "weight of part 'q1' is inf"),
    (lambda: weighing(10**5000), SettingsError, "is int too long to show"),
    (lambda: weighing("1"), SettingsError, 'is "1"; it must be a number'),
    (lambda: weighing(True), SettingsError, "is true; it must be a number"),
    (lambda: RewardSpec("n", Node("q1", None)), SettingsError, "is null; it must be a number"),  # type: ignore[arg-type]
    (lambda: RewardSpec("n", Node("q1", 1e308)), SettingsError, r"is 1e\+308; it must be"),
    (lambda: COMPOSITE_SPEC.with_format(10**400), SettingsError, "weight of part 'format'"),
    (lambda: COMPOSITE_SPEC.with_format(0), SettingsError, "weight of part 'format' is 0"),
    (lambda: COMPOSITE_SPEC.with_format(1).with_format(1), SettingsError, "already a part named 'format'"),
    (lambda: COMPOSITE_SPEC.with_part("q1", "draft", brevity, 1), SettingsError, "already a part named 'q1'"),
    (lambda: measured(1.0), SettingsError, r"a number in \[0, 1\)"),
    (lambda: measured(10**400), SettingsError, "baseline of part 'q1' is 1000"),
    (lambda: measured("0"), SettingsError, "baseline of part 'q1'"),
    (lambda: measured(-0.1), SettingsError, "baseline of part 'q1'"),
    (lambda: COMPOSITE_SPEC.measured_from({}, left_out=LEAVES), SettingsError, "every part"),
    (lambda: replace(COMPOSITE_SPEC, floor=0.1), SettingsError, "floor is 0.1; it must be a number"),
])  # fmt: skip
def test_settings_that_cannot_be_are_refused(
    build: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build()


# --- measured from nulls ------------------------------------------------------------------------------------

NULLS = {"binary_om": 0.5, "q1": 0.2, "q2": 0.96}


@pytest.mark.parametrize(("part", "score", "value"), [
    ("binary_om", 0.5, 0.0),  # the prior earns 0
    ("binary_om", 1.0, 1.0),  # gold earns 1
    ("binary_om", 0.75, 0.5),
    ("binary_om", 0.0, -1.0),  # (0 - .5)/.5, not clamped
    ("q1", 0.0, -0.25),  # -.2/.8
    ("pairwise", 0.3, 0.3),  # a part without a null
])  # fmt: skip
def test_scores_are_measured_from_the_null(part: str, score: float, value: float) -> None:
    assert skill_spec(NULLS, "ref").transform(part, score) == pytest.approx(value, abs=1e-12)


def test_a_part_on_which_the_prior_is_nearly_perfect_is_left_out() -> None:
    spec = skill_spec(NULLS, "ref")
    assert spec.left_out == ("q2",)
    assert "q2" not in spec.parts
    assert "q2" not in {slot.part for slot in spec.weights(truth_of(ABOUT))}
    assert (spec.reference, spec.baselines) == ("ref", {"binary_om": 0.5, "q1": 0.2})
