"""Live conversations in SkyRL-gym: the same replies earn the same; leaving, metrics and the end."""

from __future__ import annotations

from typing import Any

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")

from attune_data.simulate import Simulation  # noqa: E402
from attune_episodes import score_row  # noqa: E402
from attune_episodes.episode import EpisodeOverError  # noqa: E402
from attune_episodes.live import LiveEpisode  # noqa: E402
from attune_episodes.trainers import live_rows, to_skyrl, training_dataset  # noqa: E402
from attune_episodes.trainers.skyrl import register_environments  # noqa: E402
from tests.episodes.live.roads import check_road  # noqa: E402


def made(row: dict[str, Any]) -> Any:
    """The environment of a row, and its first messages."""
    register_environments()
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=row)
    return env, *env.init(row["prompt"])


def test_it_pays_what_the_live_episode_pays() -> None:
    check_road("skyrl")


def test_it_ends_when_the_person_leaves_and_begins_anew() -> None:
    world = Simulation(8)
    rows = to_skyrl(live_rows(world, 20))
    left = 0
    for index, row in enumerate(rows):
        env, chat, info = made(row)
        live = LiveEpisode(world, index)
        assert info == {"requests": live.length}
        assert chat == live.chat()
        first = env.step("")
        live.say("")
        while not live.done:
            step = env.step("")
            turn = live.say("")
            assert (step["reward"], step["done"]) == (turn.reward, turn.done)
            assert [m["content"] for m in step["observations"]] == ([] if turn.done else [live.message])
        left += live.turns[-1].answer == "leaves"
        assert env.get_metrics()["return"] == pytest.approx(live.total, abs=1e-12)
        with pytest.raises(EpisodeOverError, match="init"):
            env.step("more")
        env.init(row["prompt"])
        assert env.step("") == first
    assert left


def test_one_reply_is_a_request_of_its_own() -> None:
    rows = training_dataset("simulated", number=1, stages=["respond"])
    env, _, _ = made(to_skyrl(rows)[1])
    step = env.step("You sound hurt.")
    assert (step["reward"], step["done"]) == (score_row(rows[1], "You sound hurt.").value, True)
