"""The plan of the corpus comes out of its seed; `test_gates` and `test_card` measure what was made of it."""

from __future__ import annotations

from collections import Counter

from attune_episodes.people.draws import Draws, dealt
from tools.written.casting import PLAN, cast, text


def test_the_committed_plan_comes_out_of_the_seed() -> None:
    assert text(cast()) == PLAN.read_text(encoding="utf-8")


def test_shares_are_dealt_exactly() -> None:
    # 10 × (½, 3/10, 2/10); of 3 × (½, ½) one gets the third
    assert Counter(dealt(Draws(1), {"a": 5, "b": 3, "c": 2}, 10)) == {"a": 5, "b": 3, "c": 2}
    assert sorted(Counter(dealt(Draws(1), {"a": 1, "b": 1}, 3)).values()) == [1, 2]
