"""What Gymnasium and its users expect of any environment, asked of ours and its wrapped forms."""

from __future__ import annotations

import copy
import functools
import gc
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TimeLimit

from attune_data import load
from attune_episodes.gymnasium_envs import no_answer
from attune_episodes.gymnasium_envs.registration import CONVERSATION_ID, FEATURES_ID
from attune_episodes.gymnasium_envs.wrappers import JSONAction, TypedAction
from attune_rewards import STAGES
from tests import PATIENCE
from tests.gymnasium_envs.play import Env, episode, inner, make, player, random_act, same

SAMPLE = load("sample")
FORMS: Final[dict[str, tuple[Callable[[Env], Env], ...]]] = {
    "plain": (),
    "json": (JSONAction,),
    "typed": (TypedAction,),
    "time limit": (functools.partial(TimeLimit, max_episode_steps=4),),
    "statistics": (RecordEpisodeStatistics,),
    "flattened": (FlattenObservation,),
    "stack": (RecordEpisodeStatistics, functools.partial(TimeLimit, max_episode_steps=50), JSONAction),
}
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "all stages": {"stages": STAGES},
    "by turn": {"step": "turn", "stages": STAGES},
    "changes": {"panas_strategy": "blind_delta", "mode": "verbose"},
    "simulated": {"data": "simulated", "level": "plain"},
    "weighted": {"sampling": "weighted", "weights": {"sample-01": 3.0}, "dense": False, "reward": "skill"},
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("arguments", ["default", "by turn"])
def test_check_env_finds_nothing_in_the_wrapped_forms(form: str, arguments: str) -> None:
    short = {"max_chars": 500} if form == "flattened" else {}
    env = make(*FORMS[form], **ARGUMENTS[arguments], **short)
    env.action_space.seed(0)
    check_env(env)


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_any_sample_is_legal_over_full_episodes(arguments: str) -> None:
    env = make(**ARGUMENTS[arguments])
    env.action_space.seed(1)
    for masked in (False, True):
        for number in range(4):
            rewards, infos = episode(env, random_act(masked=masked), seed=number)
            assert all(np.isfinite(reward) for reward in rewards)
            assert {str(info["reason"]).partition(":")[0] for info in infos[1:]}.isdisjoint({"unparsed"})


def test_masked_samples_answer_all_that_is_asked() -> None:
    env = make(stages=STAGES)
    env.action_space.seed(1)
    for number in range(5):
        _, infos = episode(env, random_act(masked=True), seed=number)
        assert infos[-1]["metrics"]["answered_share"] == 1
        for done in inner(env).done:
            assert done.status in ("ok", "unparsed:empty")  # a draft may come out empty


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_the_same_seed_gives_the_same_episodes_rewards_and_observations(arguments: str) -> None:
    seen = []
    for _ in range(2):
        env = make(**ARGUMENTS[arguments])
        env.action_space.seed(7)
        trace: list[Any] = [env.reset(seed=3)[0]]
        for _ in range(40):
            observation, reward, ended, _, info = env.step(env.action_space.sample())
            trace += [observation, reward, info["parts"]]
            if ended:
                trace += [info["total"], env.reset()[0]]
        seen.append(trace)
    assert all(same(one, two) for one, two in zip(*seen, strict=True))


