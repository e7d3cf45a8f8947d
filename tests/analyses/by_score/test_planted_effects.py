"""Planted effects are found where they are, and named; what was not planted is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_env.analyses import Study
from attune_env.analyses.by_score import (
    clinical_affect_gap,
    cost_against_score,
    learning_curves,
    mode_differences,
    pairs_separated,
    perspective_gap,
    preference_wins,
    turn_drift,
)
from attune_env.analyses.by_score.wording import excludes_zero
from attune_env.report.cells import DataTable
from attune_env.results import score_results
from attune_env.statistics.bootstrap import Interval
from tests.analyses.by_score.made import cells, found
from tests.analyses.planted import people, reader, results_of

NUMBER = 40
NAMES = ("good", "good-twin", "worse", "misreads-diagnosed", "drifts", "no-gap", "sees-not-wants",
         "position-biased", "tuned-0", "tuned-400")  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Ten readers, two of them in mode verbose too, with the result files of three."""
    folder = tmp_path_factory.mktemp("results")
    data = people(NUMBER)
    readers = [reader(name) for name in NAMES]
    results = [*results_of(data, readers),
               *results_of(data, [reader("good"), reader("worse")], "verbose", data[:12])]  # fmt: skip
    for one in results:
        if one.em_model in ("planted/good", "planted/good-twin", "planted/worse"):
            (folder / one.path).write_text(json.dumps(one.record), encoding="utf-8")
    return Study(score_results(results, data, ground_truth="planted"), conversations=data, results=folder)


def by_model(table: DataTable, column: str) -> dict[str, Interval]:
    """Reader -> a cell of its row."""
    rows = zip(cells(table, "model"), cells(table, column), strict=True)
    return {str(name).removeprefix("planted/"): cell for name, cell in rows if isinstance(cell, Interval)}


def test_the_one_that_misreads_diagnosed_people_is_found(planted: Study) -> None:
    one = found(clinical_affect_gap(planted))
    gaps = by_model(one.tables[1], "difference")
    assert excludes_zero(gaps["misreads-diagnosed"])
    assert min(gaps, key=lambda name: gaps[name].mean or 0.0) == "misreads-diagnosed"
    assert not excludes_zero(gaps["good"])
    assert "misreads-diagnosed" in one.reading
    # and not only because neutral turns are answered with a tag
    assert excludes_zero(by_model(one.tables[1], "difference_tagged")["misreads-diagnosed"])


def test_the_one_that_drifts_is_found(planted: Study) -> None:
    one = found(turn_drift(planted))
    for metric in ("binary_om", "binary_hp"):
        changes = by_model(one.tables[1], metric)
        # 25 points more errors at the last turn than at the first; thirds are means inside
        assert -0.3 < (changes["drifts"].mean or 0.0) < -0.1
        assert [name for name, change in changes.items() if (change.mean or 0.0) < -0.1] == ["drifts"]
    assert "drifts" in one.reading


def test_the_gap_is_found_and_its_absence_too(planted: Study) -> None:
    gaps = by_model(found(perspective_gap(planted)).tables[0], "gap")
    assert 0.17 < (gaps["sees-not-wants"].mean or 0.0) < 0.27  # planted: 0.30 - 0.08
    assert not excludes_zero(gaps["no-gap"])


def test_twins_are_not_separated_and_the_worse_is(planted: Study) -> None:
    pairs = found(pairs_separated(planted)).tables[1]
    names = zip(cells(pairs, "metric"), cells(pairs, "first"), cells(pairs, "second"), strict=True)
    key = [(metric, *sorted(map(str, pair))) for metric, *pair in names]
    holm = cells(pairs, "p_holm")
    twins = holm[key.index(("Composite (0-100)", "planted/good", "planted/good-twin"))]
    worse = holm[key.index(("Composite (0-100)", "planted/good", "planted/worse"))]
    assert isinstance(twins, float)
    assert isinstance(worse, float)
    assert worse < 0.05 < twins


def test_whoever_picks_by_side_loses_against_whoever_reads(planted: Study) -> None:
    matrix = found(preference_wins(planted)).tables[1]
    rates = {(r[0], r[1]): r[2] for r in matrix.rows}
    against = rates["planted/good", "planted/position-biased"]
    assert isinstance(against, Interval)
    assert (against.low or 0.0) > 0.5
    assert len(matrix.rows) == len(NAMES) * (len(NAMES) - 1)


def test_modes_that_gain_and_lose_are_told_apart(planted: Study) -> None:
    differences = found(mode_differences(planted)).tables[0]
    composite = {str(r[2]): r[3] for r in differences.rows if r[1] == "Composite"}
    good, worse = composite["planted/good"], composite["planted/worse"]
    assert isinstance(good, Interval)
    assert isinstance(worse, Interval)
    assert (good.high or 0.0) < 0 < (worse.low or 0.0)
    assert good.n == 12


def test_training_is_seen_to_help(planted: Study) -> None:
    one = found(learning_curves(planted))
    assert cells(one.tables[0], "step") == [0, 400]
    assert one.reading.startswith("Run grpo-7 changes by +")


def test_costs_are_read_where_results_lie(planted: Study) -> None:
    table = found(cost_against_score(planted)).tables[0]
    cost = by_model(table, "cost")
    assert (cost["good"].mean or 0.0) == pytest.approx(1.5 * (cost["good-twin"].mean or 0.0))  # 0.03, 0.02
    assert cost["no-gap"].mean is None
    assert Path(str(planted.results)).is_dir()
