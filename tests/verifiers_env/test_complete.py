"""What is not complete is never taken for a result: limits, time-outs, failures; what training refuses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import verifiers.v1 as vf

from attune_episodes.verifiers_env import AttuneData, AttuneTask
from tests.endpoint import serve
from tests.verifiers_env.play import (
    MODEL,
    environment,
    episodes,
    first_task,
    lexicon,
    metric,
    replies,
    sample,
)


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_limit_of_turns_leaves_no_result(parallel: int) -> None:
    with serve(lexicon()) as server:
        env = environment({"number": 1}, {"max_turns": 6, "harness": {"parallel": parallel}})
        (episode,) = episodes(env, server.url)
    (trace,) = episode.traces
    assert trace.stop_condition == "max_turns"
    assert (episode.ok, trace.ok, env.complete(episode)) == (False, False, False)
    (error,) = trace.errors
    assert error.type == "IncompleteEpisodeError"
    assert "of 21 requests have no reply" in error.message
    assert "(stopped by: max_turns)" in error.message
    assert trace.rewards == {"composite_strict": None}
    answered = sum(entry["text"] is not None for entry in replies(trace).values())
    assert trace.metrics["answered"] == answered
    # verifiers looks at the limit when a call begins: those in flight may pass it, or be given up
    assert answered == 6 if parallel == 1 else answered < 6 + parallel


def test_a_limit_that_is_just_enough_leaves_a_result() -> None:
    with serve(lexicon()) as server:
        (episode,) = episodes(environment({"number": 1}, {"max_turns": 21}), server.url)
    assert episode.ok
    assert episode.traces[0].metrics["answered"] == 21.0


def test_a_time_limit_leaves_no_result() -> None:
    with serve(lexicon(), faults=["hang,seconds=20,of=*/2/assess"]) as server:
        env = environment({"number": 1}, {"timeout": {"rollout": 1.0}})
        (episode,) = episodes(env, server.url)
    (trace,) = episode.traces
    assert trace.stop_condition == "agent_timeout"
    assert not episode.ok
    assert not trace.ok
    assert trace.reward == 0.0
    assert 'the first of them "sample-01/2/assess"' in trace.errors[0].message


@pytest.mark.parametrize("limit", ["max_input_tokens", "max_output_tokens", "max_total_tokens"])
def test_a_limit_of_tokens_leaves_no_result(limit: str) -> None:
    with serve(lexicon()) as server:
        (episode,) = episodes(environment({"number": 1}, {limit: 2000}), server.url)
    (trace,) = episode.traces
    assert trace.stop_condition == limit
    assert not episode.ok
    assert [error.type for error in trace.errors] == ["IncompleteEpisodeError"]
    assert 0 < metric(trace, "answered") < 21


@pytest.mark.parametrize("granularity", ["conversation", "request"])
def test_an_endpoint_that_keeps_failing_fails_the_rollout_with_its_own_error(granularity: str) -> None:
    with serve(lexicon(), faults=["503,of=*/2/prefer"]) as server:
        env = environment({"number": 1, "granularity": granularity}, {"harness": {"retries": 2}})
        found = episodes(env, server.url)
        assert sum(call.request == "sample-01/2/prefer" for call in server.calls) == 3
    failed = [episode for episode in found if not episode.ok]
    (episode,) = failed
    (trace,) = episode.traces
    (error,) = trace.errors  # the endpoint's, with nothing of ours beside it
    assert error.type == "ProviderError"
    assert error.status_code == 503
    entry = replies(trace)["sample-01/2/prefer"]
    assert (entry["text"], entry["status"], entry["calls"]) == (None, "failed", 3)
    assert entry["failed"].startswith("HTTP 503")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_no_retry_would_mend_is_not_retried(status: int) -> None:
    with serve(lexicon(), faults=[str(status)]) as server:
        (episode,) = episodes(environment({"number": 1}), server.url)
    assert len(server.calls) == 1
    assert not episode.ok
    assert episode.traces[0].errors[0].status_code == status


def test_one_failure_stops_the_other_requests_of_its_episode_and_no_other_episode() -> None:
    with serve(lexicon(), faults=["500,of=sample-02/1/draft"], latency=0.01) as server:
        env = environment({"number": 3}, {"harness": {"parallel": 3, "retries": 0}})
        found = episodes(env, server.url)
    assert [episode.ok for episode in found] == [True, False, True]
    assert sum((call.request or "").startswith("sample-02/") for call in server.calls) < 10


def test_an_agents_own_retry_plays_the_whole_task_again() -> None:
    with serve(lexicon(), faults=["500,first=1,of=*/end/reflect"]) as server:
        agent = {"harness": {"retries": 0}, "retries": {"max_retries": 1}}
        (episode,) = episodes(environment({"number": 1}, agent), server.url)
    assert episode.ok
    assert len(server.calls) == 42
    assert episode.traces[0].metrics["answered"] == 21.0


def test_scoring_that_did_not_happen_leaves_no_result() -> None:
    env = environment({"number": 1})
    with serve(lexicon()) as server:
        (episode,) = episodes(env, server.url)
    (trace,) = episode.traces
    trace.rewards = {"composite_strict": None}  # what a time limit of scoring leaves behind
    asyncio.run(env.finalize(first_task(env), episode))
    assert not trace.ok
    assert "the replies were not scored" in trace.errors[0].message


def test_a_training_client_may_not_play_the_benchmark_and_an_evaluation_may() -> None:
    record = {**sample()[0].to_record(), "provenance": "benchmark"}
    task = first_task(environment({"number": 1}))
    bench = AttuneTask(AttuneData.model_validate({**task.data.model_dump(), "conversation": record}))
    with serve(lexicon()) as server:
        env = environment({"number": 1})
        (allowed,) = episodes(env, server.url, [bench])
        calls = len(server.calls)
        agent: dict[str, Any] = {"client": {"type": "train", "base_url": server.url}}
        (refused,) = episodes(environment({"number": 1}, agent), server.url, [bench])
        assert len(server.calls) == calls
    assert allowed.ok
    assert not refused.ok
    assert refused.traces == []
    assert "this conversation may not be trained on" in refused.errors[0].message


def test_the_harness_refuses_tasks_of_others() -> None:
    with serve(lexicon()) as server:
        stranger: Any = vf.Task(vf.TaskData(prompt="Hello"))
        (episode,) = episodes(environment({"number": 1}), server.url, [stranger])
    assert "plays tasks of its own taskset only, got TaskData" in episode.traces[0].errors[0].message


def test_an_episode_tells_the_model_that_played_it() -> None:
    with serve(lexicon()) as server:
        (episode,) = episodes(environment({"number": 1}), server.url)
    record = json.loads(json.dumps(episode.to_record()))
    assert record["traces"][0]["agent"]["config"]["model"] == MODEL