def test_another_process_with_another_hash_seed_plays_the_same() -> None:
    code = (
        "import json, gymnasium\n"
        "env = gymnasium.make('attune_env:Attune/Conversation-v0')\n"
        "env.action_space.seed(5)\n"
        "found = [env.reset(seed=5)[1]['conversation_id']]\n"
        "for _ in range(60):\n"
        "    _, reward, ended, _, info = env.step(env.action_space.sample())\n"
        "    found.append(reward)\n"
        "    if ended: found.append(env.reset()[1]['conversation_id'])\n"
        "print(json.dumps(found))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8", timeout=PATIENCE,
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale},
        ).stdout
        for seed, locale in (("1", "C"), ("2", "C.UTF-8"))
    ]  # fmt: skip
    assert runs[0] == runs[1]
    env = make()
    env.action_space.seed(5)
    found: list[Any] = [env.reset(seed=5)[1]["conversation_id"]]
    for _ in range(60):
        _, reward, ended, _, _ = env.step(env.action_space.sample())
        found.append(reward)
        if ended:
            found.append(env.reset()[1]["conversation_id"])
    assert json.loads(runs[0]) == found


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_specs_go_through_json(arguments: str) -> None:
    env = make(**ARGUMENTS[arguments])
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make(spec)
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
        "attune_env:Attune/Conversation-v0", num_envs=number, vectorization_mode=mode,
        vector_kwargs=options, **arguments,
    )  # fmt: skip
    return made


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_play_what_single_environments_play(mode: str) -> None:
    envs = vector(mode, stages=["assess", "reflect"])
    try:
        singles = [make(stages=["assess", "reflect"]) for _ in range(3)]
        observations, infos = envs.reset(seed=11)
        first = [env.reset(seed=11 + i) for i, env in enumerate(singles)]
        assert list(observations["messages"]) == [observation["messages"] for observation, _ in first]
        assert list(infos["conversation_id"]) == [info["conversation_id"] for _, info in first]
        envs.action_space.seed(3)
        ended = [False] * 3
        for _ in range(30):
            actions = list(gymnasium.vector.utils.iterate(envs.action_space, envs.action_space.sample()))
            empty: Any = gymnasium.vector.utils.create_empty_array(envs.single_action_space, 3)
            batched = gymnasium.vector.utils.concatenate(envs.single_action_space, actions, empty)
            observations, rewards, terminated, _, infos = envs.step(batched)
            for i, env in enumerate(singles):
                if ended[i]:  # the mode NEXT_STEP resets instead of stepping
                    observation, _ = env.reset()
                    assert rewards[i] == 0
                    ended[i] = False
                else:
                    observation, reward, ended[i], _, info = env.step(actions[i])
                    assert rewards[i] == reward
                    assert terminated[i] == ended[i]
                    for name, part in info["parts"].items():
                        assert infos["parts"][name][i] == part
                    if ended[i]:
                        assert infos["total"][i] == info["total"]
                        assert infos["result"][i]["conversationId"] == info["conversation_id"]
                assert observations["messages"][i] == observation["messages"]
                assert np.array_equal(observations["fields"][i], observation["fields"])
    finally:
        envs.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_every_autoreset_mode_works(mode: AutoresetMode) -> None:
    envs = vector("sync", 2, stages=["reflect"], vector_kwargs={"autoreset_mode": mode})
    envs.reset(seed=0)
    actions = {name: np.stack([np.asarray(value)] * 2) for name, value in no_answer().items()}
    actions["draft"] = actions["follow_up"] = ("", "")  # type: ignore[assignment]
    _, _, ended, _, infos = envs.step(actions)
    assert ended.all()
    if mode is AutoresetMode.SAME_STEP:
        assert infos["final_info"]["total_name"].tolist() == ["composite_partial"] * 2
        assert infos["final_obs"][0]["messages"] == ""
        _, _, ended, _, _ = envs.step(actions)
        assert ended.all()
    elif mode is AutoresetMode.NEXT_STEP:
        observations, _, ended, _, _ = envs.step(actions)
        assert not ended.any()
        assert all(observations["messages"])
    else:
        observations, _ = envs.reset(options={"reset_mask": np.array([True, False])})
        assert observations["messages"][0]
    envs.close()


@pytest.mark.parametrize("wrapper", [JSONAction, TypedAction])
def test_vectors_of_wrapped_environments_take_texts(wrapper: Any) -> None:
    envs = vector("sync", 2, wrappers=[wrapper], stages=["assess"])
    envs.reset(seed=0)
    _, rewards, _, _, infos = envs.step(['{"emotions": []}', "no"])
    assert infos["status"].tolist() == ["ok", "unparsed:no_json"]
    assert rewards[1] == 0
    envs.close()


def test_shared_memory_is_refused_rather_than_serving_stale_texts() -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        vector("async", 1, vector_kwargs={"shared_memory": True})


def test_shards_evaluate_everything_exactly_once() -> None:
    names = []
    for index in range(3):
        envs = SyncVectorEnv([functools.partial(make, sampling="sequential", shard=[index, 3])])
        size = len(inner(envs.envs[0]).source)
        for _ in range(size):
            names.append(envs.reset()[1]["conversation_id"][0])
    assert sorted(names) == sorted(one.conversation_id for one in SAMPLE)


