"""Item i of a seed is the same on every machine and in every process, whatever was made before it; levels."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import SettingsError, UnknownNameError
from attune_data.simulate import LEVELS, Level, Simulation
from attune_data.simulate.stream import level_of
from tests import PATIENCE

ALL_LEVELS = tuple(LEVELS)
PRINTS = """
import sys
from attune_data.simulate import Simulation
for level in sys.argv[1:]:
    for conversation in Simulation(3, level=level).take(6):
        sys.stdout.buffer.write(conversation.model_dump_json(by_alias=True).encode() + b"\\n")
"""
WORLDS = st.builds(
    Simulation,
    st.integers(),
    level=st.sampled_from(ALL_LEVELS),
    topics=st.sampled_from(["all", "seen", "unseen"]),
    templates=st.sampled_from(["all", "seen", "unseen"]),
    start=st.integers(0, 10**6),
    step=st.integers(1, 50),
)
few = settings(max_examples=20, deadline=None)


def ids(world: Simulation, number: int = 12) -> list[str]:
    return [world.record(i)["conversationId"] for i in range(number)]


# --- the same ----------------------------------------------------------------------------------------


@pytest.mark.slow
@few
@given(world=WORLDS, before=st.lists(st.integers(0, 10**9), max_size=3), index=st.integers(0, 10**9))
def test_an_item_does_not_depend_on_what_was_made_before(
    world: Simulation, before: list[int], index: int
) -> None:
    fresh = Simulation(world.seed, level=world.level, topics=world.topics, templates=world.templates)
    wanted = json.dumps(fresh.record(index))
    for other in before:
        world.record(other)
    assert json.dumps(world.record(index)) == wanted


def test_workers_share_a_stream_out() -> None:
    whole = ids(Simulation(4), 6)
    parts = [[c.conversation_id for c in Simulation(4, start=rank, step=3).take(2)] for rank in range(3)]
    assert [one for row in zip(*parts, strict=True) for one in row] == whole


# --- different ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_setting_of_a_world_changes_its_conversations() -> None:
    worlds = [
        Simulation(0), Simulation(1), Simulation(-1),
        *(Simulation(0, level=level) for level in LEVELS if level != "default"),
        Simulation(0, topics="seen"), Simulation(0, topics="unseen"), Simulation(0, templates="seen"),
        Simulation(0, templates="unseen"), Simulation(0, level=Level(gain=3.5)),
    ]  # fmt: skip
    found = [one for world in worlds for one in ids(world)]
    assert len(set(found)) == len(found) == 12 * len(worlds)
    assert all(one.startswith("sim-") and len(one) == 24 for one in found)
    messages = [world.record(0)["turns"][0]["userMessage"] for world in worlds]
    assert len(set(messages)) == len(messages)


# --- people ------------------------------------------------------------------------------------------


def test_worlds_are_equal_where_all_settings_are() -> None:
    others = [Simulation(4), Simulation(3, level="plain"), Simulation(3, topics="seen"),
              Simulation(3, templates="seen"), Simulation(3, start=1), Simulation(3, step=2)]  # fmt: skip
    assert Simulation(3) == Simulation(3, level="default")
    assert len({Simulation(3), Simulation(3), *others}) == 1 + len(others)
    assert Simulation(3) != 3


def test_six_conversations_belong_to_four_people() -> None:
    # one, two, one, two: 0 | 1 1 | 2 | 3 3 | 4 | 5 5 | …
    found = [Simulation(6).person(i).participant_id for i in range(24)]
    runs = [len(list(run)) for _, run in itertools.groupby(found)]
    assert runs == [1, 2, 1, 2] * 4
    assert len(set(found)) == 16


def test_a_person_is_the_same_at_every_level_and_in_every_part() -> None:
    profiles = set()
    for world in (*(Simulation(6, level=level) for level in LEVELS), Simulation(6, topics="seen", start=3)):
        record = world.record(1)["participant_profile"]
        assert record["participant_id"] == world.record(2)["participant_profile"]["participant_id"]
        del record["conversation_topic_attitude"]
        profiles.add(json.dumps(record))
        assert [world.person(i) for i in range(12)] == [Simulation(6).person(i) for i in range(12)]
    assert len(profiles) == 1


# --- other processes, other interpreters -------------------------------------------------------------


@pytest.mark.slow
def test_bytes_do_not_depend_on_hash_seed_locale_or_time_zone() -> None:
    surroundings = [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONUTF8": "0"},
    ]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PRINTS, *ALL_LEVELS], env={**os.environ, **environment},
            check=True, capture_output=True, timeout=PATIENCE,
        ).stdout
        for environment in surroundings
    ]  # fmt: skip
    assert outputs[0] == outputs[1]
    lines = outputs[0].splitlines()
    assert len(lines) == 6 * len(ALL_LEVELS)
    here = [Simulation(3, level=level)[i] for level in ALL_LEVELS for i in range(6)]
    assert [json.loads(line) for line in lines] == [c.model_dump(mode="json", by_alias=True) for c in here]


# --- refusals, levels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["topics", "templates"])
def test_unknown_parts_are_named_with_a_suggestion(kind: str) -> None:
    asked: Any = {kind: "unsen"}
    with pytest.raises(UnknownNameError) as caught:
        Simulation(**asked)
    assert str(caught.value) == (
        f"no part of {kind} named \"unsen\"; did you mean 'unseen'? known: all, seen, unseen"
    )


@pytest.mark.parametrize(("asked", "said"), [
    ({"seed": 1.0}, "seed is 1.0; it must be a whole number"),
    ({"start": -1}, "start is -1 and step 1; expected whole numbers from 0 and from 1"),
    ({"step": 0}, "start is 0 and step 0; expected whole numbers from 0 and from 1"),
])  # fmt: skip
def test_worlds_that_cannot_be(asked: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Simulation(**asked)


@pytest.mark.parametrize("index", [-1, 1.0, True])
def test_an_index_is_a_whole_number_from_0(index: Any) -> None:
    with pytest.raises(SettingsError, match="a whole number"):
        Simulation()[index]
    with pytest.raises(SettingsError, match="number of conversations is"):
        Simulation().take(index if index is not True else 0)


def test_a_level_by_name_or_of_your_own() -> None:
    own = replace(LEVELS["plain"], gain=1.0)
    assert Simulation(level=own).level is own
    assert level_of("clear") is LEVELS["clear"]
    asked: Any = {"gain": 3, "turns": [4, 7]}  # 3 as 3.0, a list as a tuple
    same = Level(**asked)
    assert (same, hash(same)) == (Level(), hash(Level())) == (Simulation().level, hash(Simulation().level))
    assert Simulation(5, level=same).record(0) == Simulation(5).record(0)


@pytest.mark.parametrize(("name", "hint"), [("plian", "plain"), ("tangle", "tangled"), ("Clear", "clear")])
def test_unknown_levels_come_with_a_suggestion(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{hint}'"):
        level_of(name)


@pytest.mark.parametrize(("name", "highest"), [
    ("clarity", "1"), ("blunt", "1"), ("leak", "1"), ("mixed", "1"), ("gain", "inf"), ("judgement", "inf"),
    ("wish_noise", "inf"),
])  # fmt: skip
def test_dials_have_a_range(name: str, highest: str) -> None:
    for value in (-0.01, math.nan, math.inf, *([1.01] if highest == "1" else [])):
        with pytest.raises(SettingsError) as caught:
            Level(**{name: value})  # type: ignore[arg-type]
        assert str(caught.value) == f"{name} of a level is {value}; it must be a number from 0 to {highest}"


@pytest.mark.parametrize("turns", [(0, 3), (4, 3), (3, 21), (1.0, 2), (True, 2), (3,), (1, 2, 3), 5])
def test_turns_are_two_whole_numbers_in_order(turns: Any) -> None:
    with pytest.raises(SettingsError, match="two whole numbers, 1 ≤ fewest ≤ most ≤ 20"):
        Level(turns=turns)
