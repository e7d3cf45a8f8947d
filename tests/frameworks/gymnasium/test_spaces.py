"""Our own spaces do what Gymnasium's do."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.passive_env_checker import check_space

from attune_episodes.frameworks.gymnasium.spaces import (
    FIELDS,
    Choices,
    TextSpace,
    action_space,
)


def test_a_text_space_holds_any_text_that_is_short_enough() -> None:
    space = TextSpace(5)
    for text, held in (("", True), ("אני😢\ud83d", True), ("a\0b", True), ("abcdef", False), (3, False)):
        assert (text in space) is held
    assert space.from_jsonable(space.to_jsonable(["x", "😢"])) == ["x", "😢"]
    assert space == TextSpace(5)
    assert space != TextSpace(6)
    assert space != spaces.Text(5)


def test_samples_of_text_follow_the_seed_and_the_mask() -> None:
    space = TextSpace(50, seed=3)
    first = [space.sample() for _ in range(20)]
    space.seed(3)
    assert [space.sample() for _ in range(20)] == first
    assert len(set(first)) > 10
    assert space.sample(mask=0) == ""
    assert len(space.sample(mask=7)) == 7
    assert all(TextSpace(1, seed=seed).sample() in TextSpace(1) for seed in range(5))


def test_masked_choices_are_even_among_what_is_allowed() -> None:
    space = Choices(4, 3)
    space.seed(1)
    mask = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]], np.int8)
    samples = np.array([space.sample(mask=mask) for _ in range(4000)])
    assert all(sample in space for sample in samples)
    found = np.array([[np.mean(samples[:, slot] == value) for value in range(4)] for slot in range(4)])
    wanted = np.array([[0, 0.5, 0.5, 0], [1, 0, 0, 0], [0.25] * 4, [1, 0, 0, 0]])
    assert found == pytest.approx(wanted, abs=5 * (0.25 / 4000) ** 0.5)
    assert (found[wanted == 0] == 0).all()


@pytest.mark.parametrize("hp", [False, True])
@pytest.mark.parametrize("changes", [False, True])
def test_the_action_space_passes_gymnasiums_check_and_its_round_trips(changes: bool, hp: bool) -> None:
    space = action_space(changes=changes, hp=hp)
    check_space(space, "action", lambda box: None)
    space.seed(4)
    sample = space.sample()
    assert space.contains(sample)
    assert set(space.spaces) == {name for name in FIELDS if hp or not name.endswith("_hp")}
    back = space.from_jsonable(space.to_jsonable([sample]))[0]
    assert all(np.array_equal(np.asarray(back[name]), np.asarray(sample[name])) for name in space.spaces)
    assert pickle.loads(pickle.dumps(space)) == space == deepcopy(space)
    assert space != action_space(changes=not changes, hp=hp)
