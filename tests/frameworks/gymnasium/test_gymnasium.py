"""What Gymnasium expects of an environment: its checker, seeds, specs, vectors, copies, steady memory."""

from __future__ import annotations

import copy
import functools
import gc
import itertools
import json
import pickle
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate
from gymnasium.wrappers import FilterObservation, FlattenObservation, RecordEpisodeStatistics, TimeLimit

from attune_data import load
from attune_episodes.frameworks.gymnasium import JSONAction, TypedAction, no_answer
from attune_rewards import STAGES
from tests.frameworks.gymnasium.play import ID, Env, episode, make, random_act, same

SAMPLE = load("sample")
_ONLY_NUMBERS = functools.partial(FilterObservation, filter_keys=["turn", "stages", "fields", "questions"])
FORMS: Final[dict[str, tuple[Callable[[Env], Env], ...]]] = {
    "json": (JSONAction,),
    "typed": (TypedAction,),
    "time limit": (functools.partial(TimeLimit, max_episode_steps=4),),
    "flattened": (_ONLY_NUMBERS, FlattenObservation),
    "stack": (RecordEpisodeStatistics, functools.partial(TimeLimit, max_episode_steps=50), JSONAction),
}
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "by request": {"step": "request"},
    "all stages": {"stages": STAGES},
    "changes": {"panas_strategy": "blind_delta", "mode": "verbose", "step": "request"},
    "endless": {"data": "3*written:dev+sample", "training": False},
    "terminal": {"dense": False, "reward": "skill"},
    "shard": {"sampling": "sequential", "shard": [1, 3], "labels": "official"},
}
WRAPPED = ".*is different from the unwrapped version"
"""check_env says so of every wrapped environment."""


@pytest.fixture(autouse=True)
def _every_warning_is_an_error() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=WRAPPED)
        yield


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_check_env_finds_nothing(arguments: str, render_mode: str | None) -> None:
    check_env(make(render_mode=render_mode, **ARGUMENTS[arguments]).unwrapped)


@pytest.mark.parametrize(("form", "arguments"), [*itertools.product(FORMS, ["default", "by request"])])
def test_check_env_finds_nothing_in_the_wrapped_forms(form: str, arguments: str) -> None:
    env = make(*FORMS[form], **ARGUMENTS[arguments])
    env.action_space.seed(0)
    check_env(env)


@pytest.mark.parametrize("step", ["turn", "request"])
def test_masked_samples_answer_all_that_is_asked(step: str) -> None:
    env = make(stages=STAGES, step=step, panas_strategy="delta")
    env.action_space.seed(1)
    for number in range(3):
        _, infos = episode(env, random_act(masked=True), seed=number)
        assert infos[-1]["metrics"]["answered_share"] == 1
    mask = env.get_wrapper_attr("action_mask")()
    assert same(env.action_space.sample(mask=mask), no_answer(hp=True))  # nothing is asked any more


@pytest.mark.parametrize(
    ("wrapper", "arguments"),
    [*((None, name) for name in ARGUMENTS), (JSONAction, "default"), (TypedAction, "by request")],
)
def test_specs_go_through_json(wrapper: Any, arguments: str) -> None:
    env = make(*filter(None, [wrapper]), **ARGUMENTS[arguments])
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make(spec)
    assert wrapper is None or isinstance(again, wrapper)
    assert json.loads(spec.to_json()) == json.loads(env.spec.to_json())
    assert again.action_space == env.action_space
    assert again.observation_space == env.observation_space
    assert same(again.reset(seed=2)[0], env.reset(seed=2)[0])


# --- vectors ------------------------------------------------------------------------------------------


def vector(mode: str, number: int = 3, **arguments: Any) -> VectorEnv[Any, Any, Any]:
    options = arguments.pop("vector_kwargs", {})
    if mode == "async":
        options = {"shared_memory": False} | options  # text has no place in shared memory
    made: VectorEnv[Any, Any, Any] = gymnasium.make_vec(
        ID, num_envs=number, vectorization_mode=mode, vector_kwargs=options, **arguments
    )
    return made


@pytest.mark.parametrize("arguments", ["default", "by request"])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_play_what_single_environments_play(mode: str, arguments: str) -> None:
    envs = vector(mode, **ARGUMENTS[arguments])
    try:
        singles = [make(**ARGUMENTS[arguments]) for _ in range(3)]
        observations, _ = envs.reset(seed=11)
        shown = [env.reset(seed=11 + i)[0] for i, env in enumerate(singles)]
        envs.action_space.seed(3)
        ended = [False] * 3
        for _ in range(25):
            for i, observation in enumerate(shown):
                assert same({name: seen[i] for name, seen in observations.items()}, observation)
            actions = list(iterate(envs.action_space, envs.action_space.sample()))
            empty: Any = create_empty_array(envs.single_action_space, 3)
            batched = concatenate(envs.single_action_space, actions, empty)
            observations, rewards, terminated, _, infos = envs.step(batched)
            for i, env in enumerate(singles):
                if ended[i]:  # the mode NEXT_STEP resets instead of stepping
                    shown[i], _ = env.reset()
                    assert rewards[i] == 0
                    ended[i] = False
                    continue
                shown[i], reward, ended[i], _, info = env.step(actions[i])
                assert (rewards[i], terminated[i]) == (reward, ended[i])
                for name, part in info["parts"].items():
                    assert infos["parts"][name][i] == part
                if ended[i]:
                    assert infos["total"][i] == info["total"]
                    assert infos["result"][i]["conversationId"] == info["conversation_id"]
    finally:
        envs.close()


def test_shared_memory_is_refused_rather_than_serving_stale_texts() -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        vector("async", 1, vector_kwargs={"shared_memory": True})


# --- others -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["default", "by request", "endless"])
def test_copies_and_pickles_go_on_where_the_original_stands(arguments: str) -> None:
    env = make(**ARGUMENTS[arguments]).unwrapped
    env.action_space.seed(0)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    ends = []
    for one in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        one.action_space.seed(1)
        trace: list[Any] = []
        ended = False
        while not ended:
            observation, reward, ended, _, info = one.step(one.action_space.sample())
            trace += [observation, reward, info["parts"]]
        ends.append([*trace, info["total"], dict(info["result"]), one.reset()[0]])
    assert all(same(one, two) for other in ends[1:] for one, two in zip(ends[0], other, strict=True))


@pytest.mark.slow
def test_many_steps_take_no_memory() -> None:
    env = make(step="request")
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(7)]

    def steps(number: int) -> None:
        for i in range(number):
            if env.step(actions[i % 7])[2]:
                env.reset()

    env.reset(seed=0)
    steps(10_000)  # fills what the engine keeps of 7 actions at 203 requests: plans, matchings
    tracemalloc.start()
    try:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        steps(20_000)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # five bytes a step would be 100 kB; what is held at any time (an episode's steps) is smaller
    assert after - before < 100_000, after - before