# --- others -------------------------------------------------------------------------------------------


def test_statistics_count_the_return() -> None:
    env = make(RecordEpisodeStatistics)
    env.action_space.seed(0)
    rewards, infos = episode(env, random_act(masked=True), seed=0)
    assert infos[-1]["episode"]["r"] == pytest.approx(sum(rewards))
    assert infos[-1]["episode"]["l"] == len(rewards)
    assert infos[-1]["total"] == pytest.approx(sum(rewards))


@pytest.mark.parametrize("form", ["flat", "json", "typed"])
@pytest.mark.parametrize("name", ["oracle", "prior", "random"])
def test_the_contract_of_environments_holds_for_simulated_people(form: str, name: str) -> None:
    from attune_data.simulate import simulate
    from attune_env.testing import check_env_contract

    check_env_contract(player(form), simulate(4, seed=8), policies=[name], rewards=["composite", "skill"])


def test_what_is_sampled_with_a_mask_is_in_the_space() -> None:
    env = make(stages=STAGES, panas_strategy="delta")
    env.action_space.seed(0)
    for number in range(3):
        env.reset(seed=number)
        ended = False
        while not ended:
            action = env.action_space.sample(mask=env.get_wrapper_attr("action_mask")())
            assert env.action_space.contains(action)
            _, _, ended, _, _ = env.step(action)
        mask = env.get_wrapper_attr("action_mask")()
        assert same(env.action_space.sample(mask=mask), no_answer(hp=True))  # nothing is asked any more


@pytest.mark.parametrize("arguments", ["default", "by turn", "changes", "simulated"])
def test_copies_and_pickles_go_on_where_the_original_stands(arguments: str) -> None:
    env = make(**ARGUMENTS[arguments]).unwrapped
    env.action_space.seed(0)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    ends = []
    for one in (env, *copies):
        one.action_space.seed(1)
        trace: list[Any] = []
        ended = False
        while not ended:
            observation, reward, ended, _, info = one.step(one.action_space.sample())
            trace += [observation, reward, info["parts"]]
        record = dict(info["result"])
        ends.append((trace, info["total"], record, one.reset()[0]))
    assert all(same(ends[0][0][i], other[0][i]) for other in ends[1:] for i in range(len(ends[0][0])))
    assert all(other[1:3] == ends[0][1:3] and same(other[3], ends[0][3]) for other in ends[1:])


def test_close_may_be_called_twice() -> None:
    env = make()
    env.reset(seed=0)
    env.close()
    env.close()


def test_a_hundred_thousand_steps_take_no_memory() -> None:
    env = make()
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(7)]

    def steps(number: int) -> None:
        for i in range(number):
            if env.step(actions[i % 7])[2]:
                env.reset()

    env.reset(seed=0)
    steps(30_000)  # fills what the engine keeps of 7 actions at 203 requests: plans, matchings
    tracemalloc.start()
    try:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        steps(100_000)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # one byte a step would be 100 kB; what is held at any time (an episode's log) is smaller
    assert after - before < 50_000, after - before


def test_a_simulated_world_takes_no_memory_either() -> None:
    env = make(data="simulated", level="plain", stages=["reflect"])
    env.reset(seed=0)
    held = []
    for round_ in range(3):
        for _ in range(100):
            env.reset()
        gc.collect()
        held.append(sum(type(one).__name__ == "Conversation" for one in gc.get_objects()))
        assert round_ < 1 or held[-1] <= held[-2] + 1


def test_environments_can_be_copied_and_pickled_in_the_middle_of_an_episode() -> None:
    made: list[Any] = [
        gymnasium.make(CONVERSATION_ID, sampling="sequential"),
        gymnasium.make(FEATURES_ID, sampling="sequential"),
        gymnasium.make_vec(FEATURES_ID, num_envs=2, sampling="sequential"),
    ]
    for env in made:
        env.reset(seed=0)
        env.action_space.seed(0)
        action = env.action_space.sample()
        env.step(action)
        for again in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            rewards = [np.asarray(one.step(action)[1]).tolist() for one in (copy.deepcopy(env), again)]
            assert rewards[0] == rewards[1]
