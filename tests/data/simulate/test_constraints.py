"""Labels agree with one another: the implications and `na` rules of docs/data-card.md, on what was asked.

The questions of a turn are a sample, so a rule about two of them is checked where both were asked.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from typing import Any

import pytest

from attune_data import Conversation
from attune_data.constants import BINARY_IDS, PAIRWISE_IDS, Q3_NEGATIVE, Q3_OPTIONS, RESPONSES
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.simulate.texts import TEXT
from attune_data.validate import conversation_from, oddities
from tests.data.simulate import surface
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
NA_IN_TURN_1 = ("B5", "B16", "B406", "B408")
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


def test_the_first_turn_has_nothing_to_look_back_on() -> None:
    first: Counter[str] = Counter()
    for record in of_all_levels(COUNT):
        said = answers(record, 0)
        first.update(said[construct] for construct in NA_IN_TURN_1 if construct in said)
    assert set(first) == {"na"}


def test_the_central_feeling_is_asked_for_when_two_are_tagged(world: tuple[Json, ...]) -> None:
    # B109: na on fewer than two tags, and only then; B4 too, but a reply may name two where one is felt
    for record, number in turns(world):
        said, two = answers(record, number), len(record["turns"][number]["moodShiftTags"]) > 1
        assert (said["B109"] != "na") == two
        if said.get("B4") in ("na", "no"):
            assert (said["B4"] == "no") == two


def test_a_change_of_approach_is_asked_for_after_a_reaction_only() -> None:
    raw = tomllib.loads((TEXT / "person.toml").read_text("utf-8"))["reactions"]
    reactions = re.compile(
        "|".join(surface.as_pattern(entry) for kind in ("good", "bad") for entry in raw[kind]),
        re.IGNORECASE,
    )
    seen: Counter[tuple[bool, bool]] = Counter()
    for record, number in turns(of_all_levels(COUNT)):
        message, answer = record["turns"][number]["userMessage"], answers(record, number).get("B16")
        if answer is not None and number > 0:
            seen[answer != "na", bool(reactions.match(message))] += 1
    # typing (short forms, slips) hides one reaction in ten; where one can be read, the question applies
    assert seen[False, True] == 0
    assert seen[True, True] > 5 * seen[True, False] > 0
    assert seen[False, False] > 0


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


def test_risk_is_asked_about_where_there_is_some() -> None:
    # PW12 is about risk; it is not chosen where B17 is na
    seen: Counter[tuple[bool, bool]] = Counter()
    for record, number in turns(of_all_levels(COUNT)):
        chosen = record["turns"][number]["annotations"]["selectedPairwiseQuestions"]
        answer = answers(record, number).get("B17") or answers(record, number).get("B18")
        if answer is not None:
            seen[answer != "na", "PW12" in chosen] += 1
    assert seen[False, True] == 0
    assert seen[True, True] > 0


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


def test_panas_totals_are_sums_of_answers_from_1_to_7(world: tuple[Json, ...]) -> None:
    pleasant = "proud alert inspired determined attentive active excited strong enthusiastic interested"
    unpleasant = "irritable ashamed nervous jittery distressed afraid upset guilty scared hostile"
    for record in world:
        for when in ("prePanas", "postPanas"):
            panas: Any = record[when]
            assert set(panas["responses"]) == {*pleasant.split(), *unpleasant.split()}
            assert all(type(n) is int and 1 <= n <= 7 for n in panas["responses"].values())
            assert panas["totalPositiveAffect"] == total(panas["responses"], pleasant)
            assert panas["totalNegativeAffect"] == total(panas["responses"], unpleasant)


def test_every_record_loads_and_nothing_in_it_is_odd(world: tuple[Json, ...]) -> None:
    for number, record in enumerate(world):
        loaded = conversation_from(record, f"{number}.json")
        assert list(oddities(loaded, f"{number}.json")) == []
        assert loaded.provenance == "simulated"
        assert Conversation.model_validate(loaded.to_record()).to_record() == loaded.to_record()
        assert [turn["turnNumber"] for turn in record["turns"]] == [*range(1, len(record["turns"]) + 1)]
        assert record["metadata"]["model"].startswith("sim-")
