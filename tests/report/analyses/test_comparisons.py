"""Comparisons of models on a few scores whose results are worked by hand."""

from __future__ import annotations

import pytest

from attune_env.report.analyses.comparisons import CORRELATIONS, PAIRS, PERSPECTIVE, VARIANCE, WINS
from tests.report.analyses.made import A, B, Json, columns, composites, entry, first, means, study, tables


def test_pairs_are_separated_by_what_differs_within_conversations() -> None:
    a = [60.0, 70, 80, 90, 50, 40, 65, 75, 85, 95]
    found = tables(PAIRS, composites(a=[v + 1 for v in a], b=a, c=a[::-1]))
    counts, pairs = found["pairs_separated"], found["pairs"]
    # a - b is 1 everywhere; c has the same mean as b in another order
    assert pairs.column("first") == [A, A, B]
    assert pairs.column("separated") == ["yes", "no", "no"]
    # every sign pattern but the observed and its mirror has a smaller sum: p = (1 + 1)/(1 + 1023)
    assert pairs.column("p")[0] == pytest.approx(2 / 1024)
    assert (counts.column("by_interval"), counts.column("pairs")) == ([1], [3])


def test_the_composite_is_the_total_and_no_input_of_its_own() -> None:
    values: Json = {"composite_score": 60.0, "avg_emotion_f1": 0.5}
    made = study([entry(f"c{i}", model, **values) for i in range(5) for model in (A, B)])
    assert first(PAIRS, made).column("counts_as") == ["total", "input"]


def test_the_perspective_gap_by_hand() -> None:
    made = study([
        entry(f"c{i}", model, avg_binary_om_accuracy=0.9, avg_binary_human_accuracy=0.9 - gap,
              perspective_gap_om_hp=gap)
        for model, gaps in ((A, [0.1] * 8), (B, [0.02, -0.02] * 4))
        for i, gap in enumerate(gaps)
    ])  # fmt: skip
    table = first(PERSPECTIVE, made)
    assert means(table, "gap") == pytest.approx([0.1, 0.0])
    # 8 conversations, 2^8 = 256 patterns: a reaches its sum with all or no sign turned, b always
    assert table.column("p") == pytest.approx([2 / 256, 1.0])
    assert table.column("p_holm") == pytest.approx([4 / 256, 1.0])


def test_win_rates_count_ties_half() -> None:
    tau = {A: [1.0, 0.5, 0.2, 0.2, -0.5], B: [0.0, 0.5, 0.4, 0.1, -0.9]}
    found = tables(WINS, study(columns("avg_pairwise_kendall_tau", tau)))
    # a wins 3, ties 1, loses 1: 3.5 of 5
    assert means(found["preference_wins"], "win_rate") == pytest.approx([0.7, 0.3])
    assert means(found["preference_tau"], "tau") == pytest.approx([0.28, 0.02])


def test_variance_lies_where_it_was_put() -> None:
    assert first(VARIANCE, composites(a=[60.0] * 6, b=[50.0] * 6)).column("model") == [1.0]
    only_people = first(VARIANCE, composites(a=[10.0, 50, 90], b=[10.0, 50, 90]))
    assert only_people.column("conversation") == [1.0]


def test_metrics_that_rank_alike_correlate() -> None:
    made = study([
        entry(f"c{i}", f"lab/{m}", composite_score=50.0, avg_emotion_f1=0.1 * m, avg_emotion_va_score=0.1 * m,
              avg_pairwise_accuracy=-0.1 * m)
        for i in range(5)
        for m in range(4)
    ])  # fmt: skip
    table = first(CORRELATIONS, made)
    assert means(table, "rho") == pytest.approx([1.0, -1.0, -1.0])
