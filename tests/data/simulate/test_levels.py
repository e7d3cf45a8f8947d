"""The dial: named levels, what they turn, and what is no level."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from attune_data import SettingsError, UnknownNameError
from attune_data.simulate import LEVELS, Level, Simulation
from attune_data.simulate.stream import level_of

# --- names -------------------------------------------------------------------------------------------


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


# --- what is no level --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clarity", "blunt", "leak", "mixed"])
@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf])
def test_probabilities_lie_between_0_and_1(name: str, value: float) -> None:
    asked: Any = {name: value}
    with pytest.raises(SettingsError) as caught:
        Level(**asked)
    assert str(caught.value) == f"{name} of a level is {value}; it must be a number from 0 to 1"


@pytest.mark.parametrize("turns", [(0, 3), (4, 3), (3, 21), (1.0, 2), (True, 2), (3,), (1, 2, 3), 5])
def test_turns_are_two_whole_numbers_in_order(turns: Any) -> None:
    with pytest.raises(SettingsError, match="two whole numbers, 1 ≤ fewest ≤ most ≤ 20"):
        Level(turns=turns)


# --- what the dial turns -----------------------------------------------------------------------------
