"""`Attune/Features-v0`: what it pays, its order and seeds, and Gymnasium's own checks."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

from attune_data import Conversations, load
from attune_data.errors import SettingsError, UnknownNameError
from attune_data.simulate import simulate
from attune_env.testing import check_env_contract
from attune_env.testing.environments import Outcome
from attune_episodes import Episode, Policy, Settings, Unparsed, builtin_policy, parse, plan, rollout
from attune_episodes.gymnasium_envs.features import NUMERIC_STAGES
from attune_episodes.gymnasium_envs.features_env import FeaturesEnv
from attune_episodes.gymnasium_envs.features_pool import numeric_reward
from attune_episodes.policies.base import prepared
from attune_rewards import PRESETS, RewardSpec
from attune_rewards.batched import COLUMNS
from attune_rewards.coded import FIELDS_OF, LAYOUT, VALUES, WIDTH
from attune_rewards.predictions import Draft, Prediction
from attune_rewards.spec_files import describe_reward
from tests.rewards.builders import conversation, turn

ID = "attune_env:Attune/Features-v0"
SAMPLE = load("sample")
SETTINGS = Settings(stages=NUMERIC_STAGES)
Env = gymnasium.Env[Any, Any]


def features(env: Env) -> FeaturesEnv:
    inner = env.unwrapped
    assert isinstance(inner, FeaturesEnv)
    return inner


def said(policy: Policy, env: FeaturesEnv) -> Prediction:
    """A built-in policy's prediction for the current request."""
    reply = policy.reply(env.request)
    assert isinstance(reply, str)
    found = parse(env.request, reply)
    assert not isinstance(found, Unparsed)
    return found


def play(env: Env, policy: str, data: Conversations, index: int) -> tuple[list[float], list[dict[str, Any]]]:
    """Rewards and infos of one conversation played by a built-in policy through numbers."""
    inner = features(env)
    answers = prepared(builtin_policy(policy, data, SETTINGS), data[index])
    env.reset(options={"conversation_id": data[index].conversation_id})
    rewards, infos, over = [], [], False
    while not over:
        _, reward, over, cut, info = env.step(inner.encode(said(answers, inner)))
        assert not cut
        rewards.append(float(reward))
        infos.append(info)
    return rewards, infos


def random_return(env: Env, seed: int | None = None, episodes: int = 1) -> list[tuple[str, float]]:
    """(conversation, return) of episodes of random answers."""
    played = []
    for number in range(episodes):
        _, info = env.reset(seed=seed if number == 0 else None)
        if number == 0 and seed is not None:
            env.action_space.seed(seed)
        total, over = 0.0, False
        while not over:
            _, reward, over, _, _ = env.step(env.action_space.sample())
            total += float(reward)
        played.append((info["conversation_id"], total))
    return played


# --- rewards ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", PRESETS)
@pytest.mark.parametrize("policy", ["oracle", "prior", "lexicon", "empty", "random"])
def test_it_pays_what_an_episode_of_the_engine_pays(policy: str, reward: str) -> None:
    env = gymnasium.make(ID, reward=reward)
    for index in (0, 7):
        rewards, _ = play(env, policy, SAMPLE, index)
        player = builtin_policy(policy, SAMPLE, SETTINGS)
        rolled = rollout(SAMPLE[index], player, SETTINGS, reward=numeric_reward(reward))
        wanted = [step.reward for step in rolled.steps]
        assert rewards == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("reward", PRESETS)
def test_the_oracle_earns_one_on_every_conversation(reward: str) -> None:
    env = gymnasium.make(ID, reward=reward)
    for index in range(len(SAMPLE)):
        rewards, _ = play(env, "oracle", SAMPLE, index)
        assert math.fsum(rewards) == pytest.approx(1, abs=1e-9)


def test_it_keeps_the_contract_of_environments() -> None:
    def through_numbers(policy: Policy, about: Any, reward: str) -> Outcome:
        env = FeaturesEnv(Conversations([about]), reward=reward)
        env.reset()
        # the contract is of whole rewards, so what numbers cannot say is played by the engine beside it
        episode, rewards = Episode(about, reward=reward), []
        while not episode.done:
            reply = policy.reply(episode.request)
            assert isinstance(reply, str)
            step = episode.submit(reply)
            rewards.append(step.reward)
            if step.request.stage in NUMERIC_STAGES:
                assert env.request.messages[-1]["content"] == step.request.messages[-1]["content"]
                assert not isinstance(step.outcome, Unparsed)
                env.step(env.encode(step.outcome))
        assert not env.asked().any()
        statuses = [step.status for step in episode.steps]
        return Outcome(rewards, episode.total, statuses, episode.result())

    check_env_contract(
        lambda policy, about, reward: through_numbers(prepared(policy, about), about, reward),
        policies=("oracle", "prior"),
        rewards=("composite",),
    )


