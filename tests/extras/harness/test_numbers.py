"""What lm-eval reports is what `attune run` and `attune score` make of the same answers, to 1e-9."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from pathlib import Path
from typing import Any, NoReturn

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM

from attune_data import load
from attune_env.lm_eval_tasks import rollouts_from
from attune_env.lm_eval_tasks.scoring import OF_ALL, OF_STAGE
from attune_env.running.settings import Patience
from attune_episodes import MODES, Request, Settings, plan
from attune_episodes.settings import Mode
from attune_rewards.predictions import STAGES
from tests.data.builders import Json
from tests.endpoint import Answers, answers_of, serve
from tests.endpoint.answers import Change
from tests.extras.harness.evaluating import CLOSE, evaluate, manager, scored, scored_again
from tests.front.command import own
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


def test_the_second_group_is_the_first_under_another_name() -> None:
    with serve(answers_of(sample(2))) as server:
        found = evaluate(server, "attune", metadata={"attune_number": 2})
    assert list(found["groups"]) == ["attune"]
    assert found["group_subtasks"] == {"attune": ["attune_all"]}
    assert found["groups"]["attune"]["composite_score,none"] > 0


def test_the_error_is_that_of_a_bootstrap_over_conversations() -> None:
    data = sample()
    with serve(answers_of(data, change=noisy)) as server:
        found = evaluate(server, "attunebench", metadata={"attune_number": 3}, bootstrap_iters=0)
    values = [one["composite_strict"] for one in found["samples"]["attune_all"]]
    error = found["groups"]["attunebench"]["composite_strict_stderr,none"]
    # the bootstrap's own: sd of the values with n, over the root of n; 10,000 resamples are within 4 %
    assert error == pytest.approx(statistics.pstdev(values) / math.sqrt(3), rel=0.04)


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


@pytest.mark.parametrize("mode", MODES[1:])
def test_settings_are_arguments(mode: Mode, tmp_path: Path) -> None:
    data = sample(1)
    asked = Settings(mode, STAGES[1:], "delta", "official", 7, "compact")
    told = {
        "attune_mode": mode,
        "attune_stages": "assess, assess_hp,prefer,reflect",
        "attune_panas_strategy": "delta",
        "attune_labels": "official",
        "attune_seed": 7,
        "attune_prompts": "compact",
        "attune_number": 1,
        "seed": 3,  # an argument of the model, which lm-eval hands over too
    }
    with serve(answers_of(data, settings=asked)) as server:
        found = evaluate(server, "attunebench", metadata=told)
        assert server.unknown == []
        assert len(server.calls) == len(plan(data[0], asked))
    (rollout,) = rollouts_from(found["samples"]["attune_all"])
    assert rollout.result["mode"] == mode
    assert rollout.result["attune"]["settings"] == asked.describe()
    again = scored_again([rollout], tmp_path, data)
    assert found["groups"]["attunebench"]["composite_strict,none"] == pytest.approx(
        again["composite_strict"], abs=CLOSE
    )
    # one conversation has no error
    assert found["groups"]["attunebench"]["composite_strict_stderr,none"] == "N/A"


def test_data_of_ones_own_in_any_script_and_without_some_annotations(tmp_path: Path) -> None:
    records = [own("مرحبا", "P1"), own("été/1", "P1"), own("ohne-🤍", "P3")]
    for record in records:
        for turn in record["turns"]:
            turn["userMessage"] += f" {record['conversationId']} " + "ßß " * 5_000
    for turn in records[2]["turns"]:
        turn["annotations"].update(pairwiseComparisons=[], selectedPairwiseQuestions=[])
    file = tmp_path / "meine daten é.jsonl"
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), "utf-8")
    data = load(file)
    with serve(answers_of(data, change=noisy)) as server:
        found = evaluate(server, "attune_all", "attune_prefer", metadata={"attune_data": str(file)})
        assert server.unknown == []
        play(server, data, tmp_path / "run", patience=ONCE)
    ours = scored(tmp_path / "run", data)
    assert found["n-samples"]["attune_all"]["effective"] == 3
    assert found["n-samples"]["attune_prefer"]["effective"] == 2  # nothing to prefer in the third
    for name in OF_ALL:
        assert found["results"]["attune_all"][f"{name},none"] == pytest.approx(ours[name], abs=CLOSE)
    again = scored_again(rollouts_from(found["samples"]["attune_all"], file), tmp_path / "logged", data)
    assert again["composite_score"] == pytest.approx(ours["composite_score"], abs=CLOSE)


def test_limits_and_samples_are_of_conversations() -> None:
    with serve(answers_of(sample())) as server:
        limited = evaluate(server, "attunebench", metadata={"attune_number": 3}, limit=2)
        chosen = evaluate(server, "attunebench", metadata={"attune_number": 3}, samples={"attune_all": [2]})
    for found, wanted in ((limited, [0, 1]), (chosen, [2])):
        names = [one["doc"]["conversation_id"] for one in found["samples"]["attune_all"]]
        assert names == [sample()[index].conversation_id for index in wanted]


def test_a_cache_of_replies_is_not_asked_again(tmp_path: Path) -> None:
    with serve(answers_of(sample(1), change=noisy)) as server:
        kept = {"use_cache": str(tmp_path / "kept"), "gen_kwargs": "max_gen_toks=8192"}
        first = evaluate(server, "attunebench", metadata={"attune_number": 1}, **kept)
        calls = len(server.calls)
        second = evaluate(server, "attunebench", metadata={"attune_number": 1}, **kept)
    assert calls == len(server.calls) == len(plan(sample(1)[0]))
    assert first["groups"] == second["groups"]
    assert {call.body["max_tokens"] for call in server.calls} == {8192}
    assert all(call.body["stop"] == ["<|im_end|>"] for call in server.calls)


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
