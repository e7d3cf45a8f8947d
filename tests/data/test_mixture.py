"""Mixtures take turns by their weights, and begin each source again at its end."""

from __future__ import annotations

import pickle
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import Conversations, SettingsError, load
from attune_data.source.mixture import Mixture, terms

SAMPLE = load("sample")[:3]
FOUR = load("sample")[:4]
DEV = load("written:dev")
IDS = [one.conversation_id for one in SAMPLE]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("written", [("written", 1)]),
        ("written + sample", [("written", 1), ("sample", 1)]),
        ("3*written:train+sample", [("written:train", 3), ("sample", 1)]),
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
    # of 2 and 1 turns: at 1/4 and 3/4, and at 1/2; so sample, dev, sample, and again
    mixture = Mixture([(SAMPLE, 2), (DEV, 1)])
    assert [one.conversation_id for one in islice(mixture, 6)] == [
        IDS[0], DEV[0].conversation_id, IDS[1],
        IDS[2], DEV[1].conversation_id, IDS[0],
    ]  # fmt: skip
    assert set(mixture.by_id) == {*SAMPLE.by_id, *DEV.by_id}


@given(weights=st.lists(st.integers(1, 6), min_size=1, max_size=4), index=st.integers(0, 200))
def test_each_round_holds_each_source_as_often_as_it_weighs(weights: list[int], index: int) -> None:
    sources = [Conversations([one], source=str(n)) for n, one in enumerate(FOUR)]
    mixture = Mixture(list(zip(sources, weights, strict=False)))
    total = sum(weights)
    first = index - index % total
    found = [mixture[first + place].conversation_id for place in range(total)]
    assert [found.count(source[0].conversation_id) for source in sources[: len(weights)]] == weights


def test_a_copy_by_pickle_is_the_same() -> None:
    mixture = Mixture([(SAMPLE, 1), (DEV, 2)])
    assert pickle.loads(pickle.dumps(mixture))[7] == mixture[7]


def test_taking_more_than_there_are_different_ones() -> None:
    mixture = Mixture([(SAMPLE, 1), (DEV, 1)])
    assert len(mixture.take(6)) == 6
    with pytest.raises(SettingsError, match="contain duplicates"):
        mixture.take(7)


def test_mark_of_the_whole() -> None:
    assert Mixture([(SAMPLE, 1), (DEV, 2)]).provenance == "own"
    benchmark = Conversations([one.model_copy(update={"provenance": None}) for one in SAMPLE])
    assert Mixture([(benchmark, 1), (DEV, 1)]).provenance == "benchmark"


@pytest.mark.parametrize("index", [-1, 1.0, True, "0"])
def test_no_such_index(index: object) -> None:
    with pytest.raises(SettingsError, match="whole number from 0"):
        Mixture([(SAMPLE, 2)])[index]  # type: ignore[index]
