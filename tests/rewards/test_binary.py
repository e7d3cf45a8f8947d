"""Yes/no judgements: values worked by hand."""

from __future__ import annotations

import math

import pytest

from attune_rewards import Assess, AssessHP, TurnPrediction, score_conversation
from attune_rewards.metrics import binary as metrics
from attune_rewards.metrics.binary import confusion
from attune_rewards.predictions import YesNo
from tests.rewards.builders import conversation, judgement, prediction, turn

Pairs = list[tuple[str, YesNo]]
TRUTH: Pairs = [("B1", "yes"), ("B2", "no"), ("B3", "yes"), ("B4", "no")]


@pytest.mark.parametrize(("answers", "canonical", "strict"), [
    ({"B1": "yes", "B2": "no", "B3": "yes", "B4": "no"}, 1.0, 1.0),
    ({"B1": "no", "B2": "yes", "B3": "no", "B4": "yes"}, 0.0, 0.0),
    ({"B1": "yes", "B2": "yes", "B3": "no", "B4": "no"}, 0.5, 0.5),
    ({}, 0.5, 0.0),  # silence is "no" to everything in the canonical reading, wrong in the strict one
    ({"B1": "yes", "B4": "no"}, 0.75, 0.5),  # B2 missing = no = right; B3 missing = no = wrong
    ({"B1": "na", "B2": "na", "B3": "na", "B4": "na"}, 0.5, 0.0),  # `na` counts as "no" / as wrong
    ({"B1": "yes", "B99": "yes"}, 0.75, 0.25),  # what was not asked does not count
])  # fmt: skip
def test_accuracy(answers: dict[str, str], canonical: float, strict: float) -> None:
    assert metrics.accuracy(TRUTH, answers) == canonical
    assert metrics.right_share(TRUTH, answers) == strict


def test_the_gaps() -> None:
    about = conversation(turn(judgements=[judgement("B1", "yes", "no"), judgement("B2", "no", "no")]))
    said = prediction(
        TurnPrediction(
            1,
            assess=Assess((), {"B1": "yes", "B2": "no"}, {"B1": "yes", "B2": "no"}),
            assess_hp=AssessHP({"B1": "no"}, {"B1": "no"}),
        )
    )
    scores = score_conversation(about, said)
    assert scores["avg_binary_om_accuracy"] == 1.0
    assert scores["avg_binary_human_accuracy"] == 0.5  # B1 wrong, B2 right
    assert scores["avg_binary_om_accuracy_hp"] == 0.5  # B1 wrong; B2 missing = no = right
    assert scores["avg_binary_human_accuracy_hp"] == 1.0
    assert scores["perspective_gap_om_hp"] == 0.5  # 1 - .5
    assert scores["hp_perspective_gap"] == -0.5  # .5 - 1


def test_counts_are_pooled_over_the_turns_that_the_result_holds() -> None:
    about = conversation(
        turn(1, judgements=[judgement("B1", "yes"), judgement("B2", "no"), judgement("B3", "yes")]),
        turn(2, judgements=[judgement("B1", "no")]),
        turn(3, judgements=[judgement("B1", "yes")]),  # absent from the result: skipped
    )
    said = prediction(
        TurnPrediction(1, assess=Assess((), {"B1": "yes", "B2": "yes", "B3": "yes"})), TurnPrediction(2)
    )
    # yes/yes, no/yes, yes/yes; no/missing = no
    pooled = score_conversation(about, said)["pooled_binary_om_metrics"]
    assert {name: pooled[name] for name in ("tp", "tn", "fp", "fn")} == {"tp": 2, "tn": 1, "fp": 1, "fn": 0}
    assert pooled["accuracy"] == 3 / 4
    assert pooled["precision"] == pytest.approx(2 / 3)
    assert pooled["recall"] == 1.0
    assert pooled["f1"] == pytest.approx(0.8)  # 2 · ⅔ / 1⅔
    assert pooled["mcc"] == pytest.approx(2 / math.sqrt(12))  # (2·1 - 1·0)/√(3·2·2·1)


@pytest.mark.parametrize(("counts", "values"), [
    # accuracy, precision, recall, F1, MCC
    (confusion(0, 0, 0, 0), (0, 0, 0, 0, 0)),
    (confusion(1, 1, 1, 1), (1 / 2, 1 / 2, 1 / 2, 1 / 2, 0)),  # (1 - 1)/√16
    (confusion(tp=0, tn=5, fp=0, fn=0), (1, 0, 0, 0, 0)),  # no yes anywhere: empty margins
    (confusion(tp=3, tn=2, fp=0, fn=0), (1, 1, 1, 1, 1)),
    (confusion(tp=0, tn=0, fp=2, fn=3), (0, 0, 0, 0, -1)),  # (0 - 6)/√(2·3·2·3)
    (confusion(tp=1, tn=4, fp=1, fn=0), (5 / 6, 1 / 2, 1, 2 / 3, 4 / math.sqrt(40))),  # √(2·1·5·4)
])  # fmt: skip
def test_confusion(counts: dict[str, float], values: tuple[float, ...]) -> None:
    assert list(counts.values())[4:] == pytest.approx(values, abs=1e-12)
