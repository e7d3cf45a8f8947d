"""Labels agree with one another: the implications and `na` rules of docs/data-card.md, on what was asked.

The questions of a turn are a sample, so a rule about two of them is checked where both were asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from attune_data import Conversation
from attune_data.constants import BINARY_IDS, PAIRWISE_IDS, Q3_NEGATIVE, RESPONSES
from attune_data.simulate import LEVELS, Simulation, messages
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.validate import conversation_from, oddities

pytestmark = pytest.mark.slow  # statistical: hundreds of conversations of each level

Json = dict[str, Any]
COUNT = 100
RISKY = 20
"""Conversations of each level for questions about risk, which one opening in forty tells by itself."""
IMPLICATIONS = [
    ("B505", "B13"), ("B505", "B501"), ("B15", "B3"), ("B4", "B1"), ("B5", "B1"), ("B108", "B1"),
    ("B207", "B4"), ("B207", "B1"), ("B316", "B11"), ("B310", "B11"), ("B408", "B11"), ("B313", "B11"),
    ("B502", "B6"), ("B503", "B6"), ("B311", "B315"), ("B18", "B11"), ("B18", "B17"),
]  # fmt: skip
"""If the first is yes, so is the second."""
HAS_ITEMS = ("B7", "B6", "yes"), ("B2", "B1", "yes"), ("B17", "B18", "either"), ("B406", "B408", "either")


@cache
def record(level: str, index: int) -> Json:
    return Simulation(11, level=level).record(index)


@cache
def risky() -> list[Json]:
    """Records of every level in which each opening out of a bad mood tells a risk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "RISK", 1.0)
        return [Simulation(11, level=level).record(index) for level in LEVELS for index in range(RISKY)]


@pytest.fixture(params=LEVELS)
def world(request: pytest.FixtureRequest) -> list[Json]:
    return [record(request.param, index) for index in range(COUNT)]


def answers(turn: Json, field: str = "observedBehavior") -> dict[str, str]:
    """Question -> answer, of those that were asked in a turn."""
    judgements = turn["annotations"]["binaryJudgements"]
    found = {judgement["questionId"]: judgement[field] for judgement in judgements}
    assert len(found) == len(judgements)
    return found


def both_asked(one: str, other: str) -> Iterator[tuple[str, str]]:
    """The answers to two questions wherever both were asked, at every level."""
    everything = (record(level, index) for level in LEVELS for index in range(COUNT))
    for found in risky() if "B17" in (one, other) else everything:
        for turn in found["turns"]:
            said = answers(turn)
            if one in said and other in said:
                yield said[one], said[other]


@pytest.mark.parametrize(("one", "other"), IMPLICATIONS)
def test_yes_implies_yes(one: str, other: str) -> None:
    assert {second for first, second in both_asked(one, other) if first == "yes"} == {"yes"}


@pytest.mark.parametrize(("one", "other", "when"), HAS_ITEMS)
def test_applicable_exactly_when(one: str, other: str, when: str) -> None:
    """`one` has an answer exactly when `other` is yes, or has one too."""
    seen = {
        (first != "na", second == "yes" if when == "yes" else second != "na")
        for first, second in both_asked(one, other)
    }
    assert seen == {(True, True), (False, False)}


def test_all_judgements_are_asked_and_preferred_is_na_exactly_where_observed_is(world: list[Json]) -> None:
    differ = same = 0
    for turn in (turn for one in world for turn in one["turns"]):
        observed, preferred = answers(turn), answers(turn, "preferredBehavior")
        assert set(CONTEXTUAL) <= set(observed)
        assert list(observed) == [construct for construct in BINARY_IDS if construct in observed]
        for construct, answer in observed.items():
            assert (answer == "na") == (preferred[construct] == "na")
            differ += answer != preferred[construct]
            same += answer == preferred[construct] != "na"
    assert 0.05 < differ / (differ + same) < 0.4  # wishes are neither what was done nor unrelated to it


def test_twelve_comparisons_a_turn(world: list[Json]) -> None:
    pairs = {frozenset(pair) for pair in (RESPONSES[:2], RESPONSES[1:], RESPONSES[::2])}
    sides: Counter[str] = Counter()
    for turn in (turn for one in world for turn in one["turns"]):
        annotations = turn["annotations"]
        questions = ["general", *annotations["selectedPairwiseQuestions"]]
        assert len(set(questions)) == len(questions) == 4
        assert set(questions) <= set(PAIRWISE_IDS)
        comparisons = annotations["pairwiseComparisons"]
        asked = [(c["questionId"], frozenset((c["responseA"], c["responseB"]))) for c in comparisons]
        assert len(asked) == 12
        assert set(asked) == {(question, pair) for question in questions for pair in pairs}
        sides.update(c["winner"] for c in comparisons)
    assert sides.keys() == {"A", "B"}
    # 12 comparisons a turn are not independent: as if there were a quarter as many, within 4 deviations
    total = sides.total()
    assert abs(sides["A"] / total - 0.5) < 4 * 0.5 / (total / 4) ** 0.5


def test_the_follow_up_is_filled_only_after_a_bad_fit(world: list[Json]) -> None:
    fits = set()
    for wide in (one["conversationWideQuestions"] for one in world):
        fits.add(wide["q3_modelFit"])
        off = wide["q3_followUp_whatFeltOff"]
        assert bool(off) == (wide["q3_modelFit"] in Q3_NEGATIVE)
        assert len(set(off)) == len(off)
        assert 1 <= len(wide["q1_lookingFor"]) == len(set(wide["q1_lookingFor"])) <= 2
    assert len(fits) >= 3


def test_every_record_loads_and_nothing_in_it_is_odd(world: list[Json]) -> None:
    for number, one in enumerate(world):
        loaded = conversation_from(one, f"{number}.json")
        assert list(oddities(loaded, f"{number}.json")) == []
        assert loaded.provenance == "simulated"
        assert Conversation.model_validate(loaded.to_record()).to_record() == loaded.to_record()
        assert [turn["turnNumber"] for turn in one["turns"]] == [*range(1, len(one["turns"]) + 1)]
        assert one["metadata"]["model"].startswith("sim-")
