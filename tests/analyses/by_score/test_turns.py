"""Turns as an array, and drift over thirds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_env.analyses import Absent
from attune_env.analyses.by_score import turn_drift
from attune_env.analyses.turn_table import TurnTable
from tests.analyses.by_score.made import A, B, Json, cells, entry, found, means, person, study

OM = "binary_om_accuracy"


def scores(*values: float | None, metric: str = OM) -> list[Json]:
    return [{metric: value} for value in values]


@pytest.mark.parametrize(("turns", "want"), [
    (3, [0, 1, 2]),
    (4, [0, 0, 1, 2]),  # ⌊3·0/4⌋ ⌊3/4⌋ ⌊6/4⌋ ⌊9/4⌋
    (5, [0, 0, 1, 1, 2]),
    (7, [0, 0, 0, 1, 1, 2, 2]),
    (2, [-1, -1]),
])  # fmt: skip
def test_turn_k_of_t_is_in_third_3_k_minus_1_over_t(turns: int, want: list[int]) -> None:
    table = TurnTable.of(study([entry("c", turns=scores(*[0.5] * turns))]), [OM])
    assert table.third.tolist() == want


def test_thirds_are_means_of_their_defined_turns() -> None:
    made = study([entry("c", turns=scores(0.2, 0.6, 0.5, None, 1.0)), entry("d", turns=scores(1.0, 0.0))])
    thirds = TurnTable.of(made, [OM]).thirds(OM)
    # c: (0.2 + 0.6)/2, 0.5 (the undefined turn is left out), 1.0; d is too short
    np.testing.assert_allclose(thirds[0, 0], [0.4, 0.5, 1.0])
    assert np.isnan(thirds[1]).all()


def test_a_turn_that_a_result_lacks_does_not_move_the_others() -> None:
    made = study([entry("c", A, turns=scores(0.1, 0.2, 0.3)),
                  entry("c", B, turns=[{"turnNumber": 3, OM: 0.9}])])  # fmt: skip
    thirds = TurnTable.of(made, [OM]).thirds(OM)[0]
    places = TurnTable.of(made, [OM]).keys
    assert thirds[places.index((B, "default"))][2] == 0.9
    assert np.isnan(thirds[places.index((B, "default"))][:2]).all()


def test_turns_of_the_record_count_also_where_nobody_was_scored_on_them() -> None:
    entries = [entry("c", turns=scores(0.1, 0.2))]
    with_record = study(entries, [person("c", tagged=[True] * 6)])
    assert TurnTable.of(with_record, [OM]).third.tolist() == [0, 0]
    assert TurnTable.of(study(entries), [OM]).third.tolist() == [-1, -1]


def test_tagged_turns_are_those_whose_person_tagged_an_emotion() -> None:
    made = study([entry("c", turns=scores(1.0, 0.2, 0.6))], [person("c", tagged=[False, True, True])])
    assert TurnTable.of(made, [OM]).tagged_only(OM)[0, 0] == pytest.approx(0.4)
    unknown = TurnTable.of(study([entry("c", turns=scores(1.0, 0.2))]), [OM])
    assert np.isnan(unknown.tagged).all()
    assert np.isnan(unknown.tagged_only(OM)).all()


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12))
def test_thirds_weighted_by_their_sizes_give_the_mean_of_all_turns(values: list[float]) -> None:
    table = TurnTable.of(study([entry("c", turns=scores(*values))]), [OM])
    sizes = np.bincount(table.third, minlength=3)
    assert (sizes > 0).all()
    assert sizes.max() - sizes.min() <= 1
    assert (table.thirds(OM)[0, 0] * sizes).sum() / sizes.sum() == pytest.approx(np.mean(values))


def test_drift_is_the_change_within_conversations() -> None:
    made = study([
        *(entry(f"c{i}", A, turns=scores(0.9, 0.8, 0.7)) for i in range(6)),
        *(entry(f"c{i}", B, turns=scores(0.5, 0.5, 0.5)) for i in range(6)),
        entry("short", A, turns=scores(0.0, 1.0)),
    ])  # fmt: skip
    one = found(turn_drift(made))
    pooled, by_model = one.tables
    # first third (0.9 + 0.5)/2 = 0.7, last (0.7 + 0.5)/2 = 0.6
    assert means(pooled, "first_third") == pytest.approx([0.7])
    assert means(pooled, "last_third") == pytest.approx([0.6])
    assert means(pooled, "change") == pytest.approx([-0.1])
    assert cells(pooled, "models_down") == [1]
    assert cells(pooled, "models_down_beyond") == [1]
    assert cells(by_model, "model") == [A, B]
    assert means(by_model, "binary_om") == pytest.approx([-0.2, 0.0])
    assert "1 of 2 models, beyond the model's own interval in 1 (a)" in one.reading
    assert "1 shorter conversation left out" in one.method


def test_no_drift_is_not_called_one() -> None:
    values = [scores(0.5 + 0.1 * sign, 0.5, 0.5 - 0.1 * sign) for sign in (1, -1) * 5]
    one = found(turn_drift(study([entry(f"c{i}", turns=v) for i, v in enumerate(values)])))
    assert one.reading.startswith("No metric changes beyond its interval")


@pytest.mark.parametrize("turns", [[], scores(0.5, 0.6), [{}, {}, {}]], ids=["none", "short", "undefined"])
def test_without_thirds_there_is_no_drift(turns: list[Json]) -> None:
    assert isinstance(turn_drift(study([entry("c", turns=turns)])), Absent)
