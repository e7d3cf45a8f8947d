"""Each analysis on a few scores whose results are worked by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attune_env.analyses import Absent
from attune_env.analyses.by_score import (
    cost_against_score,
    difficulty,
    leaderboard,
    learning_curves,
    metric_correlations,
    metric_groups,
    mode_differences,
    pairs_separated,
    perspective_gap,
    preference_wins,
    samples,
    top_models,
    variance_shares,
)
from attune_env.analyses.items import items_of
from attune_env.analyses.study import Study
from attune_env.report.groups import COMPOSITES, GROUPS
from attune_env.statistics.bootstrap import Interval
from tests.analyses.by_score.made import A, B, C, Json, cells, columns, entry, found, means, scored, study

COMPOSITE = "composite_score"


def composites(**models: Sequence[float | None]) -> Study:
    return study(columns(COMPOSITE, {f"lab/{name}": values for name, values in models.items()}))


def test_the_leaderboard_names_first_and_last() -> None:
    one = found(leaderboard(composites(a=[60, 62, 64, 66, 68], b=[50] * 5)))
    (table,) = one.tables
    assert cells(table, "model") == [A, B]
    assert means(table, COMPOSITE) == [64, 50]
    assert cells(table, "n") == [5, 5]
    assert cells(table, "parsed") == [0.9, 0.9]
    assert cells(table, "unscored") == [0.25, 0.25]
    assert table.title.endswith("; mode default")
    # a lies 10, 12, 14, 16, 18 above b: 14 in the mean, and never below
    assert one.reading.startswith("First is a with a Composite of 64.0 [")
    assert ", ahead of b (+14.0 [" in one.reading
    assert "; the last of 2 models, b, has 50.0 [50.0, 50.0]" in one.reading


def test_a_first_place_that_chance_can_give_is_said_to_be_one() -> None:
    one = found(leaderboard(composites(a=[60, 40, 60, 40, 61], b=[40, 60, 40, 60, 60])))
    # differences 20, -20, 20, -20, 1: 0.2 in the mean
    assert "a with a Composite of 52.2 [" in one.reading
    assert ", not clearly ahead of b (+0.2 [−" in one.reading


def test_where_only_policies_played_the_ceiling_is_a_line_and_no_winner() -> None:
    names = ("builtin/lexicon", "builtin/prior", "builtin/empty", "builtin/oracle")
    made = study(columns(COMPOSITE, dict(zip(names, ([70.0] * 5, [50.0] * 5, [20.0] * 5, [100.0] * 5),
                                             strict=True))))  # fmt: skip
    assert [model for model, _ in made.models] == list(names[:3])
    one = found(leaderboard(made))
    assert one.reading.endswith("the last of 3 policies, empty, has 20.0 [20.0, 20.0]; oracle gets 100.0.")
    assert one.tables[0].rows[0][0] == "builtin/oracle"  # its row stays
    alone = study(columns(COMPOSITE, {"builtin/oracle": [100.0] * 5}))
    assert [model for model, _ in alone.models] == ["builtin/oracle"]


def test_a_shared_first_place_is_nobodys() -> None:
    entries = [
        entry(f"c{i}", model, avg_emotion_f1=f1, avg_emotion_va_score=0.5, composite_score=50.0)
        for i in range(5)
        for model, f1 in ((A, 0.6), (B, 0.4))
    ]
    metrics, top = found(metric_groups(study(entries))), found(top_models(study(entries)))
    assert metrics.reading == (
        "1 of 2 models has the highest mean on at least one of 2 inputs of the Composite, a on most (1); "
        "on 1 it is shared."
    )
    assert top.reading.startswith(
        "1 of 2 models is first on at least one of 3 metrics (on 2 the first place is shared)"
    )


def test_means_stand_with_gaps_as_zero_beside_what_they_rest_on() -> None:
    entries = columns(COMPOSITE, {A: [60.0] * 6})
    for one, tau in zip(entries, (0.5, 1.0, 0.0, None, 0.5, None), strict=True):
        one |= {"avg_pairwise_kendall_tau": tau, "perspective_gap_om_hp": tau, "pillar_emotion": tau}
    table = found(metric_groups(study(entries))).tables[-1]
    assert table.name == "means_rest_on"
    rows = {row[3]: row[5:] for row in table.rows}
    # 0.5 + 1 + 0 + 0.5 = 2: over four 0.5, over six 1/3; points are hundred times that
    for name, scale in (("Kendall tau", 1), ("Emotion Tracking, 24% (0-100)", 100)):
        scored_mean, with_gaps, n, results, unscored, parsed = rows[name]
        assert isinstance(scored_mean, Interval)
        assert isinstance(with_gaps, Interval)
        assert (scored_mean.mean, with_gaps.mean) == pytest.approx((0.5 * scale, scale / 3))
        assert [n, results, unscored, parsed] == pytest.approx([4, 6, 1 / 3, 0.9])
    assert rows["Perspective gap OM-HP"][1] is None  # 0 is the middle of a gap, not its lowest


def test_the_strict_reading_leads_where_it_was_asked_for() -> None:
    entries = [entry(f"c{i}", composite_score=70.0, composite_strict=40.0) for i in range(5)]
    one = found(leaderboard(Study(scored(entries, "strict"))))
    assert one.reading == "The Strict Composite of a is 40.0 [40.0, 40.0]."


def below(**models: Sequence[float]) -> Study:
    """Models beside a baseline of 55 and a ceiling."""
    named = {f"lab/{name}": values for name, values in models.items()}
    return study(columns(COMPOSITE, named | {"builtin/prior": [55.0] * 5, "builtin/oracle": [100.0] * 5}))


@pytest.mark.parametrize(("made", "want"), [
    (below(a=[40.0] * 5, b=[30.0] * 5),
     "No model reaches the baseline prior, which gets 55.0; the highest is a with a Composite of 40.0 [40.0, "
     "40.0] (−15.0 [−15.0, −15.0] to the baseline, paired), ahead of b (+10.0 [+10.0, +10.0], paired); the "
     "last of 2 models, b, has 30.0 [30.0, 30.0]; oracle gets 100.0."),
    (below(a=[60.0] * 5, b=[30.0] * 5, c=[20.0] * 5),
     "First is a with a Composite of 60.0 [60.0, 60.0], ahead of b (+30.0 [+30.0, +30.0], paired); the last "
     "of 3 models, c, has 20.0 [20.0, 20.0]; 2 (b and c) lie below the baseline prior, which gets 55.0; "
     "oracle gets 100.0."),
    (below(a=[40.0] * 5),
     "The Composite of a is 40.0 [40.0, 40.0] (−15.0 [−15.0, −15.0] to the baseline, paired); it lies below "
     "the baseline prior, which gets 55.0; oracle gets 100.0."),
])  # fmt: skip
def test_who_lies_below_the_baseline_is_said(made: Study, want: str) -> None:
    assert found(leaderboard(made)).reading == want


def test_the_axis_holds_the_baseline_however_far_it_is() -> None:
    ((name, draw),) = found(leaderboard(below(a=[40, 41, 42, 43, 44], b=[38, 39, 41, 41, 42]))).figures
    figure = draw()
    assert name == "leaderboard"
    low, high = figure.axes[0].get_xlim()
    assert low < 38 < 55 < high < 100
    assert [text.get_text() for text in figure.axes[0].texts] == ["prior", "oracle 100 →"]


def test_policies_are_lines_and_not_competitors() -> None:
    values = {A: [60.0] * 5, "builtin/prior": [55.0] * 5, "builtin/empty": [20.0] * 5,
              "builtin/oracle": [100.0] * 5}  # fmt: skip
    made = study(columns(COMPOSITE, values))
    one = found(leaderboard(made))
    assert one.reading == "The Composite of a is 60.0 [60.0, 60.0]; prior gets 55.0, oracle gets 100.0."
    assert one.tables[0].dim == {0, 2, 3}
    assert isinstance(pairs_separated(made), Absent)


@pytest.mark.parametrize("mode", ["default", "verbose"])
def test_every_table_names_the_mode_and_marks_the_others(mode: str) -> None:
    values: dict[str, Any] = {"avg_binary_om_accuracy": 0.9, "avg_binary_human_accuracy": 0.8,
                              "perspective_gap_om_hp": 0.1, COMPOSITE: 60.0}  # fmt: skip
    made = study([entry(f"c{i}", m, mode=mode, **values) for i in range(5) for m in (A, B, C)])
    for analyse in (leaderboard, metric_groups, perspective_gap, top_models, difficulty):
        for table in found(analyse(made)).tables:
            want = "mode default" if mode == "default" else "mode verbose (not primary)"
            assert table.title.endswith(want)


def test_the_groups_hold_every_metric_with_its_role() -> None:
    metrics: Json = {m.name: 0.5 for _, group in GROUPS for m in group}
    tables = found(metric_groups(study([entry(f"c{i}", **metrics) for i in range(5)]))).tables[:-1]
    for (_, group), table in zip(GROUPS, tables, strict=True):
        assert [c.key for c in table.columns[3:-1]] == [m.name for m in group]
        assert [c.name for c in table.columns[3:-1]] == [f"{m.label} ({m.role})" for m in group]
    assert len(COMPOSITES) == len(tables[2].columns) - 4


def test_the_composite_is_the_total_and_no_input_of_its_own() -> None:
    values: Json = {COMPOSITE: 60.0, "avg_emotion_f1": 0.5, "avg_pairwise_kendall_tau": 0.1}
    made = study([entry(f"c{i}", model, **values) for i in range(5) for model in (A, B)])
    for analyse in (pairs_separated, top_models):
        assert cells(found(analyse(made)).tables[0], "counts_as")[:2] == ["total", "input"]
    rests_on = found(metric_groups(made)).tables[-1]
    assert {row[4] for row in rests_on.rows if row[3] == "Composite (0-100)"} == {"total"}


def test_what_chance_separates_is_not_rounded_up() -> None:
    assert "(of 1 pair 0.05)" in found(pairs_separated(composites(a=[60.0] * 6, b=[50.0] * 6))).method


def test_metrics_that_are_defined_less_often_are_named() -> None:
    entries = columns("avg_emotion_f1", {A: [0.5] * 6}) + columns(COMPOSITE, {B: [50.0] * 6})
    entries[0]["avg_emotion_f1"] = None
    notes = found(metric_groups(study(entries))).tables[-2].notes
    assert any("Emotion F1 n = 0 for lab/b" in note for note in notes)


def test_the_lead_is_the_paired_difference_of_the_first_two() -> None:
    one = found(top_models(composites(a=[60, 70, 80, 90, 100], b=[59, 69, 79, 89, 99], c=[1, 1, 1, 1, 1])))
    (table,) = one.tables
    assert [cells(table, place)[0] for place in ("first", "second", "third")] == [A, B, C]
    (lead,) = cells(table, "lead")
    assert lead == Interval(1.0, 1.0, 1.0, 5, 5)  # each conversation differs by 1: no width
    assert "the first is ahead of the second beyond the interval on 1" in one.reading


def test_pairs_are_separated_by_what_differs_within_conversations() -> None:
    a = [60.0, 70, 80, 90, 50, 40, 65, 75, 85, 95]
    one = found(pairs_separated(composites(a=[v + 1 for v in a], b=a, c=a[::-1])))
    counts, pairs = one.tables
    # a - b is 1 everywhere; c has the same mean as b in another order
    assert cells(pairs, "first") == [A, A, B]
    assert cells(pairs, "separated") == ["yes", "no", "no"]
    # every sign pattern but the observed and its mirror has a smaller sum: p = (1 + 1)/(1 + 1023)
    assert cells(pairs, "p")[0] == pytest.approx(2 / 1024)
    assert cells(counts, "by_interval") == [1]
    assert cells(counts, "pairs") == [3]
    assert one.reading == "The Composite separates 1 of 3 pairs of models (1 with Holm's correction)."


def test_the_perspective_gap_by_hand() -> None:
    made = study([
        entry(f"c{i}", model, avg_binary_om_accuracy=0.9, avg_binary_human_accuracy=0.9 - gap,
              perspective_gap_om_hp=gap)
        for model, gaps in ((A, [0.1] * 8), (B, [0.02, -0.02] * 4))
        for i, gap in enumerate(gaps)
    ])  # fmt: skip
    one = found(perspective_gap(made))
    (table,) = one.tables
    assert means(table, "gap") == pytest.approx([0.1, 0.0])
    # 8 conversations, 2^8 = 256 patterns: a reaches its sum with all or no sign turned, b always
    assert cells(table, "p") == pytest.approx([2 / 256, 1.0])
    assert cells(table, "p_holm") == pytest.approx([4 / 256, 1.0])
    assert "its interval leaves out 0 in 1, and Holm-corrected p < 0.05 in 1" in one.reading


def test_win_rates_count_ties_half() -> None:
    tau = {A: [1.0, 0.5, 0.2, 0.2, -0.5], B: [0.0, 0.5, 0.4, 0.1, -0.9]}
    one = found(preference_wins(study(columns("avg_pairwise_kendall_tau", tau))))
    table, matrix = one.tables
    # a wins 3, ties 1, loses 1: 3.5 of 5
    assert means(matrix, "win_rate") == pytest.approx([0.7, 0.3])
    assert means(table, "tau") == pytest.approx([0.28, 0.02])
    assert one.reading.startswith("Mean Kendall τ is negative for none of 2 models; no model wins")


def test_a_negative_mean_tau_is_named() -> None:
    tau = {A: [-0.5] * 6, B: [0.1, -0.2] * 3}
    one = found(preference_wins(study(columns("avg_pairwise_kendall_tau", tau))))
    assert "negative for both models (a and b), beyond the interval for 1" in one.reading


def test_variance_lies_where_it_was_put() -> None:
    only_models = found(variance_shares(composites(a=[60.0] * 6, b=[50.0] * 6)))
    assert cells(only_models.tables[0], "model") == [1.0]
    only_people = found(variance_shares(composites(a=[10.0, 50, 90], b=[10.0, 50, 90])))
    assert cells(only_people.tables[0], "conversation") == [1.0]
    said = "0.0 % lies between models, 100.0 % between conversations and 0.0 % in the rest"
    assert said in only_people.reading


def test_difficulty_by_hand() -> None:
    one = found(difficulty(composites(a=[80, 40, None], b=[60, 20, 70])))
    (table,) = one.tables  # no turns: nothing by length
    assert cells(table, "conversation") == ["c1", "c0", "c2"]
    assert cells(table, "mean") == [30, 70, 70]  # c2 has one model
    assert cells(table, "sd_over_models")[:2] == pytest.approx([200**0.5, 200**0.5])
    assert cells(table, "sd_over_models")[2] is None
    assert cells(table, "models") == [2, 2, 1]


def test_metrics_that_rank_alike_correlate() -> None:
    entries = [
        entry(f"c{i}", model, avg_emotion_f1=v, avg_emotion_va_score=v / 2, avg_pairwise_accuracy=1 - v)
        for model, v in ((A, 0.9), (B, 0.5), (C, 0.1))
        for i in range(6)
    ]
    (table,) = found(metric_correlations(study(entries))).tables
    rho = dict(zip(zip(cells(table, "metric"), cells(table, "other_metric"), strict=True),
                   means(table, "rho"), strict=True))  # fmt: skip
    assert rho["Emotion F1", "Emotion VA"] == pytest.approx(1)
    assert rho["Emotion F1", "Pairwise Accuracy"] == pytest.approx(-1)


def test_modes_are_compared_on_the_conversations_that_both_have() -> None:
    entries = [
        *columns(COMPOSITE, {A: [60, 60, 60, 60, 60, 0], B: [50.0] * 6}),
        # a was not asked about c5 in verbose, where it was bad before
        *columns(COMPOSITE, {A: [62, 62, 62, 62, 62, None], B: [65.0] * 6}, mode="verbose"),
    ]
    one = found(mode_differences(study(entries)))
    differences, ranks = one.tables
    assert cells(differences, "model") == [A, B, "all models"]
    assert means(differences, "difference")[:2] == pytest.approx([0.02, 0.15])  # of 100
    assert cells(differences, "n")[:2] == [5, 6]
    # on c0-c4: 60 and 50 by default, 62 and 65 in verbose
    assert cells(ranks, "model") == [A, B]
    assert cells(ranks, "rank_base") == [1, 2]
    assert cells(ranks, "rank_mode") == [2, 1]
    assert cells(ranks, "n") == [5, 5]
    assert {"verbose (not primary)"} == set(cells(ranks, "mode"))
    assert "2 models change rank" in one.reading


def test_learning_curves_follow_the_steps_of_a_run() -> None:
    def step(name: str, number: Any, value: float, run: str = "r") -> list[Json]:
        marks = {"training": {"run": run, "step": number}}
        return [entry(f"c{i}", name, composite_score=value, attune=marks) for i in range(6)]

    entries = [*step("x/late", 20, 70), *step("x/early", 3, 50), *step("x/no", "7", 0)]
    one = found(learning_curves(study(entries)))
    (table,) = one.tables
    assert cells(table, "step") == [3, 20]
    assert cells(table, "model") == ["x/early", "x/late"]
    assert one.reading == "Run r changes by +20.0 [+20.0, +20.0] points of Composite from step 3 to 20."


def result_of(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Of which result an entry of a scores file is."""
    return {name: scores[name] for name in ("conversationId", "em_model", "mode")}


