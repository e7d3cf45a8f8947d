"""The dial: named levels, what they turn, and what is no level."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import SettingsError, UnknownNameError
from attune_data.simulate import LEVELS, Level, Simulation
from attune_data.simulate.conversation import LatentState
from attune_data.simulate.levels import level_of
from tests.data.simulate.worlds import ALL_LEVELS

SHARES = st.floats(0, 1)
LEVEL = st.builds(
    Level,
    st.text(max_size=9), SHARES, SHARES, SHARES, SHARES,
    gain=st.floats(0, 20),
    wish_noise=st.floats(0.05, 5),
    judgement=st.floats(0, 5),
    turns=st.tuples(st.integers(1, 3), st.integers(3, 5)),
)  # fmt: skip


@cache
def states(level: str) -> tuple[LatentState, ...]:
    world = Simulation(21, level=level)
    return tuple(world.with_state(i)[1] for i in range(150))


# --- names -------------------------------------------------------------------------------------------


def test_five_levels_from_the_easiest_to_the_hardest() -> None:
    assert ALL_LEVELS == ("plain", "clear", "default", "blunted", "tangled")
    assert all(level.name == name for name, level in LEVELS.items())
    assert LEVELS["default"] == Level()
    for easier, harder in pairwise(ALL_LEVELS):
        one, other = LEVELS[easier], LEVELS[harder]
        assert one.clarity > other.clarity
        assert one.leak < other.leak
        assert one.mixed < other.mixed
        assert one.gain >= other.gain
        assert one.judgement >= other.judgement
        assert one.wish_noise <= other.wish_noise
        assert one.turns <= other.turns


def test_a_level_by_name_or_of_ones_own() -> None:
    own = replace(LEVELS["plain"], gain=1.0)
    assert level_of(own) is own
    assert level_of("clear") is LEVELS["clear"]
    assert Simulation(level=own).level is own
    assert Simulation().level == Level()


@pytest.mark.parametrize(("name", "hint"), [("plian", "plain"), ("tangle", "tangled"), ("Clear", "clear")])
def test_unknown_names_come_with_a_suggestion(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{hint}'"):
        level_of(name)


def test_equal_levels_are_one_world() -> None:
    asked: Any = {"gain": 3, "turns": [4, 7]}  # 3 as 3.0, a list as a tuple
    same = Level(**asked)
    assert same == Level()
    assert hash(same) == hash(Level())
    assert Simulation(5, level=same).record(0) == Simulation(5).record(0)


@given(level=LEVEL)
def test_what_is_described_says_everything(level: Level) -> None:
    told = level.describe()
    assert list(told) == [field.name for field in fields(Level)]
    back = json.loads(json.dumps(told))
    assert Level(**back | {"turns": tuple(back["turns"])}) == level


# --- what is no level --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clarity", "blunt", "leak", "mixed"])
@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf])
def test_probabilities_lie_between_0_and_1(name: str, value: float) -> None:
    asked: Any = {name: value}
    with pytest.raises(SettingsError) as caught:
        Level(**asked)
    assert str(caught.value) == f"{name} of a level is {value}; it must be a number from 0 to 1"


@pytest.mark.parametrize("asked", [
    {"gain": -1}, {"gain": math.nan}, {"gain": math.inf}, {"judgement": -0.1}, {"judgement": math.nan},
    {"wish_noise": 0}, {"wish_noise": -1}, {"wish_noise": math.inf},
    {"clarity": "much"}, {"gain": None},
])  # fmt: skip
def test_steepness_and_noise_are_finite_and_not_negative(asked: Any) -> None:
    with pytest.raises(
        SettingsError, match=r"of a level is .*; it must be (a number from 0 to (1|inf)|above 0)"
    ):
        Level(**asked)


@pytest.mark.parametrize("turns", [(0, 3), (4, 3), (3, 21), (1.0, 2), (True, 2), (3,), (1, 2, 3), 5])
def test_turns_are_two_whole_numbers_in_order(turns: Any) -> None:
    with pytest.raises(SettingsError, match="two whole numbers, 1 ≤ fewest ≤ most ≤ 20"):
        Level(turns=turns)


@given(level=LEVEL, index=st.integers(0, 10**6))
def test_every_level_makes_conversations(level: Level, index: int) -> None:
    record, state = Simulation(0, level=level).with_state(index)
    assert level.turns[0] <= len(record["turns"]) == len(state.turns) <= level.turns[1]
    for turn in state.turns:
        chances = [*turn.observed.values(), *turn.preferred.values()]
        chances += [comparison.probability_a for comparison in turn.comparisons]
        assert all(0 <= chance <= 1 for chance in chances)


@pytest.mark.parametrize(("level", "shown", "tags"), [
    (Level(clarity=1, blunt=0, leak=0, mixed=0), "always", 1),
    (Level(clarity=0, blunt=1, leak=0, mixed=1), "never", 2),
])  # fmt: skip
def test_the_ends_of_the_dial(level: Level, shown: str, tags: int) -> None:
    # clarity 1, leak 0: a feeling shows exactly where one shifted; clarity 0, leak 0: never
    for index in range(30):
        for turn in Simulation(1, level=level).with_state(index)[1].turns:
            assert bool(turn.shown) == (bool(turn.mood.tags) if shown == "always" else False)
            assert len(turn.mood.tags) in (0, tags)


def test_no_gain_is_a_coin() -> None:
    for turn in Simulation(1, level=Level(gain=0, judgement=0)).with_state(0)[1].turns:
        assert {comparison.probability_a for comparison in turn.comparisons} == {0.5}
        assert {chance for chance in turn.observed.values() if 0 < chance < 1} == {0.5}


# --- what the dial turns -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_conversations_are_as_long_as_the_level_says(name: str) -> None:
    low, high = LEVELS[name].turns
    assert {len(state.turns) for state in states(name)} == set(range(low, high + 1))


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_feelings_show_as_often_as_the_level_says(name: str) -> None:
    level = LEVELS[name]
    for diagnosed, wanted in ((False, level.clarity), (True, level.clarity - level.blunt)):
        shown = [
            bool(turn.shown)
            for state in states(name) if state.person.diagnosed == diagnosed
            for turn in state.turns if turn.mood.tags
        ]  # fmt: skip
        assert abs(fmean(shown) - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / len(shown))
    leaked = [bool(turn.shown) for state in states(name) for turn in state.turns if not turn.mood.tags]
    assert abs(fmean(leaked) - level.leak) < 4 * math.sqrt(level.leak * (1 - level.leak) / len(leaked))


@pytest.mark.parametrize("name", ALL_LEVELS)
def test_second_feelings_come_as_often_as_the_level_says(name: str) -> None:
    two = [len(turn.mood.tags) > 1 for state in states(name) for turn in state.turns if turn.mood.tags]
    mixed = LEVELS[name].mixed
    assert abs(fmean(two) - mixed) < 4 * math.sqrt(mixed * (1 - mixed) / len(two))


def test_harder_levels_are_harder_to_foresee() -> None:
    def certainty(name: str) -> tuple[float, float, float]:
        turns = [turn for state in states(name) for turn in state.turns]
        judged = [p for turn in turns for p in turn.observed.values() if 0 < p < 1]
        wanted = [p for turn in turns for p in turn.preferred.values()]
        chosen = [c.probability_a for turn in turns for c in turn.comparisons]
        best = [fmean(max(p, 1 - p) for p in some) for some in (judged, wanted, chosen)]
        return best[0], best[1], best[2]

    plain, default, tangled = map(certainty, ("plain", "default", "tangled"))
    assert all(one > other + 0.02 for one, other in zip(plain, default, strict=True))
    assert all(one > other + 0.02 for one, other in zip(default, tangled, strict=True))
