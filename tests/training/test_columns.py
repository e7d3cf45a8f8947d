"""verl's and SkyRL's columns, and verl's reward function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import DataError
from attune_data.source.source import Source
from attune_episodes import score_row
from attune_episodes.frameworks.verl import compute_score
from attune_episodes.training import to_skyrl, to_verl, training_dataset
from attune_episodes.training.truth import PARTS
from tests.training.batches import SAMPLE, replies, rows_of

ROWS = training_dataset("sample", number=3)


def test_verl_gets_the_rows_reward_and_always_the_same_keys() -> None:
    for row in rows_of("skill")[:12]:
        for text in (*replies()[row["id"]], "no JSON", "", '"\ud800'):
            want = score_row(row, text)
            got = compute_score(
                data_source="attune/x", solution_str=text, ground_truth=row["truth"], extra_info={}, more=1
            )
            assert list(got) == ["score", "parsed", *PARTS]
            assert (got["score"], got["parsed"]) == (want.value, float(want.reason == "ok"))
            assert {name: got[name] for name in PARTS if got[name] is not None} == dict(want.parts)


def test_rows_keep_all_that_matters_in_verls_columns_and_in_its_file(tmp_path: Path) -> None:
    rows = to_verl(ROWS)
    assert set(rows.column_names) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    rows.to_parquet(tmp_path / "train.parquet")
    again = datasets.Dataset.from_parquet(str(tmp_path / "train.parquet"), cache_dir=str(tmp_path / "cache"))
    assert list(again) == list(rows)
    for index, (made, row) in enumerate(zip(again, ROWS, strict=True)):
        assert made["prompt"] == row["prompt"]
        assert made["data_source"] == f"attune/{row['stage']}"
        assert made["reward_model"] == {"style": "rule", "ground_truth": row["truth"]}
        facts = {name: made["extra_info"][name] for name in ("index", "id", "weight", "provenance")}
        assert facts == {"index": index, "id": row["id"], "weight": row["weight"], "provenance": "own"}


def test_rows_keep_all_that_matters_in_skyrls_columns() -> None:
    row = to_skyrl(ROWS)[5]
    assert row["env_class"] == "attune-request"
    assert row["reward_spec"] == {"method": "rule", "ground_truth": ROWS[5]["truth"]}
    assert row["prompt"] == ROWS[5]["prompt"]
    assert (row["extra_info"]["index"], row["extra_info"]["reward"]) == (5, "skill")


def test_whole_conversations_keep_each_truth_and_say_what_a_prompt_adds_to_the_chat() -> None:
    for prompts in ("full", "compact"):
        rows = training_dataset("sample", number=3, prompts=prompts)
        made = to_skyrl(rows, whole=True)
        assert made.info.description == rows.info.description
        assert [one["extra_info"]["conversation_id"] for one in made] == [
            "sample-01",
            "sample-02",
            "sample-03",
        ]
        left = iter(rows)
        for one in made:
            turns = json.loads(one["reward_spec"]["ground_truth"])
            assert one["extra_info"]["requests"] == len(turns)
            assert one["env_class"] == "attune-conversation"
            said = one["prompt"]
            for new, truth in turns:
                row = next(left)
                said = [*said, *new]
                assert truth == row["truth"]
                assert said[-1] == row["prompt"][-1]
                wanted = [one["content"] for one in row["prompt"] if one["role"] == "user"]
                asked = [one["content"] for one in said if one["role"] == "user"]
                assert [text for text in asked if text in wanted] == wanted
        assert next(left, None) is None


@pytest.mark.parametrize(
    "given", [{"shuffle": 1}, {"sampling": "weight"}, {"number": 1, "shuffle": 1}], ids=str
)
def test_rows_out_of_order_are_no_whole_conversations(given: Any) -> None:
    with pytest.raises(DataError, match=r"conversation \"sample-\d+\".*leave out shuffle and sampling"):
        to_skyrl(training_dataset("sample", **{"number": 3} | given), whole=True)


def test_a_stream_has_no_whole_conversations() -> None:
    with pytest.raises(TypeError, match=r"whole conversations need a Dataset: give number=…"):
        to_skyrl(training_dataset(Source([(SAMPLE, 2)])), whole=True)


@pytest.mark.parametrize("convert", [to_verl, to_skyrl])
def test_streams_stay_streams_and_what_is_no_dataset_is_refused(convert: Any) -> None:
    stream = training_dataset(Source([(SAMPLE, 2)]), prompts="compact")
    made = convert(stream)
    assert isinstance(made, datasets.IterableDataset)
    mapped = stream.map(lambda row: row)
    assert mapped.column_names is None
    assert next(iter(convert(mapped))) == next(iter(made))
    with pytest.raises(DataError, match="keep that column"):
        convert(ROWS.remove_columns(["truth"]))
    for rows in (list(ROWS.select([0])), "rows", None):
        with pytest.raises(TypeError, match=r"rows is a \w+; make a Dataset with Dataset\.from_list\(rows\)"):
            convert(rows)
