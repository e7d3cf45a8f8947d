"""Mixtures take turns by their weights, and begin a source again that ends."""

from __future__ import annotations

import pickle
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import Conversations, SettingsError, load
from attune_data.mixture import Mixture, terms
from attune_data.simulate import Simulation

SAMPLE = load("sample")[:3]
FOUR = load("sample")[:4]
IDS = [one.conversation_id for one in SAMPLE]
WORLD = Simulation(5, level="plain")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("written", [("written", 1)]),
        ("written + simulated", [("written", 1), ("simulated", 1)]),
        ("3*written:train+simulated", [("written:train", 3), ("simulated", 1)]),
        ("2 * a/b.jsonl+10*c", [("a/b.jsonl", 2), ("c", 10)]),
    ],
)
def test_terms(name: str, expected: list[tuple[str, int]]) -> None:
    assert terms(name) == expected


@pytest.mark.parametrize("name", ["", "a+", "+", "0*a+b"])
def test_terms_that_name_nothing(name: str) -> None:
    with pytest.raises(SettingsError, match="sources joined by"):
        terms(name)


def test_turns_by_hand() -> None:
    # of 2 and 1 turns: at 1/4 and 3/4, and at 1/2; so sample, world, sample, and again
    mixture = Mixture([(SAMPLE, 2), (WORLD, 1)])
    assert [one.conversation_id for one in islice(mixture, 6)] == [
        IDS[0], WORLD[0].conversation_id, IDS[1],
        IDS[2], WORLD[1].conversation_id, IDS[0],
    ]  # fmt: skip
    assert mixture.placed(1) == (WORLD[0], "plain")
    assert mixture.placed(2) == (SAMPLE[1], None)


@given(weights=st.lists(st.integers(1, 6), min_size=1, max_size=4), index=st.integers(0, 200))
def test_each_round_holds_each_source_as_often_as_it_weighs(weights: list[int], index: int) -> None:
    sources = [Conversations([one], source=str(n)) for n, one in enumerate(FOUR)]
    mixture = Mixture(list(zip(sources, weights, strict=False)))
    total = sum(weights)
    first = index - index % total
    found = [mixture[first + place].conversation_id for place in range(total)]
    assert [found.count(source[0].conversation_id) for source in sources[: len(weights)]] == weights


def test_start_and_step_of_a_world_hold() -> None:
    shard = Simulation(5, level="plain", start=1, step=3)
    mixture = Mixture([(shard, 1)])
    assert [mixture[0], mixture[1]] == [WORLD[1], WORLD[4]]


def test_a_copy_by_pickle_is_the_same() -> None:
    mixture = Mixture([(SAMPLE, 1), (WORLD, 2)])
    assert pickle.loads(pickle.dumps(mixture))[7] == mixture[7]


def test_taking_more_than_there_are_different_ones() -> None:
    mixture = Mixture([(SAMPLE, 1), (WORLD, 1)])
    assert len(mixture.take(6)) == 6
    with pytest.raises(SettingsError, match="contain duplicates"):
        mixture.take(7)


def test_mark_of_the_whole() -> None:
    assert Mixture([(WORLD, 1), (Simulation(6), 1)]).provenance == "simulated"
    assert Mixture([(SAMPLE, 1), (WORLD, 1)]).provenance == "imported"
    benchmark = Conversations([one.model_copy(update={"provenance": None}) for one in SAMPLE])
    assert Mixture([(benchmark, 1), (WORLD, 1)]).provenance == "benchmark"


@pytest.mark.parametrize("index", [-1, 1.0, True, "0"])
def test_no_such_index(index: object) -> None:
    with pytest.raises(SettingsError, match="whole number from 0"):
        Mixture([(WORLD, 1)])[index]  # type: ignore[index]
