"""What was planted is found, what was not is not: the statistics on models with errors of known size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attune_data import load
from attune_env.results import read_results, read_scores
from attune_env.statistics import (
    Comparison,
    ScoreTable,
    compare,
    contrasts,
    separation,
    sign_flip,
)
from tests.analyses.planted import READERS, is_diagnosed, people, planted_study, write

NUMBER = 60
pytestmark = pytest.mark.slow  # eleven models; each statistic has a test by hand


@pytest.fixture(scope="module")
def table() -> ScoreTable:
    """The scores of all readers on 60 conversations."""
    return planted_study(NUMBER).table


def place(table: ScoreTable, name: str) -> int:
    return table.keys.index((f"planted/{name}", "default"))


def pair(table: ScoreTable, metric: str, one: str, other: str) -> Comparison:
    """The comparison of two readers among all pairs, so that Holm counts all of them."""
    wanted = sorted((place(table, one), place(table, other)))
    found = compare(table.kernel, table.metric(metric))
    return next(c for c in found if [c.first, c.second] == wanted)


def test_twins_are_not_separated_and_the_worse_one_is(table: ScoreTable) -> None:
    for metric in ("composite_score", "avg_pairwise_accuracy", "avg_binary_om_accuracy"):
        twins = pair(table, metric, "good", "good-twin")
        assert not twins.separated
        assert not twins.separated_holm
    worse = pair(table, "composite_score", "good", "worse")
    assert worse.separated
    assert worse.separated_holm
    counts = separation(compare(table.kernel, table.metric("composite_score")))
    assert counts.pairs == 55
    assert counts.by_holm <= counts.by_interval < 55


def test_the_perspective_gap_is_found_where_it_is(table: ScoreTable) -> None:
    gaps = table.metric("perspective_gap_om_hp")
    means, p = np.nanmean(gaps, axis=0), sign_flip(table.kernel, gaps)
    # planted: 30 % wrong on the HP, 8 % on the OM: 22 points; 18 % on both: none
    sees = place(table, "sees-not-wants")
    assert means[sees] == pytest.approx(0.22, abs=0.03)
    assert p[sees] == 1 / 10_001
    no_gap = place(table, "no-gap")
    assert means[no_gap] == pytest.approx(0, abs=0.03)
    assert p[no_gap] > 0.05


def test_diagnosed_people_are_read_worse_by_the_one_model(table: ScoreTable) -> None:
    inside = {c.conversation_id: is_diagnosed(c) for c in people(NUMBER)}
    found = contrasts(table.kernel, table.metric("avg_emotion_va_score"), [inside[i] for i in table.ids])
    misreads, twin = (found[place(table, name)] for name in ("misreads-diagnosed", "good-twin"))
    assert misreads.difference.high is not None
    assert misreads.difference.high < -0.1
    assert misreads.p is not None
    assert misreads.p < 0.001
    assert twin.p is not None
    assert twin.p > 0.05


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, 4)
    conversations = load(tmp_path / "conversations")
    results, problems, warnings = read_results(tmp_path / "results", conversations)
    assert not problems
    assert not warnings
    assert len(results) == 4 * len(READERS) + 2  # a quarter of the conversations again in mode verbose
    scores = read_scores(tmp_path / "scores.json")
    assert scores["metadata"]["modes"] == ["default", "verbose"]
    steps = {r.record["attune"]["training"]["step"] for r in results if "training" in r.record["attune"]}
    assert steps == {0, 200, 400}
    assert all(r.record["attune"]["usage"]["calls"] > 0 for r in results)