def test_costs_are_those_of_the_result_files(tmp_path: Path) -> None:
    made = study(columns(COMPOSITE, {A: [60.0] * 5, B: [50.0] * 5}), results=tmp_path)
    for scores in made.entries[:-1]:  # the last result is not there
        usage = {"calls": 4, "tokens_in": 100, "tokens_out": 10, "api_cost": 0.0}
        record = result_of(scores) | {
            "api_cost": 0.5 if scores["em_model"] == A else 0.0,
            "attune": {"usage": usage},
        }
        (tmp_path / scores["source_result"]).write_text(json.dumps(record))
    one = found(cost_against_score(made))
    (table,) = one.tables
    assert means(table, "cost") == [0.5, None]  # nothing recorded is not free
    assert cells(table, "cost_in_all") == [2.5, None]
    assert means(table, "calls") == [4, 4]
    assert cells(table, "n") == [5, 4]
    assert one.reading == "US dollars a conversation: 0.500 (a, Composite 60.0)."


@pytest.mark.parametrize("content", ["[]", "{}", '{"api_cost": 3}', "nonsense"])
def test_files_that_are_not_of_the_scored_result_are_not_counted(tmp_path: Path, content: str) -> None:
    made = study(columns(COMPOSITE, {A: [60.0]}), results=tmp_path)
    (tmp_path / made.entries[0]["source_result"]).write_text(content)
    assert isinstance(absent := cost_against_score(made), Absent)
    assert "no result file was found" in absent.reason


