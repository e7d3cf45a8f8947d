"""Scores as one array, and the summary of what every mean rests on."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from attune_env.statistics import Bootstrap, ScoreTable, metric_summaries, model_summaries
from attune_env.statistics.summary import zero_is_lowest

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


def test_a_summary_by_hand() -> None:
    table = ScoreTable.of(ENTRIES, resamples=100)
    (tau, gap), (other, none) = metric_summaries(table, ["tau", "perspective_gap_om_hp"], [A, B])
    # scored: (.5 + 1 + 0)/3 = .5; with the unscored c2 as 0: 1.5/4 = .375; unscored 1/4
    assert (tau.mean.mean, tau.mean.n, tau.results, tau.unscored_share) == (0.5, 3, 4, 0.25)
    assert tau.with_unscored_as_zero is not None
    assert (tau.with_unscored_as_zero.mean, tau.with_unscored_as_zero.n) == (0.375, 4)
    # a gap of 0 is not the lowest there is
    assert gap.mean.mean == pytest.approx(0.2)
    assert gap.with_unscored_as_zero is None
    # B has two results: c2 and c4 are not its unscored ones
    assert (other.mean.mean, other.results, other.unscored_share) == (0.5, 2, 0.0)
    assert other.with_unscored_as_zero == other.mean
    assert (none.mean.mean, none.unscored_share) == (None, 1.0)


def test_a_model_with_its_rates() -> None:
    groups = [
        {"em_model": key[0], "mode": key[1], "parse_rate": 0.75, "unscored_share": 0.25} for key in (A, B)
    ]
    table = ScoreTable.of(ENTRIES, resamples=100)
    first, second = model_summaries({"aggregates": groups}, table, ["tau"], [B, A])
    assert (first.key, first.results, first.parse_rate) == (B, 2, 0.75)
    assert (second.key, second.results, second.answered_share, second.unscored_share) == (A, 4, None, 0.25)
    assert second.metrics == metric_summaries(table, ["tau"], [A])[0]


@pytest.mark.parametrize(
    ("metric", "lowest"),
    [
        ("avg_emotion_f1", True),
        ("composite_score", True),
        ("avg_emotion_intensity_mae", False),
        ("perspective_gap_om_hp", False),
        ("q3_model_fit_ordinal_distance", False),
        ("four_branch_error_managing", False),
    ],
)
def test_errors_and_gaps_are_not_counted_0(metric: str, lowest: bool) -> None:
    assert zero_is_lowest(metric) is lowest
