"""Episodes through verifiers against a real endpoint: what is sent, what is kept, what it earns."""

from __future__ import annotations

import asyncio
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf

from attune_data import DataError
from attune_episodes import Request, builtin_policy, parse, plan, rollout, score_row
from attune_episodes.frameworks.verifiers import node_rewards
from attune_episodes.frameworks.verifiers.tasks import AttuneTask
from attune_episodes.frameworks.verifiers.traces import AttuneData
from attune_episodes.play.task import replay
from attune_episodes.training import training_dataset
from tests.endpoint import Call, serve
from tests.frameworks.verifiers.play import (
    environment,
    episodes,
    first_task,
    key,
    lexicon,
    metric,
    played,
    replies,
    reward,
    sample,
)


def asked(call: Call) -> list[dict[str, str]]:
    messages: list[dict[str, str]] = call.body["messages"]
    return messages


def node_text(trace: Any, index: int) -> str:
    return str(trace.nodes[index].message.content or "")


def test_every_request_is_sent_word_for_word_in_the_protocols_order() -> None:
    about = sample()[0]
    with serve(lexicon()) as server:
        (trace,) = played(environment({"number": 1}), server.url)
    assert [asked(call) for call in server.calls] == [request.chat() for request in plan(about)]
    assert server.most_in_flight == 1
    assert list(replies(trace)) == [request.id for request in plan(about)]


def test_requests_of_an_episode_may_be_in_flight_together() -> None:
    with serve(lexicon(), latency=0.05) as server:
        env = environment({"number": 1}, {"harness": {"parallel": 7}})
        (trace,) = played(env, server.url)
        assert server.most_in_flight == 7
    engine = rollout(sample()[0], builtin_policy("lexicon", sample()))
    assert trace.reward == engine.total
    kept = replies(trace)
    assert {name: entry["text"] for name, entry in kept.items()} == {
        step.request.id: step.reply for step in engine.steps
    }
    for entry in kept.values():
        (node,) = entry["nodes"]
        assert node_text(trace, node) == entry["text"]


def test_one_request_a_task_pays_what_its_training_row_pays() -> None:
    rows = {row["id"]: row for row in training_dataset(list(sample()[:2]))}
    with serve(lexicon()) as server:
        env = environment({"number": 2, "granularity": "request", "reward": "skill"})
        traces = played(env, server.url)
        assert len(server.calls) == len(rows)
        assert server.unknown == []
    book = {request.id: lexicon()(request.chat()) for about in sample()[:2] for request in plan(about)}
    for trace in traces:
        row = rows[key(trace)]
        earned = score_row(row, str(book[key(trace)]))
        assert reward(trace, "skill_request").score == earned.value
        assert metric(trace, "weight") == row["weight"]
        assert {name: trace.metrics[name] for name in earned.parts} == dict(earned.parts)
    by_weight = sum(metric(t, "weight") * t.reward for t in traces if key(t).startswith("sample-01/"))
    engine = rollout(sample()[0], builtin_policy("lexicon", sample()), reward="skill")
    assert by_weight == pytest.approx(engine.total, abs=1e-12)


@pytest.mark.parametrize("reward", ["composite", "skill", {"preset": "composite", "terminal": True}])
def test_each_reply_of_a_trace_earns_its_share_of_the_reward(reward: Any) -> None:
    with serve(lexicon(), faults=["garbage,first=1,of=*/2/assess", "garbage,of=*/3/assess"]) as server:
        (trace,) = played(environment({"number": 1, "reward": reward}), server.url)
    saved = json.loads(trace.model_dump_json(exclude_none=True))
    earned = node_rewards(trace)
    assert earned == node_rewards(saved)
    assert math.fsum(earned) == pytest.approx(trace.reward, abs=1e-12)
    texts = {name: entry["text"] for name, entry in replies(trace).items()}
    task = trace.task.data.task
    for step in replay(task, texts).steps:
        *unread, counts = replies(trace)[step.request.id]["nodes"]
        assert earned[counts] == step.reward
        assert not any(earned[index] for index in unread)
    for entry in saved["info"]["attune"]["replies"].values():
        del entry["reward"]  # as an older version left it
    with pytest.raises(DataError, match=r"without its reward.*vf-replay"):
        node_rewards(saved)


def test_a_reply_that_cannot_be_read_is_asked_for_again_with_the_very_same_messages() -> None:
    with serve(lexicon(), faults=["garbage,first=1,of=*/2/assess"]) as server:
        (trace,) = played(environment({"number": 1}), server.url)
    twice = [call for call in server.calls if call.request == "sample-01/2/assess"]
    assert len(twice) == 2
    assert asked(twice[0]) == asked(twice[1])
    entry = replies(trace)["sample-01/2/assess"]
    assert (entry["status"], entry["asks"], entry["calls"]) == ("ok", 2, 2)
    unread, read = entry["nodes"]
    assert node_text(trace, unread) == "I would rather not say. {"
    assert node_text(trace, read) == entry["text"]
    assert trace.nodes[unread].parent == trace.nodes[read].parent
    assert metric(trace, "reasks") == 1.0
    assert trace.reward == rollout(sample()[0], builtin_policy("lexicon", sample())).total


