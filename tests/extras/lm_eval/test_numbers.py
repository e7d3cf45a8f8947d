"""What lm-eval reports is what `attune run` and `attune score` make of the same answers, to 1e-9."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM

from attune_data.errors import AttuneError
from attune_env.running.settings import Patience
from attune_episodes import Request, plan
from attune_episodes.frameworks.lm_eval import rollouts_from
from attune_episodes.frameworks.lm_eval.scores import OF_ALL, OF_STAGE
from attune_rewards.predictions import STAGES
from tests.data.builders import Json
from tests.endpoint import Answers, answers_of, serve
from tests.endpoint.answers import Change
from tests.extras.lm_eval.evaluating import CLOSE, evaluate, manager, scored, scored_again
from tests.running.playing import QUICK, play, sample

ONCE = Patience(asks=1, retries=QUICK.retries, first_wait=QUICK.first_wait)
"""lm-eval asks once, whatever comes back."""


def noisy(request: Request, reply: str) -> str:
    """One reply in five is cut, one says nothing, one is wrapped in words in another script."""
    drawn = hashlib.sha256(request.id.encode()).digest()[0] % 5
    return (reply[: len(reply) // 2], "", f"مرحبا 🫠 Voilà :\n\n```json\n{reply}\n```", reply, reply)[drawn]


@pytest.mark.parametrize("change", [None, noisy], ids=["clean", "noisy"])
def test_the_group_has_the_numbers_of_attune_run_and_of_its_own_samples(
    tmp_path: Path, change: Change | None
) -> None:
    data = sample()
    with serve(answers_of(data, change=change)) as server:
        found = evaluate(server, "attunebench", metadata={"attune_number": 3})
        sent = [json.dumps(call.body["messages"]) for call in server.calls]
        play(server, data, tmp_path / "run", patience=ONCE)
        assert server.unknown == []
    assert sorted(sent) == sorted(json.dumps(r.chat()) for c in data for r in plan(c))
    logged = rollouts_from(found["samples"]["attune_all"])
    ours = scored(tmp_path / "run", data)
    again = scored_again(logged, tmp_path / "logged", data)
    task, group = found["results"]["attune_all"], found["groups"]["attunebench"]
    for name in (*OF_ALL, "parse_rate"):
        assert task[f"{name},none"] == pytest.approx(ours[name], abs=CLOSE)
        assert task[f"{name},none"] == pytest.approx(again[name], abs=CLOSE)
    for name in ("composite_score", "composite_strict"):
        assert group[f"{name},none"] == pytest.approx(ours[name], abs=CLOSE)
        assert group[f"{name}_stderr,none"] == pytest.approx(task[f"{name}_stderr,none"], abs=CLOSE)
    assert (ours["parse_rate"] < 1) == (change is not None)
    assert found["n-samples"]["attune_all"] == {"original": 3, "effective": 3}


def test_the_tasks_of_single_stages_make_one_composite_together(tmp_path: Path) -> None:
    data = sample()
    tasks = [f"attune_{stage}" for stage in STAGES]
    with serve(answers_of(data, change=noisy)) as server:
        found = evaluate(server, *tasks, metadata={"attune_number": 3})
        assert len(server.calls) == sum(len(plan(one)) for one in data)
        play(server, data, tmp_path / "run", patience=ONCE)
    ours = scored(tmp_path / "run", data)
    samples = [one for task in tasks for one in found["samples"][task]]
    joined = scored_again(rollouts_from(samples), tmp_path / "joined", data)
    for name in (*OF_ALL, "parse_rate", "avg_response_similarity"):
        assert joined[name] == pytest.approx(ours[name], abs=CLOSE)
    for stage in STAGES:
        alone = rollouts_from(found["samples"][f"attune_{stage}"])
        assert {tuple(one.result["attune"]["settings"]["stages"]) for one in alone} == {(stage,)}
        same = scored_again(alone, tmp_path / stage, data)
        for name in (*OF_STAGE[stage], "parse_rate"):
            value = found["results"][f"attune_{stage}"][f"{name},none"]
            assert value == pytest.approx(same[name], abs=CLOSE), (stage, name)
            if name not in ("composite_partial", "parse_rate"):
                assert value == pytest.approx(ours[name], abs=CLOSE), (stage, name)


class Within(LM):  # type: ignore[misc, unused-ignore]
    """A model of this process whose chat template makes one text, as local models have it."""

    tokenizer_name = "within"

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers

    def apply_chat_template(self, chat_history: list[Json], add_generation_prompt: bool = True) -> str:
        assert add_generation_prompt
        return json.dumps(chat_history)

    def generate_until(self, requests: list[Any]) -> list[Any]:
        return [self.answers(json.loads(request.args[0])) for request in requests]

    def loglikelihood(self, requests: object) -> NoReturn:
        raise AssertionError("nothing is asked by likelihood")

    loglikelihood_rolling = loglikelihood


def test_a_model_of_the_same_process_and_half_a_character_in_its_replies(tmp_path: Path) -> None:
    def broken(request: Request, reply: str) -> str:
        return f"\ud83d {reply}" if request.stage == "draft" else noisy(request, reply)

    model = Within(answers_of(sample(1), change=broken))
    found = simple_evaluate(
        model=model, tasks=["attune_all"], task_manager=manager(attune_number=1), apply_chat_template=True
    )
    (one,) = found["samples"]["attune_all"]
    assert one["resps"][0][0].startswith("\ufffd ")
    assert json.dumps(one["resps"], ensure_ascii=False).encode("utf-8")  # as lm-eval writes it
    again = scored_again(rollouts_from([one]), tmp_path, sample(1))
    assert found["results"]["attune_all"]["composite_score,none"] == pytest.approx(
        again["composite_score"], abs=CLOSE
    )


@pytest.mark.parametrize(("options", "told"), [
    ({"apply_chat_template": False}, "add --apply_chat_template"),
    ({"system_instruction": "Be kind."}, "leave out --system_instruction"),
    ({"metadata": {"attune_mode": "verbos"}}, "did you mean 'verbose'"),
])  # fmt: skip
def test_what_would_change_the_protocol_is_refused_before_a_call(options: Json, told: str) -> None:
    with serve(answers_of(sample(1))) as server:
        with pytest.raises(AttuneError, match=told):
            evaluate(server, "attunebench", **options)
        assert server.calls == []


def test_examples_are_not_shown_and_requests_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve(answers_of(sample(1))) as server:
        evaluate(server, "attune_all", metadata={"attune_number": 1}, num_fewshot=3, cache_requests=True)
        assert server.unknown == []
    assert "ignores --cache_requests" in caplog.text


@pytest.mark.parametrize(("given", "stop"), [(None, None), ("until=###", ["###"])])
def test_a_chat_server_gets_no_stop_unless_one_is_asked_for(
    given: str | None, stop: list[str] | None
) -> None:
    with serve(answers_of(sample(1))) as server:
        evaluate(server, "attune_all", metadata={"attune_number": 1}, gen_kwargs=given)
        assert [call.body.get("stop") for call in server.calls] == [stop] * len(server.calls)


def test_a_model_of_the_same_process_stops_at_the_end_of_its_turn() -> None:
    kept: list[Any] = []

    class Kept(Within):
        def generate_until(self, requests: list[Any]) -> list[Any]:
            kept.extend(request.args[1] for request in requests)
            return super().generate_until(requests)

    manage = manager(attune_number=1)
    model = Kept(answers_of(sample(1)))
    simple_evaluate(model=model, tasks=["attune_draft"], task_manager=manage, apply_chat_template=True)
    assert kept
    assert all(one["until"] == ["<|im_end|>"] and "stop" not in one for one in kept)


@pytest.mark.parametrize("installed", ["0.5.0.dev1", "0.5rc1", "1.0"])
def test_a_version_that_calls_tasks_in_another_way_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, installed: str
) -> None:
    monkeypatch.setattr("attune_episodes.frameworks.lm_eval.run.version", lambda name: installed)
    with serve(answers_of(sample(1))) as server:
        with pytest.raises(AttuneError, match=rf"lm-eval {re.escape(installed)} is installed.*<0\.5"):
            evaluate(server, "attunebench", metadata={"attune_number": 1})
        assert server.calls == []


@pytest.mark.parametrize("fault", ["refusal", "content_filter", "empty"])
def test_a_refusal_is_an_unanswered_request(fault: str, tmp_path: Path) -> None:
    with serve(answers_of(sample(1)), [f"{fault},of=*/1/assess", f"{fault},of=*/2/draft"]) as server:
        found = evaluate(server, "attune_all", metadata={"attune_number": 1})
        play(server, sample(1), tmp_path / "run", patience=ONCE)
    ours = scored(tmp_path / "run", sample(1))
    again = scored_again(rollouts_from(found["samples"]["attune_all"]), tmp_path / "logged", sample(1))
    for name in (*OF_ALL, "parse_rate", "avg_response_similarity"):
        assert again[name] == pytest.approx(ours[name], abs=CLOSE)


def test_predict_only_keeps_the_replies_and_scores_nothing() -> None:
    with serve(answers_of(sample(1))) as server:
        found = evaluate(server, "attune_all", metadata={"attune_number": 1}, predict_only=True)
    (one,) = found["samples"]["attune_all"]
    assert len(one["resps"]) == len(one["doc"]["requests"]) == len(server.calls)
    assert "composite_score" not in one
