"""Rewards as JSON: every reward that is data comes back equal, and a wrong one is told by its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, SettingsError, UnknownNameError
from attune_rewards import PRESETS, RewardSpec
from attune_rewards.reward.spec_files import describe_reward, read_reward, reward_from
from tests.rewards.specs import REWARDS

PORTABLE = [name for name, spec in REWARDS.items() if all(part.name == "format" for part in spec.extra)]


@pytest.mark.parametrize("name", PORTABLE)
def test_a_reward_comes_back_from_json_as_it_was(name: str) -> None:
    spec = REWARDS[name]
    assert reward_from(json.loads(json.dumps(describe_reward(spec), allow_nan=False))) == spec


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_read_by_its_name_and_from_a_file_that_names_it(preset: str, tmp_path: Path) -> None:
    assert read_reward(preset) is RewardSpec.preset(preset)
    (tmp_path / "one.json").write_text(json.dumps({"preset": preset}))
    assert read_reward(str(tmp_path / "one.json")) == RewardSpec.preset(preset)


def test_short_forms_say_what_they_look_like_they_say() -> None:
    short = {"name": "mine", "weights": {"q1": 1, "pairwise": 3}, "format": 0.5, "terminal": True}
    want = RewardSpec.weighted("mine", {"q1": 1, "pairwise": 3}).with_format(0.5).renamed("mine").terminal()
    assert reward_from(short) == want
    assert reward_from({"weights": {"q1": 1}}, "folder/reading.json").name == "reading"
    measured = reward_from({"preset": "emotion", "name": "e", "nulls": {"emotion_f1": 0.4}, "reference": "x"})
    assert measured.name == "e"
    assert measured.transform("emotion_f1", 0.7) == pytest.approx(0.5)
    assert reward_from({"preset": "composite", "left_out": ["q1"]}).left_out == ("q1",)


def test_what_is_said_about_a_preset_is_added_to_what_it_has() -> None:
    skill = RewardSpec.preset("skill")
    less = reward_from({"preset": "skill", "left_out": ["q1"]}, "less.json")
    assert (less.name, less.left_out) == ("less", ("q1",))
    assert less.baselines == {part: null for part, null in skill.baselines.items() if part != "q1"}
    other = reward_from({"preset": "skill", "baselines": {"emotion_va": 0.5}}, "other.json")
    assert other.baselines == {**skill.baselines, "emotion_va": 0.5}
    assert other.reference == skill.reference
    named = reward_from({"preset": "skill", "reference": "my data"}, "named.json")
    assert (named.baselines, named.reference) == (skill.baselines, "my data")


def test_a_part_of_ones_own_cannot_be_written() -> None:
    spec = RewardSpec.preset("emotion").with_part("mine", "draft", lambda truth, turn, said: 1.0, 1)
    with pytest.raises(SettingsError, match="part 'mine' of reward 'emotion\\+mine' is a Python function"):
        describe_reward(spec)


@pytest.mark.parametrize(("plain", "place", "found"), [
    ([], "", "an empty list"),
    ({}, "", "none of preset"),
    ({"preset": "skill", "weights": {"q1": 1}}, "", "preset, weights of preset"),
    ({"preset": "skill", "seed": 1}, "seed", "1"),
    ({"name": 3, "preset": "skill"}, "name", "3"),
    ({"weights": [1]}, "weights", "a list of 1"),
    ({"weights": {"q1": True}}, "", "weight of part 'q1' is true"),
    ({"weights": {"q1": -1}}, "", "weight of part 'q1' is -1; it must be a number above 0, at most 1e+100"),
    ({"weights": {"q1": 10**400}}, "", "weight of part 'q1' is 1000"),
    ({"weights": {"q1": 1e308, "q2": 1e308}}, "", "weight of part 'q1' is 1e+308"),
    ({"weights": {"q1": 1e-9, "q2": 1e9}}, "", "part 'q1' is 1e-18 of the whole reward; at least 1e-12"),
    ({"weights": {"q1": 1}, "format": 10**400}, "", "weight of part 'format' is 1000"),
    ({"tree": {"name": "q1", "weight": 10**400}}, "", "weight of part 'q1' is 1000"),
    ({"weights": {"q1": 1}, "baselines": {"q1": 10**400}}, "", "baseline of part 'q1' is 1000"),
    ({"weights": {"q1": 1}, "baselines": {"q2": 0.2}, "left_out": ["q1"]}, "", "every part of the reward"),
    ({"weights": {"q7": 1}}, "", 'no reward part named "q7"'),
    ({"weights": {"q1": 1}, "format": "much"}, "", "weight of part 'format' is \"much\""),
    ({"weights": {"q1": 1}, "baselines": {"q1": 1.0}}, "", "baseline of part 'q1' is 1.0; it must"),
    ({"weights": {"q1": 1}, "baselines": {"q11": 0.5}}, "", 'no reward part named "q11"'),
    ({"weights": {"q1": 1}, "left_out": ["q11"]}, "", 'no reward part named "q11"'),
    ({"weights": {"q1": 1}, "left_out": "q1"}, "left_out", '"q1"'),
    ({"weights": {"q1": 1}, "terminal": "yes"}, "terminal", '"yes"'),
    ({"weights": {"q1": 1}, "reference": 3}, "reference", "3"),
    ({"tree": {"weight": 1}}, "tree.name", "nothing"),
    ({"tree": {"name": "a", "children": [{"name": 1}]}}, "tree.children[0].name", "1"),
    ({"tree": {"name": "q1", "weight": "1"}}, "", "weight of part 'q1' is \"1\""),
    ({"tree": {"name": "a", "children": [{"name": "q1"}, {"name": "q1"}]}}, "", "part 'q1' occurs twice"),
])  # fmt: skip
def test_what_describes_no_reward_is_refused_by_its_place(plain: Any, place: str, found: str) -> None:
    with pytest.raises(DataError) as raised:
        reward_from(plain, "mine.json")
    (problem,) = raised.value.problems
    assert (problem.file, problem.place) == ("mine.json", place)
    assert problem.found.startswith(found)
    assert "for example {" in problem.advice


def test_what_is_neither_a_preset_nor_a_file_is_told() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'skill'"):
        read_reward("skil")
    with pytest.raises(DataError, match=r"nowhere\.json: found no such file"):
        read_reward("nowhere.json")
