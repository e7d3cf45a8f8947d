"""The judge of drafts: what it is asked, what is recorded, and that its failure takes nothing away."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from attune_data.format.constants import JUDGE_DIMENSIONS
from attune_episodes import builtin_policy, rollout
from attune_episodes.frameworks.verifiers import rollouts_from
from attune_episodes.frameworks.verifiers.traces import AnyTrace
from attune_episodes.judging import judge_request
from attune_rewards import Draft, read_record, score_conversation
from tests.endpoint import Server, serve
from tests.endpoint.answers import Messages
from tests.frameworks.verifiers.play import environment, lexicon, metric, played, reward, sample

ABOUT = sample()[0]


def judging(rating: int = 4, answer: str = "yes") -> Any:
    """A judge's reply: the same rating on every dimension, the same answer to every question."""
    questions = [judgement.question_id for turn in ABOUT.turns for judgement in turn.judgements]
    return json.dumps({"scores": dict.fromkeys(JUDGE_DIMENSIONS, rating),
                       "answers": dict.fromkeys(questions, answer)})  # fmt: skip


@dataclass(frozen=True)
class WithJudge:
    """The lexicon plays; anything that is no request of a plan is for the judge, who says one thing."""

    text: str

    def __call__(self, messages: Messages) -> str:
        return lexicon()(messages) or self.text

    def request_id(self, messages: Messages) -> str | None:
        return lexicon().request_id(messages)


def judged(server: Server, *, number: int = 1, **config: Any) -> AnyTrace:
    judge = {"enabled": True, "model": "the/judge", "base_url": server.url, "api_key_var": "NONE", **config}
    (trace,) = played(environment({"number": number, "task": {"draft_judge": judge}}), server.url)
    return trace


def calls(server: Server) -> list[dict[str, Any]]:
    return [call.body for call in server.calls if call.body["model"] == "the/judge"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attune_episodes.frameworks.verifiers.judge.PAUSE", 0.0)


def engine_total() -> float:
    return rollout(ABOUT, builtin_policy("lexicon", sample())).total


def test_no_judge_is_called_unless_one_is_asked_for() -> None:
    with serve(WithJudge(judging())) as server:
        (trace,) = played(environment({"number": 1}), server.url)
        assert calls(server) == []
    assert not any("judge" in name for name in trace.metrics)


def test_a_judge_rates_every_draft_beside_the_reward() -> None:
    with serve(WithJudge(judging(rating=4))) as server:
        trace = judged(server)
        asked = [body["messages"] for body in calls(server)]
    for step in rollout(ABOUT, builtin_policy("lexicon", sample())).steps:
        if isinstance(step.outcome, Draft) and step.request.turn is not None:
            wanted = judge_request(ABOUT, step.request.turn, step.outcome.text)
            assert wanted is not None
            assert wanted.chat() in asked
    assert len(asked) == len(ABOUT.turns)
    assert metric(trace, "draft_judge") == (4 - 1) / 6
    assert metric(trace, "judge_failed") == 0.0
    assert 0.0 <= metric(trace, "draft_binary_alignment") <= 1.0
    assert list(trace.rewards) == ["composite_strict"]
    assert trace.reward == engine_total()


def test_its_metrics_are_those_that_attune_score_reads_from_a_result() -> None:
    with serve(WithJudge(judging(rating=6, answer="no"))) as server:
        trace = judged(server)
    (one,) = rollouts_from([trace])
    said, warnings = read_record(one.result, ABOUT)
    scores = score_conversation(ABOUT, said)
    assert not warnings
    assert scores["avg_draft_judge_score"] == pytest.approx(metric(trace, "draft_judge"), abs=1e-12)
    assert scores["avg_draft_binary_alignment"] == pytest.approx(
        metric(trace, "draft_binary_alignment"), abs=1e-12
    )
    assert one.result["turns"][0]["em_draft_judge_scores_by_model"] == {
        "the/judge": dict.fromkeys(JUDGE_DIMENSIONS, 6)
    }


def test_with_a_weight_it_is_a_reward_too() -> None:
    with serve(WithJudge(judging(rating=7))) as server:
        trace = judged(server, weight=0.2)
    assert reward(trace, "draft_judge").weight == 0.2
    assert trace.reward == pytest.approx(engine_total() + 0.2, abs=1e-12)


@pytest.mark.parametrize("bad", ["I would give it a four.", "", '{"scores": {}}'])
def test_a_judge_that_cannot_be_read_is_recorded_and_nulls_nothing(bad: str) -> None:
    with serve(WithJudge(bad)) as server:
        trace = judged(server, retries=1, weight=0.5)
        assert len(calls(server)) == 2 * len(ABOUT.turns)
    assert metric(trace, "judge_failed") == 1.0
    assert "draft_judge" not in trace.metrics
    assert list(trace.rewards) == ["composite_strict"]
    assert trace.reward == engine_total()


def test_an_empty_draft_is_rated_0_without_a_call() -> None:
    with serve(WithJudge(judging(rating=7)), faults=["empty,of=*/draft"]) as server:
        trace = judged(server)
        assert calls(server) == []
    assert metric(trace, "draft_judge") == metric(trace, "draft_binary_alignment") == 0.0
    assert metric(trace, "judge_failed") == 0.0