def test_the_follow_up_is_left_out_and_its_weight_goes_to_its_siblings() -> None:
    env = FeaturesEnv()
    assert env.total_name == "composite_partial"
    assert "q3_follow_up" not in env.pool.spec.parts
    _, infos = play(env, "oracle", SAMPLE, 0)
    assert sum(info["weight"] for info in infos) == pytest.approx(1, abs=1e-12)
    whole, without = (
        spec.root.weights(list(spec.parts)) for spec in (RewardSpec.preset("composite"), env.pool.spec)
    )
    questions = ("q1", "q2", "q3")
    assert sum(whole[q] for q in (*questions, "q3_follow_up")) == pytest.approx(
        sum(without[q] for q in questions)
    )
    assert {name: without[name] for name in without if name not in questions} == pytest.approx(
        {name: whole[name] for name in without if name not in questions}
    )
    assert numeric_reward("emotion") is RewardSpec.preset("emotion")
    with pytest.raises(SettingsError, match="pays the follow-up only"):
        numeric_reward({"name": "mine", "weights": {"q3_follow_up": 1}})


def test_scores_name_the_parts_and_what_is_not_scored_is_marked() -> None:
    env = FeaturesEnv()
    _, infos = play(env, "oracle", SAMPLE, 0)
    scores, scored = infos[0]["scores"], infos[0]["scored"]
    first = {name: scores[k] for k, name in enumerate(COLUMNS) if scored[k]}
    assert first == {"emotion_f1": 1, "emotion_va": 1, "binary_om": 1, "binary_hp": 1}
    assert not infos[0]["scores"][~infos[0]["scored"]].any()


def test_a_reward_that_is_paid_at_the_end_comes_with_the_last_step() -> None:
    dense, _ = play(FeaturesEnv(), "lexicon", SAMPLE, 2)
    for late in (FeaturesEnv(dense=False), FeaturesEnv(reward={"preset": "composite", "terminal": True})):
        rewards, _ = play(late, "lexicon", SAMPLE, 2)
        assert rewards[:-1] == [0.0] * (len(dense) - 1)
        assert rewards[-1] == pytest.approx(sum(dense), abs=1e-12)


def test_a_part_of_ones_own_is_paid() -> None:
    spec = RewardSpec.preset("emotion").with_part("mine", "prefer", lambda truth, turn, said: 0.25, 1.0)
    rewards, infos = play(FeaturesEnv(reward=spec), "oracle", SAMPLE, 0)
    assert sum(rewards) == pytest.approx(0.5 * 1 + 0.5 * 0.25)
    assert {len(info["scores"]) for info in infos} == {len(COLUMNS)}


# --- what it shows and takes --------------------------------------------------------------------------------


def test_the_episode_is_the_plan_and_ends_in_zeros() -> None:
    env = FeaturesEnv()
    seen, info = env.reset(options={"index": 3})
    assert info == {"conversation": 3, "conversation_id": SAMPLE[3].conversation_id}
    for request in plan(SAMPLE[3], SETTINGS):
        assert NUMERIC_STAGES[int(seen[env.layout["stage"]].argmax())] == request.stage
        assert env.request == request
        fields = {name for name, place in LAYOUT.items() if env.asked()[place].any()}
        assert fields <= set(FIELDS_OF[request.stage])
        seen, _, over, _, _ = env.step(np.zeros(WIDTH, np.int8))
    assert over
    assert not seen.any()
    assert not env.asked().any()


def test_masked_samples_answer_what_is_asked_and_nothing_else() -> None:
    env = FeaturesEnv()
    env.action_space.seed(0)
    env.reset(seed=0)
    over = False
    while not over:
        mask, asked = env.action_mask(), env.asked()
        assert mask.shape == (WIDTH, int(VALUES.max()))
        assert (mask.sum(axis=1) == np.where(asked, VALUES, 1)).all()
        drawn = np.array([env.action_space.sample(mask) for _ in range(200)])
        assert drawn.dtype == np.int8
        assert env.action_space.contains(drawn[0])
        assert not drawn[:, ~asked].any()
        assert (drawn.max(axis=0)[asked] == VALUES[asked] - 1).all()
        assert (drawn.min(axis=0)[asked] == 0).all()
        _, _, over, _, _ = env.step(drawn[0])
    assert env.action_space.sample(tuple(np.ones(n, np.int8) for n in VALUES)).shape == (WIDTH,)
    with pytest.raises(ValueError, match=r"shape \(3,\), expected \(139, 8\)"):
        env.action_space.sample(np.ones(3))


