"""Chance: pinned streams, curves worked by hand, and what no draw may ever do."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data.simulate.draws import Draws, squash

KEYS = st.tuples(st.integers(), st.text(max_size=5))


def test_the_stream_of_a_key_is_pinned() -> None:
    # whoever changes this changes every simulated conversation: raise simulate.stream.VERSION
    draws = Draws(7, "person", 3)
    assert [draws.uniform() for _ in range(3)] == [0.727254290221524, 0.8473297109514758, 0.4038345053027428]


@pytest.mark.parametrize(("x", "wanted"), [
    (0.0, 0.5),
    (1.5, 0.8),  # x/2 = .75, √(1 + .5625) = 1.25, ½ + ½·.75/1.25 = .8
    (-1.5, 0.2),
    (8 / 3, 0.9),  # x/2 = 4/3, √(1 + 16/9) = 5/3, ½ + ½·4/5
    (2.0, 0.5 + 0.5 / math.sqrt(2)),  # x/2 = 1, √2
])  # fmt: skip
def test_squash_by_hand(x: float, wanted: float) -> None:
    assert squash(x) == pytest.approx(wanted, abs=1e-15)


@given(key=KEYS)
def test_normal_is_twelve_uniforms_less_six(key: tuple[int, str]) -> None:
    draws, twin = Draws(*key), Draws(*key)
    assert draws.normal() == pytest.approx(sum(twin.uniform() for _ in range(12)) - 6, abs=1e-12)
    assert draws.uniform() == twin.uniform()  # neither has drawn more


@given(key=KEYS, weights=st.lists(st.integers(0, 9)))
def test_weighted_cuts_the_line_at_the_running_sums(key: tuple[int, str], weights: list[int]) -> None:
    # weights 1, 0, 3: below ¼ it is the first, from there on the third
    if not any(weights):
        with pytest.raises(ValueError, match="no weight is above 0"):
            Draws(*key).weighted(dict(enumerate(weights)))
        return
    u = Draws(*key).uniform() * sum(weights)
    wanted = next(i for i in range(len(weights)) if u < sum(weights[: i + 1]))
    assert Draws(*key).weighted(dict(enumerate(weights))) == wanted


def test_every_order_comes_as_often() -> None:
    draws, items = Draws("orders"), ["a", "b", "c"]
    counts = Counter(tuple(draws.shuffled(items)) for _ in range(6000))
    assert items == ["a", "b", "c"]
    assert set(counts) == set(permutations("abc"))
    # 1000 each, five standard deviations of √(6000 · ⅙ · ⅚)
    assert all(abs(n - 1000) <= 5 * math.sqrt(6000 / 6 * 5 / 6) for n in counts.values())
