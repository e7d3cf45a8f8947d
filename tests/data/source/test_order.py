"""In which order the conversations of a source are played, and what a reset names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import Conversations, load
from attune_data.errors import SettingsError, UnknownNameError
from attune_data.source.order import Order
from tests.data.builders import conversation

IDS = [one.conversation_id for one in load("sample")]


def drawn(order: Order, number: int, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    return [order.next(generator).conversation_id for _ in range(number)]


def test_sequential_is_the_order_of_the_data_and_then_the_next_pass() -> None:
    source = Order.of(sampling="sequential")
    passes = []
    found = []
    for _ in range(41):
        found.append(source.next().conversation_id)
        passes.append(source.passes)
    assert found == [*IDS, *IDS, IDS[0]]
    assert passes == [0] * 20 + [1] * 20 + [2]


def test_shuffled_goes_through_everything_once_a_pass_each_time_in_another_order() -> None:
    found = drawn(Order.of(sampling="shuffled"), 60)
    passes = [found[:20], found[20:40], found[40:]]
    assert all(sorted(one) == sorted(IDS) for one in passes)
    assert len({tuple(one) for one in passes}) == 3


def test_orders_depend_on_the_generator_alone() -> None:
    source = Order.of(sampling="shuffled")
    first = drawn(source, 30, seed=5)
    source.restart()
    assert drawn(source, 30, seed=5) == first
    assert drawn(Order.of(), 30, seed=6) != first


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1", np.int64(3)])
def test_a_seed_that_is_no_whole_number_from_0_is_refused(seed: Any) -> None:
    source = Order.of(sampling="sequential")
    source.next()
    with pytest.raises(SettingsError, match=r"seed is .*; it must be a whole number from 0"):
        source.restart(seed)
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
        source = Order.of(number=number, sampling=sampling, shard=[index, count])
        found += drawn(source, len(source), seed=index)
    assert sorted(found) == sorted(IDS[:number])


def test_a_shuffled_mixture_holds_each_source_as_often_as_it_weighs() -> None:
    found = drawn(Order.of("sample+3*written:dev", training=False), 400)
    assert len(set(found)) == 20 + len(load("written:dev"))
    assert 65 < sum(name in IDS for name in found) < 135  # 100, give or take 4 standard deviations of 8.7


def test_a_mixture_is_shared_out() -> None:
    mixture = "sample+2*written:dev"
    whole = Order.of(mixture, sampling="sequential", training=False)
    shards = [Order.of(mixture, sampling="sequential", shard=(i, 2), training=False) for i in range(2)]
    dev = [one.conversation_id for one in load("written:dev")]
    order = [dev[0], IDS[0], dev[1], dev[2], IDS[1], dev[3]]
    assert drawn(whole, 6) == order
    assert [drawn(one, 3) for one in shards] == [order[::2], order[1::2]]
    assert whole.passes == 0
    with pytest.raises(TypeError, match="is endless"):
        len(whole)


def test_a_draw_is_of_the_shard_and_leaves_the_order_as_it_was() -> None:
    order = Order.of(sampling="sequential", shard=(1, 10))
    generator = np.random.default_rng(0)
    assert {order.drawn(generator).conversation_id for _ in range(20)} == {IDS[1], IDS[11]}
    assert drawn(order, 2) == [IDS[1], IDS[11]]


def test_a_reset_plays_what_it_names_else_what_is_drawn_and_asked_about() -> None:
    silent, asked = (conversation(conversationId=name) for name in ("silent", "asked"))
    order = Order.of(Conversations([silent, asked]), sampling="sequential", training=False)

    def asks(one: object) -> bool:
        return one != silent

    assert [order.choose(None, asks) for _ in range(2)] == [asked, asked]
    assert order.choose({"index": 0}, bool) == silent
    assert order.choose({"conversation_id": "asked"}, asks) == asked
    assert order.choose({}, bool, lambda: silent) == silent
    for options, draw in (({"index": 0}, None), (None, lambda: silent)):
        with pytest.raises(SettingsError, match="the stages ask nothing about"):
            order.choose(options, asks, draw)


def test_a_name_is_found_whatever_the_shard() -> None:
    order = Order.of(shard=(0, 20))
    assert order.choose({"index": 7}, bool).conversation_id == IDS[7]
    assert order.choose({"conversation_id": IDS[7]}, bool).conversation_id == IDS[7]


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"sampling": "shufled"}, UnknownNameError, "did you mean 'shuffled'"),
        ({"shard": (2, 2)}, SettingsError, "index from 0 to count - 1"),
        ({"shard": [0, 1, 2]}, SettingsError, "index, count"),
        ({"shard": "01"}, SettingsError, "index, count"),
        ({"shard": (20, 21)}, SettingsError, "at most as many shards as conversations"),
    ],
)
def test_what_is_no_order(arguments: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Order.of(**arguments)