def test_silence_earns_nothing() -> None:
    env = FeaturesEnv()
    env.reset(seed=1)
    over, total = False, 0.0
    while not over:
        _, reward, over, _, _ = env.step(np.zeros(WIDTH, np.int8))
        total += reward
    assert total == 0


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (np.zeros(3, np.int8), r"whole numbers of shape \(139,\), got int8 \(3,\)"),
        (np.zeros(WIDTH), "got float64"),
        (["yes"] * WIDTH, "got <U3"),
        (np.full(WIDTH, 9), r"action\[0\], of emotions, is 9; it must be 0 to 7"),
        (np.where(np.arange(WIDTH) == 20, -1, 0).astype(np.int8), "emotions_none, is -1; it must be 0 to 1"),
        (np.where(np.arange(WIDTH) == 22, 130, 0).astype(np.uint8), r"action\[22\], of observed, is 130"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(action: Any, told: str) -> None:
    env = FeaturesEnv()
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match=told):
        env.step(action)


def test_stepping_without_a_reset_and_after_the_end_raises_gymnasiums_error() -> None:
    env = FeaturesEnv()
    with pytest.raises(ResetNeeded, match="has not begun"):
        env.step(np.zeros(WIDTH, np.int8))
    random_return(env, 0)
    with pytest.raises(ResetNeeded, match="is over"):
        env.step(np.zeros(WIDTH, np.int8))
    env.reset()
    with pytest.raises(TypeError, match="stage assess takes Assess, got Draft"):
        env.encode(Draft("I hear you."))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"data": "simulated"}, "has no end.*give number="),
        ({"stages": ("draft",)}, "'draft' has no numbers that pay; choose from assess, prefer, reflect"),
        ({"stages": ("judge",)}, "judge.*assess"),
        ({"stages": "assess"}, "not one text"),
        ({"words": -1}, "words is -1; it must be a whole number from 0 to 65,536"),
        ({"words": 2.0}, "words is 2.0"),
        ({"reward": "kindness"}, "kindness.*composite"),
        ({"dense": "later"}, "dense is .later."),
        ({"sampling": "sorted"}, "sorted.*sequential"),
        ({"data": Conversations([conversation(turn())]), "stages": ("prefer",)}, "of the stages prefer"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_are_refused_with_the_choices(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises((SettingsError, UnknownNameError), match=told):
        FeaturesEnv(**arguments)


def test_rewards_and_render_modes_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="reward is 3; expected"):
        FeaturesEnv(reward=3)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"no render mode named .rgb_array.; .*ansi, human"):
        FeaturesEnv(render_mode="rgb_array")


def test_a_transcript_shows_truth_prediction_and_reward(capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("ansi", "human"):
        env = FeaturesEnv(render_mode=mode, sampling="sequential")
        with pytest.raises(ResetNeeded, match=r"call reset\(\) before render\(\)"):
            env.render()
        env.reset(seed=0)
        _, reward, *_ = env.step(np.zeros(139, np.int8))
        shown = env.render() if mode == "ansi" else capsys.readouterr().out
        assert shown is not None
        assert "sample-01" in shown
        assert "emotions" in shown
        assert f"reward {reward:.4f} (" in shown
        env.reset(options={"index": 1})
        if mode == "ansi":
            assert "reward" not in str(env.render())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"conversation_id": "nobody"}, "nobody.*sample"),
        ({"index": 20}, r"index is 20; it must be one of range\(0, 20\)"),
        ({"index": True}, "index is true"),
        ({"topic": "work"}, "options are .topic.; reset takes one of conversation_id, index"),
        ({"index": 1, "conversation_id": "sample-01"}, "reset takes one of"),
    ],
)
def test_unknown_options_are_refused_with_the_choices(options: dict[str, Any], told: str) -> None:
    with pytest.raises((SettingsError, UnknownNameError), match=told):
        FeaturesEnv().reset(options=options)


def test_conversations_that_ask_nothing_are_passed_over() -> None:
    silent, speaking = (
        one.model_copy(update={"conversation_id": name})
        for name, one in (("silent", conversation(turn())), ("speaking", SAMPLE[0]))
    )
    env = FeaturesEnv(Conversations([silent, speaking]), stages=("prefer",), sampling="sequential")
    assert [name for name, _ in random_return(env, 0, 3)] == ["speaking"] * 3
    with pytest.raises(SettingsError, match=r".silent. has no request of the stages prefer"):
        env.reset(options={"conversation_id": "silent"})


