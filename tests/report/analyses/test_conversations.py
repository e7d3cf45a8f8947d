"""Turns and conversations: thirds, drift and difficulty on scores worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_env.report.analyses import Absent, Study
from attune_env.report.analyses.conversations import DIFFICULTY, DRIFT, turn_means, turn_scores
from attune_rewards.bootstrap import Array
from tests.report.analyses.made import A, B, Json, columns, entry, first, means, person, study, tables

OM = "binary_om_accuracy"


def scores(*values: float) -> list[Json]:
    return [{OM: value} for value in values]


def thirds(made: Study) -> Array:
    """Of the first conversation: (models, 3)."""
    turns = turn_scores(made, [OM])
    found: Array = turn_means(made, turns, OM, turns["third"], 3)[0]
    return found


def test_a_turn_that_a_result_lacks_does_not_move_the_others() -> None:
    made = study([entry("c", A, turns=scores(0.1, 0.2, 0.3)),
                  entry("c", B, turns=[{"turnNumber": 3, OM: 0.9}])])  # fmt: skip
    found = thirds(made)[made.models.index((B, "default"))]
    assert found[2] == 0.9
    assert np.isnan(found[:2]).all()


def test_turns_of_the_record_count_also_where_nobody_was_scored_on_them() -> None:
    entries = [entry("c", turns=scores(0.1, 0.2))]
    with_record = study(entries, [person("c", tagged=[True] * 6)])
    assert turn_scores(with_record, [OM])["third"].tolist() == [0, 0]
    assert turn_scores(study(entries), [OM])["third"].tolist() == [-1, -1]


def test_tagged_turns_are_those_whose_person_tagged_an_emotion() -> None:
    made = study([entry("c", turns=scores(1.0, 0.2, 0.6))], [person("c", tagged=[False, True, True])])
    assert turn_scores(made, [OM])["tagged"].tolist() == [0, 1, 1]
    unknown = turn_scores(study([entry("c", turns=scores(1.0, 0.2))]), [OM])
    assert np.isnan(unknown["tagged"]).all()


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=12))
def test_thirds_weighted_by_their_sizes_give_the_mean_of_all_turns(values: list[float]) -> None:
    made = study([entry("c", turns=scores(*values))])
    sizes = np.bincount(turn_scores(made, [OM])["third"], minlength=3)
    assert sizes.max() - sizes.min() <= 1
    assert (thirds(made)[0] * sizes).sum() / sizes.sum() == pytest.approx(np.mean(values))


def test_drift_is_the_change_within_conversations() -> None:
    made = study([
        *(entry(f"c{i}", A, turns=scores(0.9, 0.8, 0.7)) for i in range(6)),
        *(entry(f"c{i}", B, turns=scores(0.5, 0.5, 0.5)) for i in range(6)),
        entry("short", A, turns=scores(0.0, 1.0)),
    ])  # fmt: skip
    found = tables(DRIFT, made)
    pooled, by_model = found["turn_drift"], found["turn_drift_by_model"]
    # first third (0.9 + 0.5)/2 = 0.7, last (0.7 + 0.5)/2 = 0.6
    assert means(pooled, "first_third") == pytest.approx([0.7])
    assert means(pooled, "last_third") == pytest.approx([0.6])
    assert means(pooled, "change") == pytest.approx([-0.1])
    assert (pooled.column("models_down"), pooled.column("models_down_significantly")) == ([1], [1])
    assert by_model.column("model") == [A, B]
    assert means(by_model, OM) == pytest.approx([-0.2, 0.0])


@pytest.mark.parametrize("made", [[], scores(0.5, 0.6), [{}, {}, {}]], ids=["none", "short", "undefined"])
def test_without_thirds_there_is_no_drift(made: list[Json]) -> None:
    with pytest.raises(Absent):
        DRIFT.run(study([entry("c", turns=made)]))


def test_difficulty_by_hand() -> None:
    values: dict[str, list[float | None]] = {A: [80, 40, None], B: [60, 20, 70]}
    table = first(DIFFICULTY, study(columns("composite_score", values)))
    assert table.column("conversation") == ["c1", "c0", "c2"]  # the same mean: in the order of the ids
    assert table.column("mean") == [30, 70, 70]
    assert table.column("sd_over_models") == [pytest.approx(200**0.5), pytest.approx(200**0.5), None]
    assert table.column("of_lab/a") == [40, 80, None]