@pytest.mark.parametrize(("reasks", "calls"), [(0, 1), (1, 2), (3, 4)])
def test_the_last_reply_counts_however_bad_it_is(reasks: int, calls: int) -> None:
    with serve(lexicon(), faults=["garbage,of=*/1/assess"]) as server:
        env = environment({"number": 1}, {"harness": {"reasks": reasks, "parallel": 5}})
        (trace,) = played(env, server.url)
    assert sum(call.request == "sample-01/1/assess" for call in server.calls) == calls
    entry = replies(trace)["sample-01/1/assess"]
    assert (entry["status"], entry["asks"]) == ("unparsed:truncated", calls)
    assert len(entry["nodes"]) == calls
    assert metric(trace, "answered") == 21.0
    assert metric(trace, "parse_rate") == 20 / 21
    book = lexicon()
    engine = rollout(
        sample()[0],
        lambda messages: "{" if messages == plan(sample()[0])[1].chat() else str(book(messages)),
    )
    assert trace.reward == engine.total


@pytest.mark.parametrize(
    ("fault", "text", "reason", "refused"),
    [
        ("length", None, "length", False),
        ("refusal", "", "refusal", True),
        ("content_filter", "", "content_filter", False),
        ("empty", "", "stop", False),
    ],
)
def test_what_a_model_gives_in_place_of_an_answer_is_kept_and_earns_nothing(
    fault: str, text: str | None, reason: str, refused: bool
) -> None:
    with serve(lexicon(), faults=[f"{fault},of=*/end/reflect"]) as server:
        (trace,) = played(environment({"number": 1}), server.url)
    entry = replies(trace)["sample-01/end/reflect"]
    whole = str(lexicon()(plan(sample()[0])[-1].chat()))
    assert entry["text"] == (whole[: len(whole) // 2] if text is None else text)
    assert entry["finish_reason"] == reason
    assert entry.get("refusal", False) is refused
    assert entry["status"].startswith("unparsed:")
    assert metric(trace, "q2") == metric(trace, "panas_pa") == 0.0
    assert metric(trace, "pairwise") > 0


@pytest.mark.parametrize("fault", ["500", "drop"])
def test_what_fails_on_the_way_is_tried_again_and_leaves_no_trace_in_the_score(fault: str) -> None:
    with serve(lexicon(), faults=[f"{fault},first=2,of=*/3/*"]) as server:
        env = environment({"number": 1}, {"harness": {"parallel": 3, "retries": 2}})
        (trace,) = played(env, server.url)
    entries = [entry for name, entry in replies(trace).items() if "/3/" in name]
    assert [entry["calls"] for entry in entries] == [3] * 4
    assert [entry["asks"] for entry in entries] == [1] * 4
    assert all(len(entry["nodes"]) == 1 for entry in entries)
    assert metric(trace, "retries") == 8.0
    assert trace.reward == rollout(sample()[0], builtin_policy("lexicon", sample())).total


def test_a_trace_scores_the_same_when_it_comes_back_from_disk() -> None:
    with serve(lexicon(), faults=["garbage,of=*/1/prefer"]) as server:
        traces = played(environment({"number": 2}), server.url)
        single = played(environment({"number": 1, "granularity": "request"}), server.url)
    for trace in (*traces, *single):
        again = vf.WireTrace.model_validate(json.loads(trace.model_dump_json(exclude_none=True)))
        again.rewards, again.metrics = {}, {}
        task = AttuneTask(AttuneData.model_validate(again.task.data.model_dump()))
        asyncio.run(task.score(again))
        assert again.rewards == trace.rewards
        assert again.metrics == trace.metrics


def test_a_system_prompt_of_the_users_takes_the_place_of_the_plans(tmp_path: Any) -> None:
    path = tmp_path / "system.txt"
    path.write_text("You read feelings.", encoding="utf-8")
    sent: list[list[dict[str, str]]] = []
    for granularity in ("conversation", "request"):
        env = environment({"number": 1, "granularity": granularity, "system_prompt": str(path)})
        with serve(lambda messages: "{}") as server:
            played(env, server.url, [first_task(env)])
        sent += [asked(call) for call in server.calls]
    assert {messages[0]["content"] for messages in sent} == {"You read feelings."}
    assert sent[0][1:] == plan(sample()[0])[0].chat()[1:]


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
    assert "only plays tasks of its own taskset, got TaskData" in episode.traces[0].errors[0].message


DOCS = Path(__file__).parents[3] / "docs" / "verifiers.md"


def test_the_figures_shown_are_those_of_the_command_shown() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert "vf-eval attune-env -m MODEL -n 3 " in text
    (block,) = re.findall(r"```text\n(reward .*?)```", text, flags=re.DOTALL)
    policy = builtin_policy("lexicon", sample())
    played = [rollout(about, policy) for about in sample()[:3]]

    def mean(values: list[float]) -> str:
        return f"{sum(values) / len(values):.2f}"

    names = {name for one in played for name in one.parts}
    # as vf-eval sums up: a part that a conversation does not have counts as 0
    wanted = {name: mean([one.parts.get(name, 0.0) for one in played]) for name in names}
    wanted |= {
        "reward": mean([one.total for one in played]),
        "composite_strict": mean([one.total for one in played]),
        "parse_rate": mean([one.parse_rate for one in played]),
        "answered": mean([float(len(one.steps)) for one in played]),
        "reasks": "0.00",
        "retries": "0.00",
    }
    shown = dict(re.findall(r"(\w+) (\d+\.\d\d)", block))
    assert len(shown) == 9
    assert shown == {name: wanted[name] for name in shown}


def test_no_reply_is_parsed_twice_in_a_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(request: Request, text: str) -> Any:
        parsed.append(request.id)
        return parse(request, text)

    for module in ("run", "traces"):
        monkeypatch.setattr(f"attune_episodes.frameworks.verifiers.{module}.parse", counted)
    with serve(lexicon()) as server:
        (trace,) = played(environment({"number": 1}), server.url)
    assert sorted(parsed) == sorted(replies(trace))
