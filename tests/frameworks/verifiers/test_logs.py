"""From traces to result files, and through the real `attune score` to the same number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_data.errors import DataError
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.frameworks.verifiers import rollouts_from
from attune_episodes.frameworks.verifiers.traces import AnyEpisode
from tests.endpoint import serve
from tests.frameworks.verifiers.play import MODEL, environment, episodes, key, lexicon, metric, sample


def written(folder: Path, found: list[AnyEpisode]) -> Path:
    """Episodes as vf-eval writes them."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(one.to_record(), ensure_ascii=False) for one in found]
    (folder / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_rollout_of_a_trace_is_the_engines_own() -> None:
    with serve(lexicon()) as server:
        found = episodes(environment({"number": 2, "mode": "default"}), server.url)
    for about, one in zip(sample(), rollouts_from([e.traces[0] for e in found]), strict=False):
        engine = rollout(about, builtin_policy("lexicon", sample()))
        assert (one.total, one.total_name, one.parts) == (engine.total, engine.total_name, engine.parts)
        same = {"turns", "post_conversation", "conversationId", "mode"}
        assert {k: one.result[k] for k in same} == {k: engine.result[k] for k in same}
        assert one.result["em_model"] == MODEL
        assert one.result["duration_seconds"] > 0
        assert one.result["attune"]["complete"] is True
        assert one.result["attune"]["verifiers"]["version"]


def test_tasks_of_single_requests_come_together_as_one_conversation(tmp_path: Path) -> None:
    with serve(lexicon()) as server:
        found = episodes(environment({"number": 2, "granularity": "request"}), server.url)
    traces = [episode.traces[0] for episode in found]
    made = rollouts_from(written(tmp_path, found[::-1]))
    assert [one.conversation.conversation_id for one in made] == ["sample-02", "sample-01"]
    for one in made:
        about = one.conversation
        settings = Settings(stages=("assess", "prefer", "reflect"))
        engine = rollout(about, builtin_policy("lexicon", sample(), settings), settings)
        assert one.total == engine.total
        assert one.result["attune"]["not_asked"] == ["draft", "assess_hp"]
        mine = [t for t in traces if key(t).startswith(about.conversation_id)]
        assert sum(metric(t, "weight") * t.reward for t in mine) == pytest.approx(one.total, abs=1e-12)


def test_what_is_not_ok_is_left_out_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serve(lexicon(), faults=["400,of=sample-02/*"]) as server:
        found = episodes(environment({"number": 3}), server.url)
    made = rollouts_from(written(tmp_path, found), em_model="a/b")
    assert [(one.conversation.conversation_id, one.policy) for one in made] == [
        ("sample-01", "a/b"),
        ("sample-03", "a/b"),
    ]
    assert "left out: 1 traces that are not ok" in caplog.text
    with pytest.raises(DataError, match=r"no complete trace \(1 not ok"):
        rollouts_from([found[1].traces[0]])


def test_a_conversation_of_which_requests_are_missing_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with serve(lexicon()) as server:
        env = environment({"number": 2, "granularity": "request"})
        found = episodes(env, server.url, list(env.taskset)[:-1])
    (one,) = rollouts_from(episode.traces[0] for episode in found)
    assert one.conversation.conversation_id == "sample-01"
    assert "1 conversations with missing requests" in caplog.text


def test_a_chat_harness_of_another_kind_leaves_its_last_reply(tmp_path: Path) -> None:
    """As the traces of such a harness look: no replies of ours, only what the model said."""
    with serve(lexicon()) as server:
        found = episodes(environment({"number": 1, "granularity": "request"}), server.url)
    records = [one.to_record() for one in found]
    for record in records:
        record["traces"][0]["info"] = {}
    (one,) = rollouts_from([record["traces"][0] for record in records])
    settings = Settings(stages=("assess", "prefer", "reflect"))
    assert one.total == rollout(sample()[0], builtin_policy("lexicon", sample(), settings), settings).total


@pytest.mark.slow
def test_at_single_requests_a_system_prompt_is_told_only_if_it_is_not_the_plans(tmp_path: Path) -> None:
    path = tmp_path / "system.txt"
    path.write_text("You read feelings.", encoding="utf-8")
    found = []
    with serve(lambda messages: "{}") as server:
        for config in ({}, {"system_prompt": str(path)}):
            env = environment({"number": 1, "granularity": "request", **config})
            found += episodes(env, server.url)
    made = rollouts_from(written(tmp_path, found))  # side by side: not put together
    assert [one.result["attune"]["verifiers"].get("system_prompt") for one in made] == [
        None,
        "You read feelings.",
    ]
    half = len(found) // 2
    with pytest.raises(DataError, match="2 conversations incomplete"):
        rollouts_from(episode.traces[0] for episode in found[3 : half + 3])  # each request once


def test_what_is_no_object_where_a_trace_has_one_is_told() -> None:
    with serve(lexicon()) as server:
        (episode,) = episodes(environment({"number": 1}), server.url)
    (whole,) = episode.to_record()["traces"]
    for path in (("task",), ("info",), ("nodes", 0), ("calls", 0, "usage"), ("agent", "config")):
        trace = json.loads(json.dumps(whole))
        inner = trace
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = "odd"
        with pytest.raises(DataError, match="expected an attune-env trace written by verifiers"):
            rollouts_from([trace])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"traces": ["odd"]}', 'trace "odd": found TypeError'),
        ('{"traces": [', "line 1: found JSONDecodeError"),
        ('{"other": 1}', "line 1: found KeyError"),
        ('{"traces": [{"id": "x", "ok": true, "task": {"data": {"prompt": "Hi"}}}]}', "another environment"),
        ("", "no complete trace"),
    ],
)
def test_what_is_no_run_of_this_environment_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=told):
        rollouts_from(path)
    with pytest.raises(DataError, match=r"a run's folder with traces\.jsonl"):
        rollouts_from(tmp_path / "nothing")
