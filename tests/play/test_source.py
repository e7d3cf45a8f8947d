"""Which conversations are played, and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import BenchmarkTrainingError, Conversations, load
from attune_data.errors import DataError, SettingsError, UnknownNameError
from attune_episodes import Settings
from attune_episodes.source.source import ConversationSource
from tests.play.players import example, unannotated

IDS = [one.conversation_id for one in load("sample")]


def drawn(source: ConversationSource, number: int, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    return [source.next(generator).conversation_id for _ in range(number)]


def test_sequential_is_the_order_of_the_data_and_then_the_next_pass() -> None:
    source = ConversationSource(sampling="sequential")
    passes = []
    found = []
    for _ in range(41):
        found.append(source.next().conversation_id)
        passes.append(source.passes)
    assert found == [*IDS, *IDS, IDS[0]]
    assert passes == [0] * 20 + [1] * 20 + [2]


def test_shuffled_goes_through_everything_once_a_pass_each_time_in_another_order() -> None:
    found = drawn(ConversationSource(sampling="shuffled"), 60)
    passes = [found[:20], found[20:40], found[40:]]
    assert all(sorted(one) == sorted(IDS) for one in passes)
    assert len({tuple(one) for one in passes}) == 3


def test_orders_depend_on_the_generator_alone() -> None:
    source = ConversationSource(sampling="shuffled")
    first = drawn(source, 30, seed=5)
    source.reset_order()
    assert drawn(source, 30, seed=5) == first
    assert drawn(ConversationSource(), 30, seed=6) != first


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1", np.int64(3)])
def test_a_seed_that_is_no_whole_number_from_0_is_refused(seed: Any) -> None:
    source = ConversationSource(sampling="sequential")
    source.next()
    with pytest.raises(SettingsError, match=r"seed is .*; it must be a whole number from 0"):
        source.reset_order(seed)
    assert source.next().conversation_id == IDS[1]  # the order goes on as it was


@given(
    count=st.integers(1, 20), number=st.integers(1, 20), sampling=st.sampled_from(["sequential", "shuffled"])
)
def test_shards_are_disjoint_and_together_everything_once_a_pass(
    count: int, number: int, sampling: Any
) -> None:
    count = min(count, number)
    found: list[str] = []
    for index in range(count):
        source = ConversationSource(number=number, sampling=sampling, shard=[index, count])
        found += drawn(source, len(source), seed=index)
    assert sorted(found) == sorted(IDS[:number])


def test_a_mixture_is_endless_and_shared_out() -> None:
    whole = ConversationSource("sample+2*written:dev", sampling="sequential", training=False)
    shared = [
        ConversationSource("sample+2*written:dev", sampling="sequential", shard=(i, 2), training=False)
        for i in range(2)
    ]
    dev = [one.conversation_id for one in load("written:dev")]
    order = [dev[0], IDS[0], dev[1], dev[2], IDS[1], dev[3]]
    assert drawn(whole, 6) == order
    assert [drawn(one, 3) for one in shared] == [order[::2], order[1::2]]
    assert whole.by_id(dev[30]) == load("written:dev")[30]
    assert (whole.endless, whole.passes) == (True, 0)
    with pytest.raises(TypeError, match="is endless"):
        len(whole)


def test_a_shuffled_mixture_holds_each_source_as_often_as_it_weighs() -> None:
    found = drawn(ConversationSource("sample+3*written:dev", training=False), 400)
    assert len(set(found)) > 50
    assert 65 < sum(name in IDS for name in found) < 135  # 100, give or take 4 standard deviations of 8.7


def test_conversations_are_found_by_id_and_index_whatever_the_shard() -> None:
    source = ConversationSource(shard=(0, 20))
    assert source.by_id(IDS[7]).conversation_id == IDS[7]
    assert source.conversation(7).conversation_id == IDS[7]
    with pytest.raises(UnknownNameError, match=f"did you mean '{IDS[0]}'"):
        source.by_id(IDS[0].replace("-", "_"))
    with pytest.raises(SettingsError, match="has 20 conversations"):
        source.conversation(20)


def test_of_many_conversations_an_error_names_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    from attune_episodes.source import source as module

    monkeypatch.setattr(module, "LISTED", 19)
    with pytest.raises(UnknownNameError, match="among these and others") as caught:
        ConversationSource().by_id("nobody")
    assert caught.value.known == tuple(IDS[:8])


def test_a_reset_plays_what_it_names_else_what_is_drawn_and_asked_about() -> None:
    silent, asked = unannotated(), example().model_copy(update={"conversation_id": "asked"})
    source = ConversationSource(Conversations([silent, asked]), sampling="sequential")
    prefer, every = Settings(stages=("prefer",)), Settings()
    assert [source.choose(None, prefer) for _ in range(2)] == [asked, asked]
    assert source.choose({"index": 0}, every) == silent
    assert source.choose({}, every, lambda: silent) == silent
    for options, draw in (({"index": 0}, None), (None, lambda: silent)):
        with pytest.raises(SettingsError, match="stages prefer ask nothing about"):
            source.choose(options, prefer, draw)


def test_benchmark_records_are_refused_for_training() -> None:
    benchmark = Conversations([one.marked("benchmark") for one in load("sample")[:2]])
    assert len(ConversationSource(benchmark, training=False)) == 2
    with pytest.raises(BenchmarkTrainingError):
        ConversationSource(benchmark)
    assert len(ConversationSource(load("sample"), training=True)) == 20


def test_the_written_corpus_trains_on_its_train_part_alone_or_in_a_mixture() -> None:
    train = load("written", split="train")
    assert ConversationSource("written", training=True).data.by_id.keys() == train.by_id.keys()
    mixed = ConversationSource("written+2*sample", training=True)
    assert mixed.data.by_id.keys() == {*train.by_id, *IDS}
    for refused in ("written:test", "written:dev+sample"):
        with pytest.raises(SettingsError, match="is kept for evaluation"):
            ConversationSource(refused, training=True)


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"data": Conversations([])}, DataError, "at least one conversation to play"),
        ({"data": "smaple"}, DataError, "no such file or folder"),
        ({"data": 7}, TypeError, "data is 7"),
        ({"sampling": "shufled"}, UnknownNameError, "did you mean 'shuffled'"),
        ({"shard": (2, 2)}, SettingsError, "index from 0 to count - 1"),
        ({"shard": [0, 1, 2]}, SettingsError, "index, count"),
        ({"shard": "01"}, SettingsError, "index, count"),
        ({"shard": (20, 21)}, SettingsError, "at most as many shards as conversations"),
        ({"number": 0}, SettingsError, "at least 1"),
        ({"number": True}, SettingsError, "at least 1"),
        ({"data": "written+sample", "where": "turns>3"}, SettingsError, "does not accept"),
        ({"data": load("sample"), "split": "train"}, SettingsError, "does not accept"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_with_the_choices(
    arguments: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        ConversationSource(**arguments)
