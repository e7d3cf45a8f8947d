"""Which conversations a source holds: one set, several in a row, or a mixture that takes turns by weights."""

from __future__ import annotations

import pickle
from itertools import islice
from pathlib import Path
from typing import Any

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
from attune_data.format.codebook import FILE_NAME
from attune_data.source.source import Source, codebook_for
from tests.data.builders import write

SAMPLE = load("sample")[:3]
FOUR = load("sample")[:4]
DEV = load("written:dev")
IDS = [one.conversation_id for one in load("sample")]


def test_turns_by_hand() -> None:
    # of 2 and 1 turns: at 1/4 and 3/4, and at 1/2; so sample, dev, sample, and again
    mixture = Source([(SAMPLE, 2), (DEV, 1)])
    assert [one.conversation_id for one in islice(mixture, 6)] == [
        IDS[0], DEV[0].conversation_id, IDS[1],
        IDS[2], DEV[1].conversation_id, IDS[0],
    ]  # fmt: skip
    assert mixture.endless
    assert mixture.name == "2 × sample + 1 × written:dev"
    assert mixture.by_id(DEV[-1].conversation_id) == DEV[-1]
    with pytest.raises(TypeError, match="is endless"):
        len(mixture)
    with pytest.raises(SettingsError, match=r"is endless; limit the number of conversations: -T number=20"):
        mixture.finite("-T number=20")


@given(weights=st.lists(st.integers(1, 6), min_size=1, max_size=4), index=st.integers(0, 200))
def test_each_round_holds_each_source_as_often_as_it_weighs(weights: list[int], index: int) -> None:
    weights[0] += 1  # a mixture whose weights are all 1 is finite
    sources = [Conversations([one], source=str(n)) for n, one in enumerate(FOUR)]
    mixture = Source(list(zip(sources, weights, strict=False)))
    total = sum(weights)
    first = index - index % total
    found = [mixture[first + place].conversation_id for place in range(total)]
    assert [found.count(source[0].conversation_id) for source in sources[: len(weights)]] == weights


def test_a_copy_by_pickle_is_the_same() -> None:
    mixture = Source([(SAMPLE, 1), (DEV, 2)])
    assert pickle.loads(pickle.dumps(mixture))[7] == mixture[7]


def test_taking_more_than_there_are_different_ones() -> None:
    # two from the sample to one from dev: the fifth turn of the sample is its first conversation again
    mixed = [(SAMPLE, 2), (DEV, 1)]
    assert len(Source(mixed, number=5)) == 5
    with pytest.raises(SettingsError, match="contain duplicates"):
        len(Source(mixed, number=6))


def test_sources_without_weights_follow_one_another() -> None:
    both = Source("sample + written:dev", number=21)
    assert [one.conversation_id for one in both] == [*IDS, DEV[0].conversation_id]
    with pytest.raises(DataError, match="each id once in a merged set"):
        len(Source("sample+sample"))


@pytest.mark.parametrize("index", [-1, 1.0, True, "0"])
def test_no_such_index(index: Any) -> None:
    for source in (Source(), Source([(SAMPLE, 2)])):
        with pytest.raises(SettingsError, match="whole number from 0"):
            source[index]
    with pytest.raises(SettingsError, match="sample has 20 conversations, counted from 0"):
        Source()[20]


def test_an_unknown_id_is_named_with_the_closest_or_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{IDS[0]}'"):
        Source().by_id(IDS[0].replace("-", "_"))
    monkeypatch.setattr("attune_data.source.source.LISTED", 19)
    with pytest.raises(UnknownNameError, match="among these and others") as caught:
        Source().by_id("nobody")
    assert caught.value.known == tuple(IDS[:8])


def test_benchmark_records_are_refused_for_training() -> None:
    benchmark = Conversations([one.marked("benchmark") for one in SAMPLE])
    assert len(Source(benchmark)) == len(Source(benchmark, training=True, allow_benchmark_training=True)) == 3
    for data in (benchmark, [(FOUR, 1), (benchmark, 2)]):
        with pytest.raises(BenchmarkTrainingError):
            _ = Source(data, training=True).parts


def test_a_corpus_trains_on_its_train_split_alone_or_in_a_mixture() -> None:
    train = load("written", split="train")
    assert Source("written", training=True).finite().by_id.keys() == train.by_id.keys()
    mixed = Source("written+2*sample", training=True)
    assert [part.source for part in mixed.parts] == ["written:train", "sample"]
    for refused in ("written:test", "written:dev+sample"):
        with pytest.raises(SettingsError, match="is kept for evaluation"):
            _ = Source(refused, training=True).parts


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"data": 7}, TypeError, "data is 7"),
        ({"data": []}, TypeError, "or Conversations"),
        ({"data": [("sample", 0)]}, TypeError, "or Conversations"),
        ({"data": [FOUR[0]]}, TypeError, "or Conversations"),
        ({"number": 0}, SettingsError, "at least 1"),
        ({"number": True}, SettingsError, "at least 1"),
        ({"where": 3}, SettingsError, "expected a text such as"),
        ({"training": "no"}, SettingsError, "must be True or False"),
        ({"data": "written+sample", "where": "turns>3"}, SettingsError, "does not accept"),
        ({"data": FOUR, "split": "train"}, SettingsError, "does not accept"),
    ],
)
def test_what_is_no_source_is_refused_before_anything_is_read(
    arguments: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        Source(**arguments)


@pytest.mark.parametrize("data", [Conversations([]), "smaple"])
def test_what_is_empty_or_missing_is_refused_when_it_is_read(data: Any) -> None:
    source = Source(data)
    with pytest.raises(DataError, match=r"at least one conversation to play|no such file or folder"):
        len(source)


def test_the_official_wording_is_the_one_given_else_the_one_beside_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("data", "sample"):
        (tmp_path / name).mkdir()
    assert codebook_for("data") is None
    book = write(tmp_path / FILE_NAME, {})
    assert Path(codebook_for("data") or "").resolve() == book.resolve()
    assert codebook_for(Path("./data")) == codebook_for("./sample") == codebook_for("data")
    assert codebook_for("data", Path("mine.json")) == "mine.json"
    for data in ("sample", Path("sample"), "written", "org/dataset", "data+sample", load("sample")):
        assert codebook_for(data) is None
