"""The leaderboard and every metric on a few scores whose results are worked by hand."""

from __future__ import annotations

import pytest

from attune_env.report.analyses import Study
from attune_env.report.analyses.leaderboard import EVERY_METRIC, LEADERS, PUBLISHED, samples_table
from attune_env.tables.groups import GROUPS
from attune_rewards.bootstrap import Interval
from tests.report.analyses.made import (
    COMPOSITE,
    A,
    B,
    Json,
    columns,
    composites,
    entry,
    first,
    means,
    scored,
    study,
    tables,
)


def test_the_leaderboard_ranks_models_with_what_their_numbers_rest_on() -> None:
    table = first(LEADERS, composites(a=[50] * 5, b=[60, 62, 64, 66, 68]))
    assert table.column("model") == [B, A]
    assert means(table, COMPOSITE) == [64, 50]
    assert table.column("n") == [5, 5]
    assert table.column("parsed") == [0.9, 0.9]
    assert table.column("unscored") == [0.25, 0.25]


def test_other_modes_follow_and_are_marked() -> None:
    verbose = columns(COMPOSITE, {A: [90.0] * 5}, mode="verbose")
    values = {A: [50.0] * 5, B: [40.0] * 5, "builtin/prior": [60.0] * 5}
    table = first(LEADERS, study([*columns(COMPOSITE, values), *verbose]))
    assert table.column("model") == [A, B, A, "builtin/prior"]
    assert table.column("mode") == ["default", "default", "verbose (not primary)", "default"]


def test_policies_are_references_and_the_oracle_is_no_model() -> None:
    names = ("builtin/lexicon", "builtin/prior", "builtin/empty", "builtin/oracle")
    values = dict(zip(names, ([70.0] * 5, [50.0] * 5, [20.0] * 5, [100.0] * 5), strict=True))
    alone = study(columns(COMPOSITE, values))
    assert [model for model, _ in alone.models] == ["builtin/prior", "builtin/empty", "builtin/lexicon"]
    beside = study(columns(COMPOSITE, values | {A: [60.0] * 5}))
    assert [model for model, _ in beside.models] == [A]
    leaders = first(LEADERS, beside)
    baselines = ["builtin/prior", "builtin/empty"]
    assert leaders.column("model") == [A, *baselines, "builtin/lexicon", "builtin/oracle"]
    assert leaders.dim == {1, 2, 3, 4}
    only = study(columns(COMPOSITE, {"builtin/oracle": [100.0] * 5}))
    assert [model for model, _ in only.models] == ["builtin/oracle"]


def test_the_strict_variant_leads_where_it_was_asked_for() -> None:
    entries = [entry(f"c{i}", composite_score=70.0, composite_strict=40.0) for i in range(5)]
    table = first(LEADERS, Study(scored(entries, "strict")))
    assert [head.name for head in table.heads[3:5]] == ["Strict Composite", "Canonical Composite"]
    assert means(table, "composite_strict") == [40.0]


def test_means_stand_with_gaps_as_zero_beside_what_they_rest_on() -> None:
    entries = columns(COMPOSITE, {A: [60.0] * 6})
    for one, tau in zip(entries, (0.5, 1.0, 0.0, None, 0.5, None), strict=True):
        one |= {"avg_pairwise_kendall_tau": tau, "perspective_gap_om_hp": tau, "pillar_emotion": tau}
    rows = {row[3]: row[5:] for row in tables(EVERY_METRIC, study(entries))["means_rest_on"].rows}
    # 0.5 + 1 + 0 + 0.5 = 2: over four 0.5, over six 1/3; points are hundred times that
    for name, scale in (("Ranking of replies (Kendall tau)", 1), ("Emotion Tracking, 24% (0-100)", 100)):
        scored_mean, with_gaps, n, results, unscored, parsed = rows[name]
        assert isinstance(scored_mean, Interval)
        assert isinstance(with_gaps, Interval)
        assert (scored_mean.mean, with_gaps.mean) == pytest.approx((0.5 * scale, scale / 3))
        assert [n, results, unscored, parsed] == pytest.approx([4, 6, 1 / 3, 0.9])
    assert rows["Perspective gap (did − wanted)"][1] is None  # 0 is the middle of a gap, not its lowest


def test_the_groups_hold_every_metric_with_its_role() -> None:
    metrics: Json = {m.column: 0.5 for _, group in GROUPS for m in group}
    found = list(tables(EVERY_METRIC, study([entry(f"c{i}", **metrics) for i in range(5)])).values())
    for (_, group), table in zip(GROUPS, found, strict=False):
        assert [c.key for c in table.heads[3:-1]] == [m.column for m in group]
        assert [c.name for c in table.heads[3:-1]] == [f"{m.label}, {m.role}" for m in group]


def test_metrics_that_are_defined_less_often_are_named() -> None:
    entries = columns("avg_emotion_f1", {A: [0.5] * 6}) + columns(COMPOSITE, {B: [50.0] * 6})
    entries[0]["avg_emotion_f1"] = None
    notes = tables(EVERY_METRIC, study(entries))["composite"].notes
    assert any("Emotion match (Emotion F1) n = 0 for `lab/b`" in note for note in notes)


@pytest.mark.parametrize("provenance", ["benchmark", "own"])
def test_published_values_stand_beside_the_benchmark_only(provenance: str) -> None:
    content = scored([entry(f"c{i}", avg_pairwise_accuracy=0.6, composite_score=1.0) for i in range(5)])
    content["metadata"]["data"]["provenance"] = provenance
    table = tables(EVERY_METRIC, Study(content))["turn_by_turn_scores"]
    shown = [str(model) for model in table.column("model") if str(model).startswith("published")]
    assert shown == (list(PUBLISHED) if provenance == "benchmark" else [])


def test_samples_are_of_one_mode() -> None:
    values = {A: [60.0, 62], f"{A}@sample2": [64.0, 66]}
    other = columns(COMPOSITE, {B: [1.0, 2], f"{B}@sample2": [1.0, 2]}, mode="verbose")
    (table,) = samples_table(scored([*columns(COMPOSITE, values), *other]), "default")
    assert table.column("model") == [A]
    # means 61 and 65: standard deviation 4/√2
    assert table.column("sd_over_samples") == [pytest.approx(8**0.5)]
