"""`training_dataset`: which rows come, how often, in which order, and what is refused."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import (
    BenchmarkTrainingError,
    Conversations,
    DataError,
    SettingsError,
    UnknownNameError,
    load,
)
from attune_data.simulate import Simulation
from attune_episodes import Settings, plan, score_row, to_dataset
from attune_episodes.trainers import row_reward, training_dataset
from attune_episodes.trainers.rows import SAMPLINGS, _drawn
from tests.episodes.players import example

SAMPLE = load("sample")
COLUMNS = ["prompt", "id", "conversation_id", "participant_id", "stage", "weight", "reward", "nulls", "truth",
           "provenance"]  # fmt: skip


def test_rows_are_those_of_to_dataset_without_the_column_that_holds_nulls() -> None:
    rows = training_dataset("sample")
    assert isinstance(rows, datasets.Dataset)
    assert rows.column_names == COLUMNS
    assert list(rows) == list(to_dataset(SAMPLE, reward="skill").remove_columns(["turn"]))
    assert all(value is not None for row in rows for value in row.values())
    assert set(rows["reward"]) == {"skill"}
    assert "reward skill, provenance own" in rows.info.description


def test_an_endless_world_is_a_stream_and_a_number_of_it_a_table() -> None:
    stream = training_dataset(world_seed=3, level="clear", prompts="compact")
    assert isinstance(stream, datasets.IterableDataset)
    assert stream.column_names == COLUMNS
    table = training_dataset(world_seed=3, level="clear", prompts="compact", number=2)
    assert isinstance(table, datasets.Dataset)
    assert list(stream.take(len(table))) == list(table)
    assert set(table["provenance"]) == {"simulated"}
    assert row_reward(completions=["no JSON"], truth=table["truth"][:1]) == [
        score_row(table[0], "no JSON").value
    ]


def test_stages_and_prompts_stand_in_place_of_those_of_the_settings() -> None:
    asked = Settings(mode="verbose", prompts="compact")
    rows = training_dataset("sample", settings=asked, stages=["prefer"])
    assert set(rows["stage"]) == {"prefer"}
    wanted = plan(SAMPLE[0], Settings(mode="verbose", prompts="compact", stages=("prefer",)))
    assert rows[0]["prompt"] == wanted[0].chat()
    full = training_dataset("sample", settings=asked, stages=["prefer"], prompts="full")
    assert full[0]["prompt"] != rows[0]["prompt"]


def test_other_seeds_are_other_people() -> None:
    first = set(training_dataset(world_seed=1, number=6)["participant_id"])
    assert first.isdisjoint(training_dataset(world_seed=2, number=6)["participant_id"])


def test_conditions_and_numbers_choose_conversations() -> None:
    rows = training_dataset("sample", number=2)
    assert list(dict.fromkeys(rows["conversation_id"])) == [
        SAMPLE[0].conversation_id,
        SAMPLE[1].conversation_id,
    ]
    owner = SAMPLE[3].participant
    chosen = training_dataset("sample", where=f"participant={owner}")
    assert set(chosen["participant_id"]) == {owner}


# --- sampling ---------------------------------------------------------------------------------------


def counts(rows: list[dict[str, Any]], sampling: str) -> list[int]:
    hits = Counter(_drawn(rows, sampling))  # type: ignore[arg-type]
    return [hits[index] for index in range(len(rows))]


WEIGHTS = st.lists(st.floats(0.001, 1), min_size=1, max_size=30)


@given(weights=WEIGHTS, name=st.text())
def test_a_conversation_keeps_its_number_of_rows_and_each_row_its_share_to_one(
    weights: list[float], name: str
) -> None:
    rows = [{"conversation_id": name, "stage": "assess", "weight": weight} for weight in weights]
    got = counts(rows, "weight")
    assert sum(got) == len(rows)
    for count, weight in zip(got, weights, strict=True):
        # equally spaced marks hit a stretch as often as it is long, one more or less
        assert abs(count - weight / sum(weights) * len(rows)) < 1 + 1e-9


def test_the_mean_of_many_conversations_is_the_share() -> None:
    # weights 1 : 3 : 4 of 8, so 3/8, 9/8 and 12/8 of the three rows
    rows = [
        {"conversation_id": f"c{i}", "stage": "assess", "weight": weight}
        for i in range(2000)
        for weight in (1, 3, 4)
    ]
    got = counts(rows, "weight")
    means = [sum(got[place::3]) / 2000 for place in range(3)]
    assert means == pytest.approx([3 / 8, 9 / 8, 12 / 8], abs=0.05)


def test_by_stage_each_stage_comes_equally_often() -> None:
    stages = ["assess", "prefer", "assess", "prefer", "assess", "reflect"]
    rows = [{"conversation_id": f"c{i}", "stage": s, "weight": 0.1} for i in range(600) for s in stages]
    got = Counter(rows[index]["stage"] for index in _drawn(rows, "stage"))
    # six rows and three stages: two of each in the mean, two or three where the marks fall so
    assert got["assess"] + got["prefer"] + got["reflect"] == 3600
    assert all(abs(count - 1200) < 60 for count in got.values())


@pytest.mark.parametrize("sampling", ["weight", "stage"])
def test_a_stream_and_a_table_draw_the_same_rows(sampling: Any) -> None:
    table = training_dataset(number=4, sampling=sampling, prompts="compact")
    stream = training_dataset(sampling=sampling, prompts="compact")
    assert [row["id"] for row in stream.take(len(table))] == table["id"][:]
    assert [row["id"] for row in stream.take(3)] == table["id"][:3]  # each pass starts anew
    assert len(table) == len(training_dataset(number=4))
    assert table["id"][:] != training_dataset(number=4)["id"][:]
    assert stream.column_names == COLUMNS
    assert "reward skill" in stream.info.description


def test_shuffling_is_seeded_and_loses_nothing() -> None:
    plain, first = training_dataset("sample"), training_dataset("sample", shuffle=1)
    assert first["id"][:] == training_dataset("sample", shuffle=1)["id"][:]
    assert first["id"][:] != plain["id"][:]
    assert first["id"][:] != training_dataset("sample", shuffle=2)["id"][:]
    assert sorted(first["id"]) == sorted(plain["id"])
    stream = training_dataset(shuffle=1, prompts="compact")
    ids = [row["id"] for row in stream.take(20)]
    assert ids == [row["id"] for row in stream.take(20)]
    assert len({name.split("/")[0] for name in ids}) > 10


# --- refused ------------------------------------------------------------------------------------------


def test_benchmark_records_are_refused_unless_that_is_said() -> None:
    unmarked = Conversations([example().model_copy(update={"provenance": None})])
    with pytest.raises(BenchmarkTrainingError, match="may not be trained on"):
        training_dataset(unmarked)
    rows = training_dataset(unmarked, allow_benchmark_training=True)
    assert set(rows["provenance"]) == {"benchmark"}
    assert "authors forbid training" in rows.info.description


@pytest.mark.parametrize(("given", "error", "words"), [
    ({"sampling": "weights"}, UnknownNameError, "did you mean 'weight'.*each, weight, stage"),
    ({"shuffle": -1}, SettingsError, "shuffle is -1; it must be a seed"),
    ({"shuffle": True}, SettingsError, "shuffle is true"),
    ({"stages": ["judge"]}, UnknownNameError, "no stage named"),
    ({"stages": "assess"}, SettingsError, "not one text"),
    ({"stages": ["draft"]}, SettingsError, "scores nothing in the stages draft"),
    ({"prompts": "short"}, UnknownNameError, 'no prompt set named "short"; known: full, compact'),
    ({"reward": "skil"}, UnknownNameError, "did you mean 'skill'"),
    ({"level": "easy"}, UnknownNameError, "easy"),
    ({"number": 0}, SettingsError, "at least 1"),
    ({"data": "nowhere"}, DataError, "nowhere"),
    ({"data": "sample", "world_seed": 2}, SettingsError, "world_seed"),
    ({"settings": "compact"}, TypeError, r"settings are a Settings\(…\), got str"),
    ({"reward": None}, TypeError, "a reward is a RewardSpec or the name of a preset, got NoneType"),
    ({"data": [example()]}, TypeError, 'lists and Simulations go to to_dataset\\(…, reward="skill"\\)'),
    ({"data": Simulation(1)}, TypeError, 'lists and Simulations go to to_dataset\\(…, reward="skill"\\)'),
])  # fmt: skip
def test_arguments_that_name_nothing_are_refused_at_the_call(
    given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        training_dataset(**given)


def test_the_names_of_the_samplings_are_those_in_the_documents() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "trainers.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `sampling` \| (.*) \|$", page, re.MULTILINE)
    means, default = row.split(" | ")
    assert tuple(re.findall(r'`"(\w+)"`: ', means)) == SAMPLINGS
    assert default == f'`"{SAMPLINGS[0]}"`'
