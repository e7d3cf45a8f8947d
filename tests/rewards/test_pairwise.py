"""Pairwise preferences: values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data.format.constants import Side
from attune_rewards import Prefer, TurnPrediction, score_conversation
from attune_rewards.metrics import pairwise as metrics
from attune_rewards.metrics.binary import right_share
from attune_rewards.truth import truth_of
from tests.rewards.builders import comparison, conversation, prediction, turn

Picks = dict[int, Side]


def compared(*records: dict[str, Any]) -> Any:
    return truth_of(conversation(turn(comparisons=records))).turns[0]


FOUR = [comparison(winner=winner) for winner in ("A", "B", "A", None)]


@pytest.mark.parametrize(("picks", "canonical", "strict"), [
    ({0: "A", 1: "B", 2: "A", 3: "A"}, 3 / 4, 1.0),  # no winner: wrong / not counted
    ({0: "A", 1: "B", 2: "A"}, 3 / 4, 1.0),
    ({0: "A", 1: "A", 2: "A", 3: "B"}, 2 / 4, 2 / 3),
    ({0: "A"}, 1 / 4, 1 / 3),  # a missing pick is wrong
    ({}, 0.0, 0.0),
    ({3: "A"}, 0.0, 0.0),
    ({0: "A", 99: "A", -1: "A"}, 1 / 4, 1 / 3),  # an index that is no comparison does not count
])  # fmt: skip
def test_accuracy(picks: Picks, canonical: float, strict: float) -> None:
    here = compared(*FOUR)
    assert metrics.accuracy(here.comparisons, picks) == canonical
    assert right_share(here.winners, picks) == pytest.approx(strict)


def test_no_comparisons_score_1_and_are_not_scored_in_strict() -> None:
    scores = score_conversation(conversation(turn()), prediction(TurnPrediction(1, prefer=Prefer({}))))
    assert scores["turn_scores"][0]["pairwise_accuracy"] == 1.0
    assert "pairwise" not in scores["strict_parts"]


ROUND = [("original", "alternate"), ("original", "human"), ("alternate", "human")]


@pytest.mark.parametrize(("winners", "picks", "tau"), [
    # HP: human 2 wins, original 1, alternate 0 = human, original, alternate
    ("ABB", "ABB", 1.0),
    # EM: original 2, alternate 1, human 0: only original before alternate agrees: (1 - 2)/3
    ("ABB", "AAA", -1 / 3),
    # EM: alternate 2, original 1, human 0 = the reverse
    ("ABB", "BAA", -1.0),
    # HP: one win each = alphabetical: alternate, human, original; EM: original 2, human 1, alternate 0
    ("ABA", "AAB", -1.0),
    ("ABA", "ABA", 1.0),
    # EM: alternate 2, human 1, original 0 = alphabetical too
    ("ABA", "BBA", 1.0),
    # HP: no winner at all = alphabetical; EM: human 2, original 1, alternate 0:
    # alternate-human wrong, alternate-original wrong, human-original right: (1 - 2)/3
    ("---", "ABB", -1 / 3),
    # EM picks one only: alternate 1, the others 0 = alternate, human, original; HP = human, original,
    # alternate: human-original right, the other two wrong
    ("ABB", "B--", -1 / 3),
    ("ABB", "---", None),  # no pick
])  # fmt: skip
def test_kendall_tau(winners: str, picks: str, tau: float | None) -> None:
    letters: dict[str, Side] = {"A": "A", "B": "B"}
    here = compared(*(comparison(a, b, letters.get(w)) for (a, b), w in zip(ROUND, winners, strict=True)))
    chosen: Picks = {i: letters[p] for i, p in enumerate(picks) if p in letters}
    assert metrics.kendall_tau(here.comparisons, chosen) == pytest.approx(tau, abs=1e-12)


def test_tau_is_undefined_with_fewer_than_two_labels() -> None:
    assert metrics.kendall_tau(compared(comparison("original", "original")).comparisons, {0: "A"}) is None
    assert metrics.kendall_tau((), {0: "A"}) is None
