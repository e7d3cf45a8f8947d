"""The native vector environment: as many single ones, in one pass."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import vector as vector_wrappers

from attune_data import load
from attune_data.errors import SettingsError, UnknownNameError
from attune_episodes.gymnasium_envs.vector_env import FeaturesVectorEnv
from attune_rewards import RewardSpec
from attune_rewards.batched import COLUMNS
from attune_rewards.coded import VALUES, WIDTH

ID = "attune_env:Attune/Features-v0"
SAMPLE = load("sample")
KINDS: list[dict[str, Any]] = [
    {"reward": "skill"},
    {"data": "simulated", "number": 8, "sampling": "weighted", "level": "tangled"},
    {"data": "simulated", "number": 9, "shard": (1, 2), "sampling": "sequential", "words": 3,
     "labels_seed": 4, "reward": {"preset": "composite", "format": 0.2}, "dense": False},
    {"stages": ("prefer", "assess"), "reward": "preference"},
]  # fmt: skip


def make(mode: str, size: int, **arguments: Any) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec(ID, num_envs=size, vectorization_mode=mode, **arguments)


def drawn(generator: np.random.Generator, number: int) -> Any:
    """Random answers, most of them with gaps."""
    answers = (generator.random((number, WIDTH)) * VALUES).astype(np.int8)
    return answers * (generator.random((number, WIDTH)) < generator.random((number, 1)) ** 0.5)


def same(one: Any, other: Any, where: str = "") -> None:
    """Whether two returns of a vector environment agree: numbers to 1e-9."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            same(one[key], other[key], f"{where}/{key}")
        return
    assert one.shape == other.shape, where
    assert one.dtype == other.dtype, where
    if one.dtype == object:
        for left, right in zip(one, other, strict=True):
            assert np.array_equal(left, right), where
    else:
        assert np.abs(one.astype(float) - other.astype(float)).max() <= 1e-9, where


# --- beside single environments ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_it_plays_and_pays_what_as_many_single_environments_do(mode: str, kind: dict[str, Any]) -> None:
    native = make("vector_entry_point", 6, autoreset_mode=mode, **kind)
    single = make("sync", 6, vector_kwargs={"autoreset_mode": mode}, **kind)
    assert native.single_observation_space == single.single_observation_space
    assert native.single_action_space == single.single_action_space
    assert native.observation_space == single.observation_space
    assert native.action_space == single.action_space
    assert native.metadata["autoreset_mode"] is single.metadata["autoreset_mode"]
    generator, ended = np.random.default_rng(0), 0
    seeds: list[Any] = [11, None, [5, 5, 6, None, 7, 8]]
    for seed in seeds:
        for a, b in zip(native.reset(seed=seed), single.reset(seed=seed), strict=True):
            if seed != seeds[-1]:  # one environment is seeded by chance there
                same(a, b)
    native.reset(seed=3), single.reset(seed=3)
    for _ in range(250):
        actions = drawn(generator, 6)
        left, right = native.step(actions), single.step(actions)
        for number, (a, b) in enumerate(zip(left, right, strict=True)):
            same(a, b, f"return {number}")
        assert isinstance(native.unwrapped, FeaturesVectorEnv)
        asked = native.unwrapped.asked()
        assert asked.shape == (6, WIDTH)
        ended += int(left[2].sum())
    assert ended > 20


def test_disabled_autoreset_resets_those_that_are_told() -> None:
    kind: dict[str, Any] = {"data": "simulated", "number": 6, "reward": "skill"}
    native = make("vector_entry_point", 5, autoreset_mode="Disabled", **kind)
    single = make("sync", 5, vector_kwargs={"autoreset_mode": "Disabled"}, **kind)
    same(native.reset(seed=1)[0], single.reset(seed=1)[0])
    generator, resets = np.random.default_rng(0), 0
    for _ in range(150):
        actions = drawn(generator, 5)
        left, right = native.step(actions), single.step(actions)
        for a, b in zip(left, right, strict=True):
            same(a, b)
        if left[2].any():
            resets += 1
            if resets == 2:
                with pytest.raises(ResetNeeded, match="autoreset is disabled"):
                    native.step(actions)
            (seen, info), (wanted, told) = (
                one.reset(options={"reset_mask": left[2].copy()}) for one in (native, single)
            )
            same(seen, wanted)
            same(info, told)
    assert resets > 5


def test_async_environments_agree_through_shared_memory() -> None:
    kind: dict[str, Any] = {"data": "simulated", "number": 4, "reward": "skill"}
    native = make("vector_entry_point", 3, **kind)
    apart = make("async", 3, vector_kwargs={"shared_memory": True}, **kind)
    try:
        same(native.reset(seed=2)[0], apart.reset(seed=2)[0])
        generator = np.random.default_rng(1)
        for _ in range(40):
            actions = drawn(generator, 3)
            left, right = native.step(actions), apart.step(actions)
            for a, b in zip(left, right, strict=True):
                same(a, b)
    finally:
        apart.close()


# --- by itself -------------------------------------------------------------------------------------------


def test_seeds_count_on_and_begin_orders_anew() -> None:
    env = FeaturesVectorEnv(4)
    first = env.reset(seed=9)[1]["conversation_id"].tolist()
    assert env.np_random_seed == (9, 10, 11, 12)
    assert len(env.np_random) == 4
    assert env.reset(seed=[9, 10, 11, 12])[1]["conversation_id"].tolist() == first
    assert env.reset()[1]["conversation_id"].tolist() != first
    assert env.reset(seed=10)[1]["conversation_id"].tolist()[:3] == first[1:]
    alike = env.reset(seed=[1, 1, 1, 1])
    assert len(set(alike[1]["conversation_id"].tolist())) == 1
    with pytest.raises(ValueError, match="2 seeds for 4 environments"):
        env.reset(seed=[1, 2])


