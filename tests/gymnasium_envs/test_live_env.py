"""`Attune/Live-v0`: the live episode itself, as Gymnasium has it."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Iterator
from typing import Any, Final

import pytest
from gymnasium.error import InvalidAction, ResetNeeded

from attune_data.errors import SettingsError, UnknownNameError
from attune_data.simulate import Simulation
from attune_episodes.gymnasium_envs import LiveEnv
from attune_episodes.live import LiveEpisode
from tests.gymnasium_envs import play
from tests.gymnasium_envs.play import Env

make = functools.partial(play.make, id=play.LIVE)
REPLIES: Final = (
    "It sounds like that hurt, and it makes sense that you are upset. What happened then?",
    "",
    "You should simply move on.",
    "I can see how much this weighs on you, and no wonder.",
)


@pytest.fixture(autouse=True)
def _every_warning_is_an_error() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version")
        yield


def inner(env: Env) -> LiveEnv:
    found = env.unwrapped
    assert isinstance(found, LiveEnv)
    return found


def played(env: Env, **reset: Any) -> tuple[list[float], list[Any], dict[str, Any]]:
    """Rewards, observations and the last info of an episode with `REPLIES` in turn."""
    observation, info = env.reset(**reset)
    rewards: list[float] = []
    seen, done = [observation], False
    while not done:
        observation, reward, done, truncated, info = env.step(REPLIES[len(rewards) % len(REPLIES)])
        assert truncated is False
        rewards.append(float(reward))
        seen.append(observation)
    return rewards, seen, info


@pytest.mark.parametrize("index", range(4))
def test_an_episode_is_the_live_episode(index: int) -> None:
    env = make(world_seed=8, sampling="sequential")
    rewards, seen, info = played(env, options={"index": index})
    live = LiveEpisode(Simulation(8), index)
    for observation, reward in zip(seen, rewards, strict=False):
        assert observation["message"] == live.message
        assert observation["messages"].endswith(f"[user]\n{live.message}")
        assert observation["turn"] == len(live.turns) + 1
        assert reward == live.say(REPLIES[len(live.turns) % len(REPLIES)]).reward
    assert live.done
    assert seen[-1]["turn"] == 0
    assert seen[-1]["message"] == ("" if live.turns[-1].answer == "ends" else live.message)
    assert info["total"] == live.total == pytest.approx(sum(rewards), abs=1e-12)
    assert info["chat"] == live.chat()
    assert (info["index"], info["answer"]) == (index, live.turns[-1].answer)
    assert info["lost"] == live.length - len(live.turns)
    assert info["parts"]["worth"] == live.turns[-1].taken.worth


def test_orders_are_those_of_conversation_v0() -> None:
    for sampling in ("sequential", "shuffled"):
        env = make(sampling=sampling, number=4)
        seen = [env.reset(seed=3)[1]["index"]] + [env.reset()[1]["index"] for _ in range(7)]
        other = play.make(data="simulated", sampling=sampling, number=4)
        ids = [other.reset(seed=3)[1]["conversation_id"]]
        ids += [other.reset()[1]["conversation_id"] for _ in range(7)]
        assert [Simulation(0)[i].conversation_id for i in seen] == ids
        assert sorted(seen[:4]) == [0, 1, 2, 3]


def test_a_named_conversation_leaves_the_order_alone() -> None:
    env = make(sampling="sequential")
    named = [env.reset(options=options)[1]["index"] for options in (None, {"index": 7}, None)]
    assert named == [0, 7, 1]
    with pytest.raises(UnknownNameError, match="reset option"):
        env.reset(options={"conversation_id": "sample-01"})
    with pytest.raises(SettingsError, match="index is -1"):
        env.reset(options={"index": -1})
    with pytest.raises(SettingsError, match="index is 4"):
        make(number=3).reset(options={"index": 4})


def test_what_is_no_text_or_comes_too_early_or_late_is_refused() -> None:
    env = inner(make())
    with pytest.raises(ResetNeeded, match="before the first step"):
        env.step("hm")
    with pytest.raises(ResetNeeded, match="before render"):
        inner(make(render_mode="ansi")).render()
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match="an action must be a text, got 3"):
        env.step(3)  # type: ignore[arg-type]
    played(env, seed=1)
    with pytest.raises(ResetNeeded, match="next episode"):
        env.step("hm")


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"data": "sample"}, SettingsError, r"no known state.*Simulation\("),
    ({"where": "who_5<13"}, SettingsError, "where is"),
    ({"reader": "judge"}, UnknownNameError, "no reader named"),
    ({"level": "easy"}, UnknownNameError, "no level named"),
    ({"max_chars": 0}, SettingsError, "max_chars is 0"),
    ({"render_mode": "rgb_array"}, TypeError, "expected one of ansi, human"),
])  # fmt: skip
def test_arguments_that_name_nothing_are_refused(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        LiveEnv(**arguments)


def test_a_long_chat_keeps_its_end_within_the_space() -> None:
    env = make(max_chars=60)
    _, seen, info = played(env, seed=5)
    whole = "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in info["chat"])
    assert seen[-1]["messages"] == whole[-60:]
    assert all(observation in env.observation_space for observation in seen)


def test_transcripts_show_what_was_felt_wanted_and_paid(capsys: pytest.CaptureFixture[str]) -> None:
    env = make(render_mode="ansi")
    rewards, _, info = played(env, seed=5)
    shown = env.render()
    assert isinstance(shown, str)
    for number, reward in enumerate(rewards, 1):
        assert f"turn {number}: {reward:+.3f}\n" in shown
    for label in ("they said", "you said", "they felt", "wanted", "unwanted", "read as", "worth", "then"):
        assert f"\n{label} " in shown
    assert f"total {info['total']:+.3f}" in shown
    human = make(render_mode="human")
    played(human, seed=5)
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line] == [line for line in shown.splitlines() if line]
    with pytest.warns(UserWarning, match="render\\(\\) does nothing"):
        inner(make()).render()


def test_infos_are_plain_and_no_arrays_are_shared() -> None:
    _, _, info = played(make(), seed=2)
    assert json.loads(json.dumps(info)) == info
