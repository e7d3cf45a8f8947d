"""Our own spaces do what Gymnasium's do."""

from __future__ import annotations

import pickle
from collections import Counter
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces import utils
from gymnasium.utils.passive_env_checker import check_space
from gymnasium.vector.utils import batch_space, create_shared_memory
from hypothesis import given
from hypothesis import strategies as st

from attune_episodes.gymnasium_envs.spaces import (
    FIELDS,
    FIELDS_OF,
    Bits,
    Choice,
    Choices,
    TextSpace,
    action_space,
    observation_space,
)

TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", "Çok üzgünüm 😢🏳️‍🌈 אני עייף مرهق", "\ud83d", "a\0b", "🙂" * 40]
)


@given(TEXTS)
def test_any_text_is_in_the_space_and_comes_back_from_its_flat_form(text: str) -> None:
    space = TextSpace(40)
    assert text in space
    flat = utils.flatten(space, text)
    assert flat in utils.flatten_space(space)
    assert isinstance(flat, np.ndarray)
    assert flat.shape == (utils.flatdim(space),)
    assert utils.unflatten(space, flat) == text
    assert space.from_jsonable(space.to_jsonable([text])) == [text]


def test_a_text_space_knows_lengths_and_nothing_else() -> None:
    space = TextSpace(5, min_length=2)
    assert [text in space for text in ("a", "ab", "abcde", "abcdef")] == [False, True, True, False]
    assert 3 not in space
    assert None not in space
    assert space == TextSpace(5, min_length=2)
    assert space != TextSpace(5)
    assert space != spaces.Text(5)
    with pytest.raises(ValueError, match="0 <= min <= max"):
        TextSpace(2, min_length=3)


def test_samples_of_text_follow_the_seed_and_the_mask() -> None:
    space = TextSpace(50, seed=3)
    first = [space.sample() for _ in range(20)]
    space.seed(3)
    assert [space.sample() for _ in range(20)] == first
    assert len(set(first)) > 10
    assert space.sample(mask=0) == ""
    assert len(space.sample(mask=7)) == 7
    with pytest.raises(NotImplementedError):
        space.sample(probability=0.5)  # type: ignore[arg-type]


def test_texts_refuse_shared_memory_rather_than_serving_stale_ones() -> None:
    from gymnasium.error import CustomSpaceError

    with pytest.raises((CustomSpaceError, TypeError, ValueError)):
        create_shared_memory(spaces.Dict({"messages": TextSpace(10)}), n=2)


def shares(samples: list[Any]) -> list[list[float]]:
    """Slot -> share of each value."""
    return [
        [count[v] / len(samples) for v in range(8)]
        for count in (Counter(int(s[slot]) for s in samples) for slot in range(len(samples[0])))
    ]


def test_masked_choices_are_even_among_what_is_allowed() -> None:
    space = Choices(3, 4, seed=1)
    mask = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]], np.int8)
    samples = [space.sample(mask=mask) for _ in range(4000)]
    assert all(sample in space for sample in samples)
    found = shares(samples)
    error = 5 * (0.25 / 4000) ** 0.5
    wanted: list[list[float]] = [[0, 0.5, 0.5, 0], [1, 0, 0, 0], [0.25] * 4]
    for slot, chances in enumerate(wanted):
        assert found[slot][:4] == pytest.approx(chances, abs=error)
        assert all(share == 0 for chance, share in zip(chances, found[slot], strict=False) if chance == 0)


def test_masked_sampling_of_single_choices_and_bits() -> None:
    choice, bits = Choice(5, seed=1), Bits(3, seed=1)
    drawn = Counter(int(choice.sample(mask=np.array([0, 1, 0, 1, 0], np.int8))) for _ in range(2000))
    assert set(drawn) == {1, 3}
    assert abs(drawn[1] - 1000) < 5 * 500**0.5
    assert choice.sample(mask=np.zeros(5, np.int8)) == 0
    found = [bits.sample(mask=np.array([0, 1, 2], np.int8)) for _ in range(2000)]
    assert {int(one[0]) for one in found} == {0}
    assert {int(one[1]) for one in found} == {1}
    assert abs(sum(int(one[2]) for one in found) - 1000) < 5 * 500**0.5


def test_masks_as_gymnasium_has_them_work_too() -> None:
    space = Choices(2, 3, seed=1)
    mask = tuple(np.array([0, 0, 1], np.int8) for _ in range(2))
    assert space.sample(mask=mask).tolist() == [2, 2]
    with pytest.raises(ValueError, match="expected \\(2, 3\\)"):
        space.sample(mask=np.zeros((3, 2), np.int8))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_choices_of_any_integer_type_are_in_the_space(kind: Any) -> None:
    space = Choices(3, 4)
    assert np.array([0, 3, 1], kind) in space
    assert np.array([0, 4, 1], kind) not in space
    assert np.array([0, 3], kind) not in space
    assert np.array([0, 1.0, 2]) not in space
    assert [0, 3, 1] in space


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
    flat = utils.unflatten(space, utils.flatten(space, sample))
    for other in (back, flat):
        for name in space.spaces:
            assert np.array_equal(np.asarray(other[name]), np.asarray(sample[name])), name
    assert pickle.loads(pickle.dumps(space)) == space == deepcopy(space)
    assert space != action_space(changes=not changes, hp=hp)


def test_every_field_belongs_to_a_stage_and_the_order_is_alphabetical() -> None:
    assert {name for names in FIELDS_OF.values() for name in names} == set(FIELDS)
    assert list(FIELDS) == sorted(FIELDS)


def test_the_observation_space_batches() -> None:
    space = observation_space(100)
    batched = batch_space(space, 3)
    assert isinstance(batched, spaces.Dict)
    assert isinstance(batched["messages"], spaces.Tuple)
