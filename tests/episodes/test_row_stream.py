"""`to_dataset` of lazy sources: rows made as they are read, each pass anew, guarded item by item."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import datasets
import pytest
from datasets.distributed import split_dataset_by_node

from attune_data import BenchmarkTrainingError, Conversation, DataError, SettingsError, load
from attune_data.constants import Provenance
from attune_episodes import Settings, score_row, to_dataset

SAMPLE = load("sample")


@dataclass(frozen=True)
class Endless:
    """The sample over and over under new names; from `bad` on its records are marked benchmark."""

    bad: int | None = None

    def __iter__(self) -> Iterator[Conversation]:
        for index in itertools.count():
            about = SAMPLE[index % len(SAMPLE)]
            mark: Provenance = "benchmark" if self.bad is not None and index >= self.bad else "own"
            yield about.model_copy(update={"conversation_id": f"s{index}", "provenance": mark})


@dataclass(frozen=True)
class Once:
    """The sample as a lazy source that can be read again."""

    def __iter__(self) -> Iterator[Conversation]:
        return iter(SAMPLE)


def ids(rows: Any, count: int) -> list[str]:
    return [row["id"] for row in islice(rows, count)]


def test_a_lazy_source_gives_the_rows_of_the_table() -> None:
    stream = to_dataset(Once(), Settings(panas_strategy="delta"), "skill")
    assert isinstance(stream, datasets.IterableDataset)
    table = to_dataset(SAMPLE, Settings(panas_strategy="delta"), "skill")
    assert list(stream) == table.to_list()
    assert stream.features == table.features
    assert "reward skill, no benchmark records." in stream.info.description


def test_an_endless_source_is_endless_and_starts_anew_at_each_pass() -> None:
    stream = to_dataset(Endless())
    first = ids(stream, 300)
    assert first == ids(stream, 300)
    assert len(set(first)) == 300
    assert ids(stream.take(5), 9) == first[:5]
    assert ids(stream.skip(5), 5) == first[5:10]


def test_a_stream_shuffles_in_a_buffer_by_its_seed() -> None:
    stream = to_dataset(Endless())
    shuffled = stream.shuffle(seed=1, buffer_size=100)
    assert ids(shuffled, 50) == ids(stream.shuffle(seed=1, buffer_size=100), 50) != ids(stream, 50)
    assert set(ids(shuffled, 50)) <= set(ids(stream, 150))


def test_a_stream_can_be_filtered_mapped_and_batched() -> None:
    stream = to_dataset(Endless())
    reflect = stream.filter(lambda row: row["stage"] == "reflect").map(lambda row: {"n": len(row["prompt"])})
    batch = next(iter(reflect.batch(3)))
    assert batch["turn"] == [None] * 3  # nulls alone do not change the type
    assert batch["stage"] == ["reflect"] * 3
    assert score_row(next(iter(reflect)), "{}").reason == "unparsed:no_fields"


def test_nodes_share_a_stream_without_a_row_twice() -> None:
    stream = to_dataset(Once())
    nodes = [list(split_dataset_by_node(stream, rank=rank, world_size=2)) for rank in range(2)]
    assert sorted(row["id"] for node in nodes for row in node) == sorted(ids(stream, 10**6))


def test_a_stream_resumes_where_it_was() -> None:
    stream = to_dataset(Endless())
    rows = iter(stream)
    before = [next(rows)["id"] for _ in range(20)]
    state = stream.state_dict()
    after = [next(rows)["id"] for _ in range(5)]
    again = to_dataset(Endless())
    again.load_state_dict(state)
    assert ids(again, 5) == after
    assert ids(to_dataset(Endless()), 25) == before + after


def test_a_stream_travels_to_a_worker_process() -> None:
    stream = to_dataset(Once(), reward="skill")
    assert ids(pickle.loads(pickle.dumps(stream)), 400) == ids(stream, 400)


def test_a_generator_gives_its_rows_once() -> None:
    stream = to_dataset(about for about in SAMPLE[:2])
    assert ids(stream, 400) == to_dataset(SAMPLE[:2])["id"][:]
    with pytest.raises(SettingsError, match="this iterator of conversations has been read"):
        next(iter(stream))


def test_benchmark_records_are_refused_at_the_call_or_when_they_come() -> None:
    with pytest.raises(BenchmarkTrainingError, match=r'"s0" \(marked benchmark; item 0 of the stream\)'):
        to_dataset(Endless(bad=0))
    good = len(to_dataset(SAMPLE[:1]))
    rows = iter(to_dataset(Endless(bad=1)))
    assert {row["conversation_id"] for row in islice(rows, good)} == {"s0"}
    with pytest.raises(BenchmarkTrainingError, match="item 1 of the stream"):
        next(rows)


def test_past_the_guard_the_stream_and_its_rows_say_so() -> None:
    stream = to_dataset(Endless(bad=1), allow_benchmark_training=True)
    marks = {row["conversation_id"]: row["provenance"] for row in stream.take(40)}
    assert (marks["s0"], marks["s1"]) == ("own", "benchmark")
    assert "provenance benchmark. Made with allow_benchmark_training=True" in stream.info.description


def test_an_empty_source_is_refused_at_the_call() -> None:
    with pytest.raises(DataError, match="at least one conversation to train on"):
        to_dataset(iter(()))


def test_records_that_are_no_conversations_are_refused() -> None:
    with pytest.raises(TypeError, match=r"item 0 of the stream is \{.*, not a Conversation; see load"):
        to_dataset(iter([SAMPLE[0].to_record()]))  # type: ignore[arg-type]  # the slip under test
