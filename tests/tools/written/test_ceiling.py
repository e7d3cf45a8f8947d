"""The comparison of `fitted` with the blind readers, worked by hand and on the blind readings."""

from __future__ import annotations

import numpy as np
import pytest

from tools.reading.measure import quality
from tools.written.blind import pairs
from tools.written.ceiling import Both, both_of, compared, counts, macro_f1

THOSE = [
    Both("w1", "B1", yes=True, blind=True, fitted=False),
    Both("w1", "B1", yes=False, blind=False, fitted=False),
    Both("w2", "B1", yes=True, blind=True, fitted=True),
    Both("w2", "B1", yes=False, blind=True, fitted=False),
]


def test_macro_f1_is_that_of_the_readers_tables() -> None:
    yes = np.array([one.yes for one in THOSE])
    for by in ("blind", "fitted"):
        said = np.array([getattr(one, by) for one in THOSE])
        found = macro_f1(counts(THOSE, by, ["w1", "w2"]).sum(0))
        assert found == pytest.approx(quality(said, yes).f1)
    # right yes 2, wrong yes 1, right no 1, wrong no 0: F1 of yes 4/5, F1 of no 2/3
    assert counts(THOSE, "blind", ["w1", "w2"]).tolist() == [[1, 0, 1, 0], [1, 1, 0, 0]]
    assert macro_f1(np.array([2.0, 1, 1, 0])) == pytest.approx((4 / 5 + 2 / 3) / 2)


def test_the_table_has_both_readers_and_the_mean() -> None:
    made, summary = compared(THOSE, ["B1"])
    lines = made.splitlines()
    assert lines[2] == "| B1 | 4 | 2 | 0.73 | 0.73 |"
    # all four resamples of two conversations are drawn; macro-F1 of blind: 1 on w1 alone, 1/3 on w2 alone
    assert lines[3].startswith("| mean |  |  | 0.73 (0.33 to 1.00) |")
    assert "ahead by 0.00 (" in summary


def test_only_answers_of_all_three_are_compared() -> None:
    pair = pairs()[0]
    assert both_of([pair], {}) == []
    (one,) = both_of([pair], {(pair.name, 0, "B13"): True})
    assert (one.conversation, one.question, one.fitted) == (pair.name, "B13", True)
