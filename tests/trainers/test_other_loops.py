"""`score` for any loop, verl's reward function and columns, and SkyRL's columns."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import BenchmarkTrainingError, DataError, SettingsError
from attune_episodes import Settings, plan, score_row
from attune_episodes.trainers import score, training_dataset
from attune_episodes.trainers.skyrl_rows import conversations_to_skyrl, to_skyrl
from attune_episodes.trainers.verl import compute_score, to_verl
from attune_rewards import LEAVES
from tests.episodes.players import example
from tests.trainers.batches import SAMPLE, bare, messages, replies, rows_of

ROWS = training_dataset("sample")


# --- any loop -----------------------------------------------------------------------------------------


def test_score_gives_plain_values_and_they_are_those_of_score_row() -> None:
    for row in rows_of("skill"):
        for text in (*replies()[row["id"]], "no JSON"):
            want = score_row(row, text)
            got = score(row, text)
            assert got == {"reward": want.value, "parts": dict(want.parts), "reason": want.reason}
            assert json.loads(json.dumps(got)) == got
            assert score(row, messages(text)) == got


@pytest.mark.parametrize("nothing", [None, "", []])
def test_no_text_is_an_empty_reply(nothing: Any) -> None:
    assert score(rows_of("composite")[0], nothing)["reason"] == "unparsed:empty"


def test_a_row_without_truth_and_an_unknown_shape_are_refused() -> None:
    with pytest.raises(DataError, match="row: truth: found null"):
        score({"prompt": []}, "x")
    with pytest.raises(TypeError, match="expected a text, or a list of chat messages"):
        score(rows_of("composite")[0], 3)


@pytest.mark.parametrize("row", ["text", None, 3, [{"truth": "{}"}]])
@pytest.mark.parametrize("call", [score, score_row])
def test_what_is_no_row_is_refused(call: Any, row: Any) -> None:
    with pytest.raises(TypeError, match="a row is a mapping with its truth, got "):
        call(row, "x")


# --- verl -----------------------------------------------------------------------------------------------


def test_verl_gets_the_rows_reward_and_always_the_same_keys() -> None:
    for row in rows_of("skill"):
        for text in (*replies()[row["id"]], "no JSON", ""):
            want = score_row(row, text)
            got = compute_score(
                data_source="attune/x", solution_str=text, ground_truth=row["truth"], extra_info={}, more=1
            )
            assert list(got) == ["score", "parsed", *LEAVES_IN_ORDER, "format"]
            assert got["score"] == want.value
            assert got["parsed"] == float(want.reason == "ok")
            assert {name: got[name] for name in want.parts} == dict(want.parts)
            assert all(got[name] is None for name in LEAVES if name not in want.parts)


LEAVES_IN_ORDER = (
    "emotion_f1", "emotion_va", "binary_om", "binary_hp", "pairwise", "panas_pa", "panas_na",
    "q1", "q2", "q3", "q3_follow_up",
    "branch_perceiving", "branch_facilitating", "branch_understanding", "branch_managing",
)  # fmt: skip


@settings(deadline=None)
@given(text=st.text() | st.just("{" * 10_000) | st.just('"\ud800'))
def test_whatever_a_model_writes_verl_gets_a_number(text: str) -> None:
    assert isinstance(compute_score("attune/assess", text, ROWS[0]["truth"])["score"], float)


@pytest.mark.parametrize("truth", [None, 3, "", "42", {"truth": "x"}])
def test_a_ground_truth_of_another_kind_is_refused(truth: Any) -> None:
    with pytest.raises(DataError, match=r"truth: found .*; (see to_verl|it is no JSON|this is v0)"):
        compute_score("gsm8k", "x", truth)


def test_rows_keep_all_that_matters_in_verls_columns_and_in_its_file(tmp_path: Path) -> None:
    rows = to_verl(ROWS)
    assert rows.column_names == ["data_source", "prompt", "ability", "reward_model", "extra_info"]
    rows.to_parquet(tmp_path / "train.parquet")
    again = datasets.Dataset.from_parquet(str(tmp_path / "train.parquet"), cache_dir=str(tmp_path / "cache"))
    assert list(again) == list(rows)
    for index, (made, row) in enumerate(zip(again, ROWS, strict=True)):
        assert made["prompt"] == row["prompt"]
        assert made["data_source"] == f"attune/{row['stage']}"
        assert made["reward_model"] == {"style": "rule", "ground_truth": row["truth"]}
        assert made["extra_info"]["index"] == index
        assert (made["extra_info"]["id"], made["extra_info"]["provenance"]) == (row["id"], "own")


def test_a_stream_is_converted_as_a_stream() -> None:
    stream = to_verl(training_dataset(prompts="compact"))
    assert isinstance(stream, datasets.IterableDataset)
    first = next(iter(stream))
    assert compute_score("", "no JSON", first["reward_model"]["ground_truth"])["parsed"] == 0.0


@pytest.mark.parametrize("convert", [to_verl, to_skyrl])
def test_rows_that_lost_columns_are_refused(convert: Any) -> None:
    with pytest.raises(DataError, match="keep that column"):
        convert(ROWS.remove_columns(["truth"]))
    with pytest.raises(DataError, match=r"no column prompt, weight.*convert before columns are removed"):
        convert(ROWS.remove_columns(["prompt", "weight"]))


@pytest.mark.parametrize("convert", [to_verl, to_skyrl])
def test_a_stream_that_was_mapped_is_converted_and_a_list_is_told_how(convert: Any) -> None:
    mapped = training_dataset(prompts="compact").map(lambda row: row)
    assert mapped.column_names is None
    want = next(iter(convert(training_dataset(prompts="compact"))))
    assert next(iter(convert(mapped))) == want
    for rows in (list(ROWS.select([0])), "rows", None):
        with pytest.raises(
            TypeError, match=r"rows are a Dataset; Dataset\.from_list\(rows\) makes one of a "
        ):
            convert(rows)


# --- SkyRL ----------------------------------------------------------------------------------------------


def test_rows_keep_all_that_matters_in_skyrls_columns() -> None:
    rows = to_skyrl(ROWS)
    assert rows.column_names == ["data_source", "prompt", "env_class", "reward_spec", "extra_info"]
    assert rows[5]["env_class"] == "attune-request"
    assert rows[5]["reward_spec"] == {"method": "rule", "ground_truth": ROWS[5]["truth"]}
    assert rows[5]["prompt"] == ROWS[5]["prompt"]


@pytest.mark.parametrize("asked", [
    Settings(),
    Settings(stages=("assess", "prefer")),
    Settings(stages=("prefer", "reflect"), mode="omniscient"),
    Settings(prompts="compact", mode="verbose"),
])  # fmt: skip
def test_a_growing_chat_holds_every_message_of_the_protocol_once(asked: Settings) -> None:
    rows = conversations_to_skyrl(SAMPLE[:3], asked, "skill")
    for about, row in zip(SAMPLE, rows, strict=False):
        chat: list[dict[str, str]] = row["prompt"]
        steps = json.loads(row["reward_spec"]["ground_truth"])
        requests = plan(about, asked)
        assert [step["id"] for step in steps] == [request.id for request in requests]
        for number, (step, request) in enumerate(zip(steps, requests, strict=True)):
            chat = [*chat, *step["messages"]] if number else chat
            wanted = [m["content"] for m in request.chat() if m["role"] != "assistant"]
            held = [m["content"] for m in chat if m["role"] != "assistant"]
            assert held[-1] == wanted[-1]
            assert set(wanted) <= set(held)
            assert len(held) == len(set(held))
            roles = [m["role"] for m in chat]
            assert all(one != other for one, other in pairwise(roles))
            chat = [*chat, {"role": "assistant", "content": f"answer {number}"}]


def test_a_conversation_carries_the_truths_of_its_rows() -> None:
    row = conversations_to_skyrl([example().marked("own")], reward="composite")[0]
    steps = json.loads(row["reward_spec"]["ground_truth"])
    truths = {r["id"]: r["truth"] for r in training_dataset(SAMPLE[:1], reward="composite")}
    first = conversations_to_skyrl(SAMPLE[:1], reward="composite")[0]
    steps_of_sample = json.loads(first["reward_spec"]["ground_truth"])
    assert {step["id"]: step["truth"] for step in steps_of_sample if step["truth"]} == truths
    # draft and assess_hp carry no weight
    assert [step["truth"] is None for step in steps] == [True, False, True, False, False]
    assert row["extra_info"]["provenance"] == "own"


def test_conversations_for_skyrl_pass_the_guard_and_the_checks_of_rows() -> None:
    unmarked = example().model_copy(update={"provenance": None})
    with pytest.raises(BenchmarkTrainingError, match="may not be trained on"):
        conversations_to_skyrl([unmarked])
    rows = conversations_to_skyrl([unmarked], allow_benchmark_training=True)
    assert rows[0]["extra_info"]["provenance"] == "benchmark"
    assert "Made with allow_benchmark_training=True: AttuneBench's authors forbid" in rows.info.description
    assert "reward skill, provenance own." in conversations_to_skyrl(SAMPLE[:1]).info.description
    with pytest.raises(SettingsError, match="scores nothing in the stages draft"):
        conversations_to_skyrl(SAMPLE, Settings(stages=("draft",)))


def test_conversations_for_skyrl_are_paid_by_skill_unless_another_reward_is_named() -> None:
    row = conversations_to_skyrl(SAMPLE[:1])[0]
    assert row["extra_info"]["reward"] == "skill"
    assert row == conversations_to_skyrl(SAMPLE[:1], reward="skill")[0]


def test_conversations_of_which_nothing_is_scored_are_left_out_for_skyrl() -> None:
    rows = conversations_to_skyrl([bare(), SAMPLE[1]])
    assert [(info["index"], info["id"]) for info in rows["extra_info"]] == [(0, "sample-02")]
    with pytest.raises(DataError, match="nothing annotated that reward 'skill' scores"):
        conversations_to_skyrl([bare()])


@pytest.mark.parametrize(("given", "words"), [
    ({"settings": "compact"}, r"settings are a Settings\(…\), got str"),
    ({"reward": 5}, "a reward is a RewardSpec or the name of a preset, got int"),
    ({"reward": None}, "a reward is a RewardSpec or the name of a preset, got NoneType"),
    ({"conversations": SAMPLE[0]}, "conversations come in a sequence, got "),
    ({"conversations": "sample"}, "conversations come in a sequence, got "),
    ({"conversations": iter(SAMPLE)}, "conversations come in a sequence, got "),
    ({"conversations": [SAMPLE[0], "sample"]}, "not a Conversation"),
])  # fmt: skip
def test_arguments_of_another_kind_are_refused_at_the_call(given: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        conversations_to_skyrl(**{"conversations": SAMPLE[:1], **given})
