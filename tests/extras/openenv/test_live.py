"""Live conversations over OpenEnv: the same replies earn the same, and what a session sees of the person."""

from __future__ import annotations

import pytest

from attune_data.errors import SettingsError
from attune_data.simulate import Simulation
from attune_episodes.live import LiveEpisode
from attune_episodes.live.source import LiveSource
from attune_episodes.openenv_env import attune_app
from tests.episodes.live.roads import check_road
from tests.extras.openenv.serving import command, served, wire


def test_it_pays_what_the_live_episode_pays() -> None:
    check_road("openenv")


def test_a_session_sees_the_chat_and_what_it_earned_and_nothing_of_the_state() -> None:
    live = LiveEpisode(Simulation(8), 2)
    with served(LiveSource(world_seed=8)) as url, wire(url) as session:
        seen = session.reset(index=2)["data"]["observation"]
        assert [message["content"] for message in seen["messages"]] == [live.message]
        assert (seen["conversation_id"], seen["stage"], seen["turn"]) == (live.name, "live", 1)
        assert (seen["answered"], seen["requests"]) == (0, live.length)
        for _ in range(live.length):  # until it is over: both kinds of state are seen
            reply = "You should move on."
            told, turn = session.step(reply)["data"], live.say(reply)
            seen, said = told["observation"], len(live.turns)
            assert (told["reward"], told["done"]) == (turn.reward, turn.done)
            assert seen["status"] == turn.answer
            assert seen["parts"] == pytest.approx(turn.taken._asdict())
            assert [message["content"] for message in seen["messages"]] == [m["content"] for m in live.chat()]
            state = session.ask({"type": "state"})["data"]
            waits = (None, None) if live.done else ("live", said + 1)
            assert (state["stage"], state["turn"]) == (seen["stage"], seen["turn"]) == waits
            assert (state["step_count"], state["total"], state["done"]) == (said, live.total, live.done)
            if live.done:
                break
        assert live.done


def test_seeds_name_conversations_and_errors_say_what_is_wrong() -> None:
    with served(LiveSource(number=5)) as url, wire(url) as one, wire(url) as two:
        assert "reset first" in one.error({"type": "step", "data": {"message": "hm"}})
        first, second = (session.reset(seed=3)["data"]["observation"] for session in (one, two))
        assert first["messages"] == second["messages"]
        assert "chosen by index" in one.error({"type": "reset", "data": {"conversation_id": "sample-01"}})
        assert "index is 5" in one.error({"type": "reset", "data": {"index": 5}})
        assert one.step("hm")["data"]["observation"]["answered"] == 1  # the episode before goes on
        for _ in range(20):
            if one.step("")["data"]["done"]:
                break
        assert "is over after" in one.error({"type": "step", "data": {"message": "hm"}})


def test_the_command_serves_them() -> None:
    with command("--live", "--level", "plain", "--world-seed", "4") as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        with wire(url) as session:
            seen = session.reset(index=1)["data"]["observation"]
    assert seen["messages"][0]["content"] == LiveEpisode(Simulation(4, level="plain"), 1).message


def test_what_does_not_apply_is_refused() -> None:
    with pytest.raises(SettingsError, match="accept no settings, reward or selection"):
        attune_app(LiveSource(), reward="skill")
    with pytest.raises(SettingsError, match="accept no settings, reward or selection"):
        attune_app(LiveSource(), number=3)
    with command("--live", "--data", "written") as process:
        _, err = process.communicate(timeout=120)
    assert "--live excludes --data" in err
    assert process.returncode == 2