# --- order and seeds ----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_episodes_and_rewards() -> None:
    one, two = gymnasium.make(ID), gymnasium.make(ID)
    first = random_return(one, 5, 8)
    assert first == random_return(two, 5, 8)
    assert first == random_return(one, 5, 8)  # a seed begins the order anew
    assert first != random_return(two, 6, 8)


def test_sequential_and_shuffled_orders_play_all_exactly_once() -> None:
    names = [one.conversation_id for one in SAMPLE]
    played = [name for name, _ in random_return(FeaturesEnv(sampling="sequential"), 0, 20)]
    assert played == names
    shuffled = [name for name, _ in random_return(FeaturesEnv(), 0, 20)]
    assert sorted(shuffled) == sorted(names)
    assert shuffled != names
    shards = [FeaturesEnv(sampling="sequential", shard=(k, 3)) for k in range(3)]
    each = [[name for name, _ in random_return(env, 0, len(env.pool))] for env in shards]
    assert sorted(name for names_of in each for name in names_of) == sorted(names)
    with pytest.raises(UnknownNameError, match="sample-02"):
        shards[0].reset(options={"conversation_id": "sample-02"})


def test_weights_say_who_is_played() -> None:
    weights = {one.conversation_id: 0 for one in SAMPLE} | {"sample-03": 1, "sample-05": 1}
    env = FeaturesEnv(sampling="weighted", weights=weights)
    assert {name for name, _ in random_return(env, 0, 20)} == {"sample-03", "sample-05"}


def test_another_process_agrees() -> None:
    code = (
        "import gymnasium, json\n"
        f"env = gymnasium.make({ID!r}, data='simulated', number=6, reward='skill')\n"
        "env.action_space.seed(3)\nplayed = []\n"
        "for seed in (3, None, None):\n"
        "    _, info = env.reset(seed=seed); over, total = False, 0.0\n"
        "    while not over:\n"
        "        _, reward, over, _, _ = env.step(env.action_space.sample()); total += reward\n"
        "    played.append([info['conversation_id'], total])\n"
        "print(json.dumps(played))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    env = gymnasium.make(ID, data="simulated", number=6, reward="skill")
    assert json.loads(done.stdout) == [list(pair) for pair in random_return(env, 3, 3)]


# --- Gymnasium ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{}, {"data": "simulated", "number": 3, "reward": "skill"}, {"words": 0}])
def test_check_env_finds_nothing(data: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(ID, **data).unwrapped)


@pytest.mark.parametrize(
    "wrap",
    [
        wrappers.FlattenObservation,
        lambda env: wrappers.TimeLimit(env, 5),
        wrappers.RecordEpisodeStatistics,
        lambda env: wrappers.TransformObservation(env, lambda seen: seen * 0.5, env.observation_space),
        lambda env: wrappers.FrameStackObservation(env, 2),
        lambda env: wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(wrappers.FlattenObservation(env), 7)),
    ],
)
def test_check_env_finds_nothing_on_wrapped_forms(wrap: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")  # that it is wrapped
        check_env(wrap(gymnasium.make(ID).unwrapped), skip_render_check=True)


def test_wrapped_by_time_and_statistics_it_still_works() -> None:
    env = wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(gymnasium.make(ID), 4))
    env.reset(seed=0)
    total = 0.0
    for number in range(4):
        _, reward, over, cut, info = env.step(env.action_space.sample())
        total += float(reward)
        assert cut == (number == 3)
        assert not over
    assert info["episode"]["r"] == pytest.approx(total)
    assert env.get_wrapper_attr("action_mask")().shape == (WIDTH, 8)


def test_the_spec_survives_json() -> None:
    env = gymnasium.make(
        ID, data="simulated", number=2, reward={"preset": "skill", "format": 0.1}, shard=(0, 2)
    )
    assert env.spec is not None
    again = gymnasium.make(type(env.spec).from_json(env.spec.to_json()))
    assert random_return(again, 2, 2) == random_return(env, 2, 2)
    assert describe_reward(features(again).pool.spec) == describe_reward(features(env).pool.spec)
    env.close()


def test_observations_and_infos_are_not_shared_between_calls() -> None:
    env = FeaturesEnv()
    seen, _ = env.reset(seed=0)
    seen[:] = 7
    again, _ = env.reset(seed=0)
    assert np.abs(again).max() <= 1
    env.asked()[:] = False
    assert env.asked().any()


def test_simulated_worlds_and_other_numbers_of_words_are_played() -> None:
    env = gymnasium.make(ID, data="simulated", number=4, world_seed=9, words=5, labels_seed=2)
    assert env.observation_space.shape == (258 + 20,)
    names = {one.conversation_id for one in simulate(4, seed=9)}
    assert {name for name, _ in random_return(env, 0, 4)} == names
