"""Scores as one array."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from attune_env.statistics import Bootstrap, ScoreTable

A, B = ("x/a", "default"), ("x/b", "default")


def entry(
    conversation: str, key: tuple[str, str], owner: str | None = None, **values: float | None
) -> dict[str, Any]:
    """An entry of a scores file with some metrics."""
    marks = {"participant": owner, "outcomes": {"ok": 3, "unparsed:no_json": 1}}
    return {
        "conversationId": conversation, "em_model": key[0], "mode": key[1], **values,
        "post_score": {}, "attune": marks, "unscored_share": 0.25,
    }  # fmt: skip


ENTRIES = [
    entry("c1", A, "P", tau=0.5, perspective_gap_om_hp=0.1),
    entry("c2", A, "Q", tau=None, perspective_gap_om_hp=None),
    entry("c3", A, "P", tau=1.0, perspective_gap_om_hp=0.3),
    entry("c4", A, "R", tau=0.0, perspective_gap_om_hp=0.2),
    entry("c1", B, "P", tau=0.8, perspective_gap_om_hp=None),
    entry("c3", B, "P", tau=0.2, perspective_gap_om_hp=None),
]


def test_rows_are_conversations_and_what_is_missing_is_undefined() -> None:
    table = ScoreTable.of(ENTRIES, resamples=50)
    assert table.ids == ("c1", "c2", "c3", "c4")
    assert table.owners == ("P", "Q", "P", "R")
    assert table.keys == (A, B)
    assert table.unit == "participant"
    nan = float("nan")
    assert table.metric("tau").tolist() == pytest.approx(
        np.array([[0.5, 0.8], [nan, nan], [1.0, 0.2], [0.0, nan]]), nan_ok=True
    )
    both = table.of_metrics(["perspective_gap_om_hp", "tau", "nothing"], [B])
    assert both.shape == (4, 1, 3)
    assert both[0, 0, 1] == 0.8
    assert np.isnan(both[:, 0, [0, 2]]).all()


def test_the_order_of_entries_does_not_matter() -> None:
    mixed = list(ENTRIES)
    random.Random(1).shuffle(mixed)
    one, other = ScoreTable.of(ENTRIES, resamples=200), ScoreTable.of(mixed, resamples=200)
    assert one.intervals("tau") == other.intervals("tau")
    assert [i.n for i in one.intervals("tau")] == [3, 2]


def test_intervals_are_the_kernels_on_rows_sorted_by_id() -> None:
    table = ScoreTable.of(ENTRIES, seed=4, resamples=300)
    kernel = Bootstrap(4, ["P", "Q", "P", "R"], seed=4, resamples=300)
    nan = float("nan")
    wanted = kernel.intervals([[0.5, 0.8], [nan, nan], [1.0, 0.2], [0.0, nan]])
    assert table.intervals("tau") == wanted
    assert table.kernel.units == 3


def test_a_model_has_a_result_where_anything_of_it_is_defined() -> None:
    held = ScoreTable.of(ENTRIES, resamples=20).has_result([A, B])
    assert held.tolist() == [[True, True], [True, False], [True, True], [True, False]]
