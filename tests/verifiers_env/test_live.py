"""Live conversations through verifiers: the person answers what the endpoint says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from attune_data import DataError
from attune_data.simulate import Simulation
from attune_episodes.live import LiveEpisode
from attune_episodes.verifiers_env import rollouts_from
from attune_episodes.verifiers_env.config import AttuneTaskConfig, AttuneTasksetConfig
from attune_episodes.verifiers_env.tasks import AttuneData, AttuneTask
from tests.endpoint import serve
from tests.verifiers_env.play import environment, episodes, first_task, key, metric, played, reward, taskset

REPLIES = (
    "It sounds like that hurt… and it makes sense that you are upset. What happened then?",
    "You should simply move on.",
    "I can see how much this weighs on you, and no wonder.",
)


def model(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the endpoint says: the next of `REPLIES`."""
    said = sum(message["role"] == "assistant" for message in messages)
    return REPLIES[said % len(REPLIES)]


def engine(index: int, seed: int = 0, **arguments: Any) -> LiveEpisode:
    live = LiveEpisode(Simulation(seed), index, **arguments)
    while not live.done:
        live.say(REPLIES[len(live.turns) % len(REPLIES)])
    return live


def test_totals_are_those_of_the_live_episode() -> None:
    with serve(model) as server:
        traces = played(environment({"live": True, "number": 4, "world_seed": 8}), server.url)
        calls = len(server.calls)
    for index, trace in enumerate(traces):
        live = engine(index, 8)
        assert key(trace) == live.name
        assert reward(trace, "live_total").score == live.total == trace.reward
        assert metric(trace, "replies") == len(live.turns)
        assert metric(trace, "lost") == live.length - len(live.turns)
        assert metric(trace, "fit") == pytest.approx(sum(t.fit for t in live.turns) / len(live.turns))
        assert metric(trace, "worth") == pytest.approx(
            sum(t.taken.worth for t in live.turns) / len(live.turns)
        )
        assert metric(trace, "told") == live.talk.bond.disclosed
        assert [entry["text"] for entry in trace.info["attune"]["said"]] == [
            REPLIES[place % len(REPLIES)] for place in range(len(live.turns))
        ]
    assert calls == sum(len(engine(index, 8).turns) for index in range(4))


def test_the_chat_grows_by_the_reply_as_it_came_so_that_a_trace_is_one_branch() -> None:
    with serve(model) as server:
        (trace,) = played(environment({"live": True, "number": 1}), server.url)
        calls = [call.body["messages"] for call in server.calls]
    for before, after in pairwise(calls):
        assert after[: len(before)] == before
        said, answer = after[len(before) :]
        assert said == {"role": "assistant", "content": model(before)}
        assert answer["role"] == "user"
    sampled = [node for node in trace.nodes if node.sampled]
    assert len(sampled) == len(calls)
    parents = {node.parent for node in trace.nodes}
    assert sum(index not in parents for index in range(len(trace.nodes))) == 1  # one leaf


def test_another_reader_scores_what_it_reads() -> None:
    with serve(model) as server:
        (trace,) = played(environment({"live": True, "number": 1, "reader": "lexicon"}), server.url)
    assert trace.reward == engine(0, reader="lexicon").total


def test_a_trace_scores_again_without_a_model() -> None:
    with serve(model) as server:
        (trace,) = played(environment({"live": True, "number": 1}), server.url)
    task = AttuneTask(AttuneData.model_validate(trace.task.data.model_dump()), AttuneTaskConfig())
    assert asyncio.run(task.total(trace)) == {"live_total": trace.reward}


def test_a_conversation_that_was_stopped_is_no_result() -> None:
    with serve(model) as server:
        (episode,) = episodes(environment({"live": True, "number": 1}, {"max_turns": 2}), server.url)
    (trace,) = episode.traces
    assert not trace.ok
    assert "the person still waits for a reply after 2" in str(trace.errors)
    assert set(trace.rewards.values()) <= {None}


def test_an_endpoint_that_fails_is_an_error_not_a_score() -> None:
    with serve(model, faults=["401"]) as server:
        (episode,) = episodes(environment({"live": True, "number": 1}), server.url)
    assert not episode.traces[0].ok
    (entry,) = episode.traces[0].info["attune"]["said"]
    assert entry["text"] is None
    assert "401" in entry["failed"]


def test_a_system_prompt_stands_first() -> None:
    env = environment({"live": True, "number": 1})
    task = first_task(env)
    told = AttuneTask(task.data.model_copy(update={"system_prompt": "Be kind."}), task.config)
    with serve(model) as server:
        (trace,) = played(env, server.url, [told])
        firsts = {str(call.body["messages"][0]) for call in server.calls}
    assert firsts == {str({"role": "system", "content": "Be kind."})}
    assert trace.reward == engine(0).total


def test_tasks_of_a_world_have_no_end_without_a_number_and_are_valid() -> None:
    endless = taskset(live=True)
    assert endless.INFINITE
    tasks = list(endless.take(3))
    assert [task.key for task in tasks] == [LiveEpisode(Simulation(0), i).name for i in range(3)]
    assert not taskset(live=True, number=2).INFINITE
    assert len(list(taskset(live=True, number=2))) == 2
    for task in tasks:
        assert isinstance(task, AttuneTask)
        assert asyncio.run(task.validate(None))  # type: ignore[arg-type]  # it needs no runtime
        told = task.data.model_dump()
        assert task.data.prompt == LiveEpisode(Simulation(0), tasks.index(task)).message
        told["live"]["world"]["key"] = "0" * 64
        with pytest.raises(DataError, match="another version"):
            AttuneData.model_validate(told).check_prompts()


def test_a_configuration_goes_through_json() -> None:
    config = AttuneTasksetConfig.model_validate({"live": True, "level": "plain", "number": 2})
    assert config.data == "simulated"
    again = AttuneTasksetConfig.model_validate(config.model_dump(mode="json"))
    assert again == config


@pytest.mark.parametrize(("config", "told"), [
    ({"data": "sample"}, "no known state"),
    ({"reader": "judge"}, "no reader named"),
    ({"reward": "skill"}, 'reward is "skill"; it does not apply to live conversations'),
    ({"granularity": "request"}, 'granularity is "request"'),
    ({"stages": ["draft"]}, "stages is"),
    ({"where": "who_5<13"}, "where is"),
    ({"task": {"draft_judge": {"enabled": True}}}, "no drafts to rate"),
])  # fmt: skip
def test_what_does_not_apply_is_refused(config: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        AttuneTasksetConfig.model_validate({"live": True, **config})


def test_a_live_trace_is_no_record_and_the_error_says_so() -> None:
    with serve(model) as server:
        traces = played(environment({"live": True, "number": 1}), server.url)
    with pytest.raises(DataError, match="live conversation, which has no result record"):
        rollouts_from(traces)
