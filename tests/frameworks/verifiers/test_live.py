"""`attune-live` in verifiers: a played person over real HTTP, the rollout's model on the same server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import verifiers.v1 as vf

from attune_data.format.validate import conversation_from
from attune_episodes.frameworks.verifiers.live import INFO, LiveEnv, LiveTaskset, LiveTasksetConfig
from attune_episodes.frameworks.verifiers.tasks import NotPlayableError
from attune_episodes.people.cards import plan, plan_text
from tests.endpoint import serve
from tests.frameworks.verifiers.play import episodes
from tests.people.scripted import Script

SYSTEM = "You are a helpful assistant."  # by which the script knows that a reply is asked for


def environment(taskset: dict[str, object]) -> LiveEnv:
    harness = {"id": "attune-live", "system": SYSTEM}
    config = vf.resolve_env_config(
        {"taskset": {"id": "attune-live", **taskset}, "agent": {"harness": harness}}
    )
    made = vf.load_environment(config)
    assert isinstance(made, LiveEnv)
    return made


def test_an_episode_is_a_conversation_and_its_reward_the_total_of_the_live_episode(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    path.write_text(plan_text(plan(3, 11)), encoding="utf-8")
    with serve(Script()) as server:
        env = environment({"people": str(path), "person": f"lab/person@{server.url}", "part": "train"})
        played = episodes(env, server.url)
    assert len(played) == 3
    for episode in played:
        (trace,) = episode.traces
        assert trace.ok, trace.errors
        about = trace.info[INFO]
        lost = trace.task.data.card["turns"] - about["turns"]
        assert (lost > 0) is about["left"]
        earned = trace.rewards["live_total"]
        assert earned is not None
        assert earned.score == about["total"]
        assert trace.metrics["turns"] == len(about["rewards"]) == len([n for n in trace.nodes if n.sampled])
        assert conversation_from(json.loads(json.dumps(about["record"])), "live").origin == "played"


def test_a_server_that_fails_each_call_once_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    path.write_text(plan_text(plan(1, 11)), encoding="utf-8")
    found = []
    for faults in ([], ["503,retry_after=0,first=1"]):
        with serve(Script(), faults) as server:
            env = environment({"people": str(path), "person": f"lab/person@{server.url}"})
            ((trace,),) = (episode.traces for episode in episodes(env, server.url))
            found.append(trace.info[INFO])
            assert server.facts()["statuses"].keys() == ({"200", "503"} if faults else {"200"})
    assert found[0] == found[1]


def test_people_that_nobody_plays_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    path.write_text(plan_text(plan(2, 11)), encoding="utf-8")
    for people, why in (("", "--env.taskset.people"), (str(path), "nobody plays the persons")):
        with pytest.raises(NotPlayableError, match=why):
            list(LiveTaskset(LiveTasksetConfig(people=people)).load())