def test_options_name_a_conversation_and_a_mask() -> None:
    env = FeaturesVectorEnv(3)
    _, info = env.reset(seed=0, options={"conversation_id": "sample-04"})
    assert info["conversation_id"].tolist() == ["sample-04"] * 3
    _, info = env.reset(options={"index": 7, "reset_mask": np.array([False, True, False])})
    assert info["conversation_id"].tolist() == [None, SAMPLE[7].conversation_id, None]
    assert info["_conversation"].tolist() == [False, True, False]
    for mask in ([True] * 3, np.ones(3), np.ones(2, bool), np.zeros(3, bool)):
        with pytest.raises(SettingsError, match=r"reset_mask is .*bool array of shape \(3,\), one True"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(UnknownNameError, match="nobody"):
        env.reset(options={"conversation_id": "nobody"})


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SettingsError, match="num_envs is 0"):
        FeaturesVectorEnv(0)
    with pytest.raises(UnknownNameError, match=r"Never.*NextStep"):
        FeaturesVectorEnv(2, autoreset_mode="Never")
    with pytest.raises(ValueError, match="draws nothing"):
        FeaturesVectorEnv(2, render_mode="ansi")
    with pytest.raises(SettingsError, match="number="):
        FeaturesVectorEnv(2, "simulated")
    own = RewardSpec.preset("emotion").with_part("mine", "assess", lambda truth, turn, said: 1.0, 0.5)
    with pytest.raises(SettingsError, match=r"'mine'.*sync"):
        FeaturesVectorEnv(2, reward=own)
    env = FeaturesVectorEnv(2)
    with pytest.raises(ResetNeeded, match="have not begun"):
        env.step(np.zeros((2, WIDTH), np.int8))
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match=r"shape \(2, 139\), got int64 \(139,\)"):
        env.step(np.zeros(WIDTH, np.int64))
    with pytest.raises(InvalidAction, match=r"action\[1, 138\], of branches, is 8; it must be 0 to 7"):
        env.step(np.where(np.arange(2 * WIDTH) == 2 * WIDTH - 1, 8, 0).reshape(2, WIDTH))


def test_modes_are_taken_by_value_name_and_enum() -> None:
    for mode in ("SameStep", "SAME_STEP", AutoresetMode.SAME_STEP):
        assert FeaturesVectorEnv(1, autoreset_mode=mode).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert FeaturesVectorEnv(1).autoreset_mode is AutoresetMode.NEXT_STEP


def test_masks_and_what_is_asked_follow_each_environment() -> None:
    env = FeaturesVectorEnv(2, stages=("assess", "reflect"))
    env.reset(options={"index": 0})
    mask = env.action_mask()
    assert mask.shape == (2, WIDTH, 8)
    assert (mask.sum(axis=2) == np.where(env.asked(), VALUES, 1)).all()
    assert env.single_action_space.sample(mask[0]).shape == (WIDTH,)
    answered = 0
    while env.asked().any():
        env.step(np.zeros((2, WIDTH), np.int8))
        answered += 1
    assert answered == len(SAMPLE[0].turns) + 1


def test_actions_of_any_whole_number_kind_are_paid_the_same() -> None:
    paid = []
    for kind in (np.int8, np.int32, np.int64, np.uint8):
        env = FeaturesVectorEnv(3, reward="skill")
        env.reset(seed=4)
        generator = np.random.default_rng(0)
        paid.append([env.step(drawn(generator, 3).astype(kind))[1].tolist() for _ in range(12)])
    assert paid[0] == paid[1] == paid[2] == paid[3]


def test_returned_arrays_are_the_callers_own() -> None:
    env, untouched = FeaturesVectorEnv(2), FeaturesVectorEnv(2)
    env.reset(seed=0)[0][:] = 7
    untouched.reset(seed=0)
    generator = np.random.default_rng(0)
    for _ in range(40):
        actions = drawn(generator, 2)
        returned, wanted = env.step(actions), untouched.step(actions)
        for a, b in zip(returned, wanted, strict=True):
            same(a, b)
        for array in [*returned[:4], *returned[4].values()]:
            array[:] = 1
        env.asked()[:] = True


def test_vector_wrappers_and_specs_work() -> None:
    env = make("vector_entry_point", 3, data="simulated", number=4, autoreset_mode="SameStep")
    assert env.spec is not None
    again = gymnasium.make_vec(type(env.spec).from_json(env.spec.to_json()))
    assert again.num_envs == 3
    assert np.array_equal(again.reset(seed=3)[0], env.reset(seed=3)[0])
    counted = vector_wrappers.RecordEpisodeStatistics(again)
    counted.reset(seed=0)
    generator = np.random.default_rng(0)
    returns: list[float] = []
    for _ in range(40):
        *_, ended, _, info = counted.step(drawn(generator, 3))
        returns += info["episode"]["r"][ended].tolist() if ended.any() else []
    assert len(returns) >= 6
    assert all(0 < value < 1 for value in returns)
    env.close()


def test_memory_is_what_is_told_and_does_not_grow() -> None:
    env = FeaturesVectorEnv(256, "simulated", number=12)
    assert env.nbytes / 12 < 45_000
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    actions = [drawn(generator, 256) for _ in range(8)]
    sizes = []
    tracemalloc.start()
    try:
        for _ in range(3):
            for k in range(250):  # 64,000 requests a round
                env.step(actions[k % 8])
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[2] - sizes[1] < 20_000
    assert len(pickle.dumps(env.reset()[1])) < 30_000
    assert len(COLUMNS) == 16
