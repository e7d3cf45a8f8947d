"""verl's and SkyRL's columns, and verl's reward function."""

from __future__ import annotations

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