@pytest.mark.parametrize("told", [{}, {"attune": 3}, {"api_cost": "much"}, {"api_cost": -1}])
def test_result_files_that_say_nothing_of_costs_are_no_error(tmp_path: Path, told: dict[str, Any]) -> None:
    made = study(columns(COMPOSITE, {A: [60.0]}), results=tmp_path)
    record = result_of(made.entries[0]) | told
    (tmp_path / made.entries[0]["source_result"]).write_text(json.dumps(record))
    assert isinstance(absent := cost_against_score(made), Absent)
    assert "1 result file of these models found" in absent.reason


def test_result_files_are_read_once(tmp_path: Path) -> None:
    made = study(columns(COMPOSITE, {A: [60.0] * 5}), results=tmp_path)
    for scores in made.entries:
        (tmp_path / scores["source_result"]).write_text(json.dumps(result_of(scores) | {"api_cost": 0.5}))
    items_of(made)
    for path in tmp_path.iterdir():
        path.unlink()
    (table,) = found(cost_against_score(made)).tables
    assert means(table, "cost") == [0.5]


@pytest.mark.parametrize("name", ["../secret.json", "/etc/hostname", 3, None])
def test_only_files_of_the_results_folder_are_read(tmp_path: Path, name: Any) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    made = study(columns(COMPOSITE, {A: [60.0]}, source_result=name), results=folder)
    (tmp_path / "secret.json").write_text(json.dumps(result_of(made.entries[0]) | {"api_cost": 3}))
    assert isinstance(cost_against_score(made), Absent)


def test_samples_are_of_this_mode_only() -> None:
    values = {A: [60.0, 62], f"{A}@sample2": [64.0, 66]}
    other = columns(COMPOSITE, {B: [1.0, 2], f"{B}@sample2": [1.0, 2]}, mode="verbose")
    one = found(samples(study([*columns(COMPOSITE, values), *other])))
    assert cells(one.tables[0], "model") == [A]
    # means 61 and 65: standard deviation 4/√2
    assert cells(one.tables[0], "sd_over_samples") == [pytest.approx(8**0.5)]


def test_three_conversations_are_shown_and_said_to_be_few() -> None:
    one = found(leaderboard(composites(a=[60, 62, 64], b=[50, 51, 55])))
    assert one.reading.endswith("; with 3 conversations no interval says much.")
    assert np.isfinite([m for m in means(one.tables[0], COMPOSITE) if m is not None]).all()
