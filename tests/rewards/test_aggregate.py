"""Means, standard errors and z-scores over conversations: worked by hand."""

from __future__ import annotations

import math

import pytest

from attune_rewards import aggregate, flatten, score_conversation
from attune_rewards.metrics.aggregate import standard_error
from attune_rewards.metrics.binary import confusion
from tests.rewards.builders import Json, conversation, gold, turn, wide


def scores(model: str, composite: float | None, mode: str = "default", **more: float | None) -> Json:
    return {"conversationId": "c", "em_model": model, "mode": mode, "composite_score": composite, **more}


@pytest.mark.parametrize(("values", "error"), [
    ([], None),
    ([3.0], None),  # undefined for n = 1
    ([3.0, None], None),
    ([2.0, 4.0], 1.0),  # variance (1 + 1)/1 = 2; √(2/2)
    ([1.0, 2.0, 3.0], 1 / math.sqrt(3)),  # variance (1 + 0 + 1)/2 = 1
    ([1.0, None, 2.0, 3.0], 1 / math.sqrt(3)),
    ([5.0, 5.0, 5.0, 5.0], 0.0),
    ([0.0, 0.0, 0.0, 8.0], 2.0),  # variance (3 · 4 + 36)/3 = 16; √(16/4)
])  # fmt: skip
def test_standard_error(values: list[float | None], error: float | None) -> None:
    assert standard_error(values) == pytest.approx(error)


def test_means_leave_undefined_values_out() -> None:
    (entry,) = aggregate(
        [scores("m", 10.0, x=1.0, y=None), scores("m", 20.0, x=None, y=None), scores("m", 60.0, x=4.0)]
    )
    assert entry["n_conversations"] == 3
    assert entry["composite_score"] == 30.0
    assert (entry["x"], entry["y"]) == (2.5, None)
    assert entry["n_defined"] == {"composite_score": 3, "x": 2, "y": 0}
    # composite: (400 + 100 + 900)/2 = 700, √(700/3); x: (2.25 + 2.25)/1 = 4.5, √(4.5/2) = 1.5
    assert entry["se_composite"] == pytest.approx(math.sqrt(700 / 3))
    assert entry["standard_errors"] == pytest.approx(
        {"composite_score": math.sqrt(700 / 3), "x": 1.5, "y": None}
    )


def test_z_scores_of_three_models() -> None:
    # 10, 20, 60: mean 30, sd √((400 + 100 + 900)/2) = √700
    entries = aggregate([scores("a", 10.0), scores("b", 20.0), scores("c", 60.0)])
    found = [entry["z_score"] for entry in entries]
    assert found == pytest.approx([-20 / math.sqrt(700), -10 / math.sqrt(700), 30 / math.sqrt(700)])


def test_yes_no_counts_are_added_up_and_their_ratios_follow() -> None:
    counts = [confusion(tp=9, tn=0, fp=1, fn=0), confusion(tp=0, tn=1, fp=1, fn=2)]
    name = "pooled_binary_om_metrics"
    entries = [*(one for one in counts), None]
    (entry,) = aggregate([{**scores("m", 50.0), name: one} for one in entries])
    whole = confusion(tp=9, tn=1, fp=2, fn=2)  # not 4.5, 0.5, 1 and 1
    assert {ratio: entry[f"{name}.{ratio}"] for ratio in whole} == whole
    assert entry[f"{name}.accuracy"] == pytest.approx(10 / 14)  # and not the mean of 9/10 and 1/4
    assert entry["n_defined"][f"{name}.tp"] == 2
    assert {entry["standard_errors"][f"{name}.{ratio}"] for ratio in whole} == {None}


def test_flatten_names_every_scalar() -> None:
    about = conversation(turn(tags=[]), questions=wide(q2="x", branches={"managing": 2}))
    found = flatten(
        {**scores("m", 1.0), **score_conversation(about, gold(about)), "attune": {"participant": "P"}}
    )
    assert found["strict_q2"] == 1.0
    assert found["strict_emotion_f1"] == 1.0
    assert found["four_branch_error_managing"] == 0
    assert found["q2_emotion_clarity_match"] == 1.0
    assert found["pooled_binary_om_metrics.accuracy"] == 0.0
    assert found["panas_baseline_adjusted"] is None
    assert not {"turn_scores", "em_model", "mode", "conversationId", "fully_annotated", "strict_parts"} & set(
        found
    )
    assert all(value is None or isinstance(value, (int, float)) for value in found.values())
