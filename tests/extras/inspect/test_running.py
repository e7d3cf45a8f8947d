"""How the task runs: clusters by hand, epochs, stages, limits, failures, reasoning, schemas, seeds."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversations, load
from attune_data.errors import DataError
from attune_env import save_results
from attune_env.inspect_task.tasks import attune_scores, walk_plan
from attune_env.results.samples import sample_spread, split_sample
from attune_episodes import Request, plan
from attune_episodes.frameworks.inspect import rollouts_from
from tests.endpoint import answers_of, serve
from tests.extras.inspect.evaluating import evaluated, named, scored, written

ONE = {"number": 1}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Conversations:
    records = [named("c-1", "P1"), named("c-2", "P1"), named("c-3", "P2")]
    return load(written(tmp_path_factory.mktemp("data"), records))


def silent_at(*requests: str) -> Any:
    def change(request: Request, reply: str) -> str:
        return "I would rather not say." if request.id in requests else reply

    return change


def test_two_conversations_of_one_participant_count_as_one_cluster(
    data: Conversations, tmp_path: Path
) -> None:
    """q2 is right in both of P1 and silent in P2's: 1, 1, 0, mean 2/3, deviations 1/3, 1/3, -2/3.

    Sums by participant 2/3 and -2/3, their squares 8/9; times C/(C-1) = 2 is 16/9, its root 4/3, over n = 3
    4/9. Unclustered it would be sqrt((1/9 + 1/9 + 4/9) / 2 / 3) = 1/3.
    """
    book = answers_of(data, "oracle", change=silent_at("c-3/end/reflect"))
    with serve(book) as server:
        found = evaluated(server, tmp_path, {"data": data.source}, solver=walk_plan(reasks=0)).metrics
    assert found["strict_q2"]["mean"] == pytest.approx(2 / 3, abs=1e-12)
    assert found["strict_q2"]["stderr"] == pytest.approx(4 / 9, abs=1e-12)
    assert found["strict_emotion_f1"] == {"mean": 1.0, "stderr": 0.0, "scored": 3, "unscored": 0}


def test_epochs_are_averaged_first_and_become_samples(data: Conversations, tmp_path: Path) -> None:
    """Pairwise is silent in one of two epochs, so 0 and 1: 1/2 for each conversation, without any spread."""
    with serve(answers_of(data, "oracle"), ["garbage,first=1,of=*/prefer"]) as server:
        found = evaluated(server, tmp_path, {"data": data.source, "reasks": 0}, epochs=2)
    assert len(found.values) == 6
    assert found.metrics["strict_pairwise"]["mean"] == pytest.approx(0.5, abs=1e-12)
    assert found.metrics["strict_pairwise"]["stderr"] == pytest.approx(0.0, abs=1e-12)
    assert found.metrics["strict_pairwise"]["scored"] == 3
    made = rollouts_from(found.path, em_model="lab/m")
    assert sorted({one.policy for one in made}) == ["lab/m", "lab/m@sample2"]
    assert [split_sample(one.policy)[0] for one in made] == ["lab/m"] * 6
    save_results(made, tmp_path / "results")
    (spread,) = sample_spread(scored(tmp_path / "results", data), "composite_strict")
    assert spread.samples == 2
    assert spread.mean == pytest.approx(found.metrics["composite_strict"]["mean"], abs=1e-9)


def test_a_limit_leaves_a_conversation_unscored_and_not_at_0(data: Conversations, tmp_path: Path) -> None:
    """At most six messages: the requests of turn 2 have more. What was answered before is in the log."""
    with serve(answers_of(data, "oracle")) as server:
        found = evaluated(server, tmp_path, ONE | {"data": data.source, "parallel": 1}, message_limit=6)
    (values,) = found.values.values()
    assert values.pop("complete") == 0.0
    assert all(math.isnan(value) for value in values.values())
    (sample,) = found.log.samples or [None]
    assert sample is not None
    assert sample.limit is not None
    kept = sample.store["attune:replies"]
    assert kept.keys() >= {"c-1/1/draft", "c-1/1/assess"}
    assert len(kept) < len(plan(data[0]))
    assert kept["c-1/1/draft"]["status"] == "ok"
    assert "requests have no reply" in sample.scores["attune_scores"].explanation
    assert found.metrics["composite_strict"]["scored"] == 0
    with pytest.raises(DataError, match=r"no complete sample \(1 failed"):
        rollouts_from(found.path)


def test_a_request_that_fails_fails_its_sample_and_no_other(
    data: Conversations, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(answers_of(data, "oracle"), ["400,of=c-2/1/assess"]) as server:
        found = evaluated(server, tmp_path, {"data": data.source}, fail_on_error=False)
    assert {one.id: one.error is None for one in found.log.samples or ()} == {
        "c-1": True, "c-2": False, "c-3": True,
    }  # fmt: skip
    with caplog.at_level(logging.WARNING):
        made = rollouts_from(found.path)
    assert [one.conversation.conversation_id for one in made] == ["c-1", "c-3"]
    assert "left out: 1 failed or incomplete samples" in caplog.text


def test_what_is_asked_again_is_drawn_by_another_seed(data: Conversations, tmp_path: Path) -> None:
    with serve(answers_of(data, "oracle"), ["garbage,first=2,of=*/end/reflect"]) as server:
        evaluated(server, tmp_path, ONE | {"data": data.source}, seed=7, temperature=0.5)
        bodies = [call.body for call in server.calls]
        seeds = [call.body["seed"] for call in server.calls if call.request == "c-1/end/reflect"]
    assert seeds == [7, 8, 9]
    assert {body["temperature"] for body in bodies} == {0.5}


def test_a_log_is_scored_again_and_what_failed_is_played_again(
    data: Conversations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import eval_retry, score

    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with serve(answers_of(data, "lexicon"), ["400,first=1,of=c-2/end/reflect"]) as server:
        found = evaluated(server, tmp_path / "first", {"data": data.source}, fail_on_error=0.9)
        again = score(found.log, attune_scores(), action="overwrite", display="none")
        before = len(server.calls)
        (retried,) = eval_retry(found.log, log_dir=str(tmp_path / "again"), display="none")
        asked = {str(call.request).split("/")[0] for call in server.calls[before:]}
    assert again.results.scores[0].metrics["mean"].value == found.metrics["composite_score"]["mean"]
    assert again.results.scores[0].name == "composite_score"
    assert asked == {"c-2"}
    assert len(rollouts_from(retried)) == 3
    assert len(rollouts_from(found.path)) == 2


def test_what_is_no_log_of_this_task_is_told(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample

    with pytest.raises(DataError, match="nothing there"):
        rollouts_from(tmp_path / "none.eval")
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"no zip")
    with pytest.raises(DataError, match=r"broken\.eval.*an Inspect log"):
        rollouts_from(broken)
    (log,) = evaluate(
        Task(dataset=[Sample(input="x")]), model="mockllm/model", log_dir=str(tmp_path / "other")
    )
    with pytest.raises(DataError, match="is it the log of another task"):
        rollouts_from(log)
    number: Any = 3
    with pytest.raises(TypeError, match="got int"):
        rollouts_from(number)
