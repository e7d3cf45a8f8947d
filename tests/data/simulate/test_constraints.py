"""Labels agree with one another: the implications and `na` rules of docs/data-card.md, on what was asked.

The questions of a turn are a sample, so a rule about two of them is checked where both were asked.
"""

from __future__ import annotations

from collections import Counter

import pytest

from attune_data import Conversation
from attune_data.constants import BINARY_IDS, PAIRWISE_IDS, Q3_NEGATIVE, Q3_OPTIONS, RESPONSES
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.validate import conversation_from, oddities
from tests.data.simulate.worlds import ALL_LEVELS, Json, answers, of_all_levels, records, turns

pytestmark = pytest.mark.slow  # statistical: hundreds of conversations of each level

COUNT = 100
RISK = 300
"""Conversations of each level for questions about risk, of which there is some in one of forty."""
IMPLICATIONS = [
    ("B505", "B13"), ("B505", "B501"), ("B15", "B3"), ("B4", "B1"), ("B5", "B1"), ("B108", "B1"),
    ("B207", "B4"), ("B207", "B1"), ("B316", "B11"), ("B310", "B11"), ("B408", "B11"), ("B313", "B11"),
    ("B12", "B6"), ("B502", "B6"), ("B18", "B11"),
    ("B18", "B17"),
]  # fmt: skip
"""If the first is yes, so is the second."""
HAS_ITEMS = ("B7", "B6", "yes"), ("B2", "B1", "yes"), ("B17", "B18", "either"), ("B406", "B408", "either")


@pytest.fixture(scope="module", params=ALL_LEVELS)
def world(request: pytest.FixtureRequest) -> tuple[Json, ...]:
    return records(request.param, COUNT)


# --- implications ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other"), IMPLICATIONS)
def test_yes_implies_yes(one: str, other: str) -> None:
    seen: Counter[str] = Counter()
    for record, number in turns(of_all_levels(RISK if "B17" in (one, other) else COUNT)):
        said = answers(record, number)
        if said.get(one) == "yes" and other in said:
            seen[said[other]] += 1
    assert set(seen) == {"yes"}, seen  # and it did occur


@pytest.mark.parametrize(("one", "other", "when"), HAS_ITEMS)
def test_applicable_exactly_when(one: str, other: str, when: str) -> None:
    """`one` has an answer exactly when `other` is yes, or has one too."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for record, number in turns(of_all_levels(RISK if "B17" in (one, other) else COUNT)):
        said = answers(record, number)
        if one in said and other in said:
            holds = said[other] == "yes" if when == "yes" else said[other] != "na"
            seen[said[one] != "na", holds] += 1
    assert set(seen) == {(True, True), (False, False)}, seen


def test_all_judgements_are_asked_and_a_part_of_what_text_shows(world: tuple[Json, ...]) -> None:
    for record, number in turns(world):
        said = list(answers(record, number))
        assert set(CONTEXTUAL) <= set(said) <= set(BINARY_IDS)
        assert said == [construct for construct in BINARY_IDS if construct in said]  # in the usual order


def test_preferred_is_na_exactly_where_observed_is(world: tuple[Json, ...]) -> None:
    differ = same = 0
    for record, number in turns(world):
        observed, preferred = answers(record, number), answers(record, number, "preferredBehavior")
        for construct, answer in observed.items():
            assert (answer == "na") == (preferred[construct] == "na")
            differ += answer != preferred[construct]
            same += answer == preferred[construct] != "na"
    assert 0.05 < differ / (differ + same) < 0.4  # wishes are neither what was done nor unrelated to it


# --- comparisons -------------------------------------------------------------------------------------


def test_twelve_comparisons_a_turn(world: tuple[Json, ...]) -> None:
    pairs = {frozenset(pair) for pair in (RESPONSES[:2], RESPONSES[1:], RESPONSES[::2])}
    sides: Counter[str] = Counter()
    for record, number in turns(world):
        annotations = record["turns"][number]["annotations"]
        questions = ["general", *annotations["selectedPairwiseQuestions"]]
        assert len(set(questions)) == len(questions) == 4
        assert set(questions) <= set(PAIRWISE_IDS)
        comparisons = annotations["pairwiseComparisons"]
        assert len(comparisons) == 12
        asked = {(c["questionId"], frozenset((c["responseA"], c["responseB"]))) for c in comparisons}
        assert asked == {(question, pair) for question in questions for pair in pairs}
        sides.update(c["winner"] for c in comparisons)
    assert sides.keys() == {"A", "B"}
    # 12 comparisons a turn are not independent: as if there were a quarter as many, within 4 deviations
    total = sides.total()
    assert abs(sides["A"] / total - 0.5) < 4 * 0.5 / (total / 4) ** 0.5


# --- before and after --------------------------------------------------------------------------------


def test_the_follow_up_is_filled_only_after_a_bad_fit(world: tuple[Json, ...]) -> None:
    fits = set()
    for record in world:
        wide = record["conversationWideQuestions"]
        fits.add(wide["q3_modelFit"])
        off = wide["q3_followUp_whatFeltOff"]
        assert bool(off) == (wide["q3_modelFit"] in Q3_NEGATIVE)
        assert len(set(off)) == len(off)
        assert set(wide["fourBranchScores"]) == {"perceiving", "facilitating", "understanding", "managing"}
        assert all(type(n) is int and 1 <= n <= 7 for n in wide["fourBranchScores"].values())
        assert 1 <= len(wide["q1_lookingFor"]) == len(set(wide["q1_lookingFor"])) <= 2
    assert len(fits & set(Q3_OPTIONS)) == len(fits) >= 3


def total(responses: Json, names: str) -> int:
    return sum(responses[name] for name in names.split())


def test_every_record_loads_and_nothing_in_it_is_odd(world: tuple[Json, ...]) -> None:
    for number, record in enumerate(world):
        loaded = conversation_from(record, f"{number}.json")
        assert list(oddities(loaded, f"{number}.json")) == []
        assert loaded.provenance == "simulated"
        assert Conversation.model_validate(loaded.to_record()).to_record() == loaded.to_record()
        assert [turn["turnNumber"] for turn in record["turns"]] == [*range(1, len(record["turns"]) + 1)]
        assert record["metadata"]["model"].startswith("sim-")
