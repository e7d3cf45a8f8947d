"""Post-conversation PANAS: values worked by hand."""

from __future__ import annotations

import pytest

from attune_data.format.affect import POSITIVE
from attune_rewards import Reflect, score_conversation
from attune_rewards.metrics import panas as metrics
from attune_rewards.truth import Totals
from tests.rewards.builders import Json, conversation, panas, prediction, summing


def scores(pre: Json | None, post: Json | None, reflect: Reflect | None) -> Json:
    found = score_conversation(conversation(pre=pre, post=post), prediction(reflect=reflect))
    return {**found["post_score"], "strict": found["strict_parts"]}


@pytest.mark.parametrize(("post", "guess", "mae", "normalized"), [
    ((40, 20), (40, 20), 0.0, 1.0),
    ((40, 20), (34, 26), 6.0, 0.9),  # 1 - 6/60
    ((10, 10), (70, 70), 60.0, 0.0),
    ((None, 20), (30, 20), 5.0, 1 - 5 / 60),  # a missing side counts as 40: (10 + 0)/2
    ((40, 20), (None, 20), 0.0, 1.0),
    ((60, 20), (None, None), 20.0, 1 - 20 / 60),  # (|60 - 40| + |20 - 40|)/2
    ((None, None), (None, None), 0.0, 1.0),
])  # fmt: skip
def test_normalized_totals(
    post: tuple[float | None, float | None],
    guess: tuple[float | None, float | None],
    mae: float,
    normalized: float,
) -> None:
    assert metrics.total_mae(Totals(*post), Totals(*guess)) == mae
    found = scores(None, panas(totals=post), Reflect(panas_totals=guess))
    assert found["panas_mae"] == mae
    assert found["panas_normalized"] == metrics.normalized(mae) == pytest.approx(normalized)


@pytest.mark.parametrize(("pre", "post", "guess", "value"), [
    (30, 40, 40, 1.0),
    (30, 40, 38, 0.8),  # ((1 - 2/60) - (1 - 10/60)) / (10/60) = 8/10
    (30, 40, 30, 0.0),  # "no change" explains nothing
    (30, 40, 50, 0.0),  # as far off on the other side
    (30, 40, 25, -0.5),  # (10 - 15)/10
    (30, 40, 55, -0.5),
    (30, 40, 70, -1.0),  # (10 - 30)/10 = -2, clamped
    (30, 40, 10, -1.0),
    (40, 30, 32, 0.8),  # the other direction
    (30, 30, 30, None),  # post = pre: nothing to explain
    (30, 30, 50, None),
    (None, 40, 40, None),
    (30, None, 40, None),
    (30, 40, None, None),
])  # fmt: skip
def test_baseline_adjusted(
    pre: float | None, post: float | None, guess: float | None, value: float | None
) -> None:
    assert metrics.baseline_adjusted(pre, post, guess) == pytest.approx(value, abs=1e-12)
    found = scores(panas(totals=(pre, 15)), panas(totals=(post, 15)), Reflect(panas_totals=(guess, None)))
    assert found["panas_pa_baseline_adjusted"] == pytest.approx(value, abs=1e-12)
    assert found["panas_na_baseline_adjusted"] is None
    assert found["panas_baseline_adjusted"] == pytest.approx(value, abs=1e-12)  # the mean of the defined


@pytest.mark.parametrize(("post", "guess", "mae", "normalized"), [
    ({}, {}, None, None),
    ({"Proud": 3}, {}, None, None),
    ({}, {"Proud": 3}, None, None),
    ({"Proud": 3}, {"Upset": 3}, None, None),  # no item known on both sides
    ({"Proud": 3}, {"Proud": 3}, 0.0, 1.0),
    ({"Proud": 1}, {"Proud": 7}, 6.0, 0.0),
    ({"Proud": 3, "Upset": 2, "Alert": 7}, {"Proud": 5, "Upset": 1, "Guilty": 1}, 1.5, 0.75),  # (2 + 1)/2
])  # fmt: skip
def test_items(
    post: dict[str, int | None], guess: dict[str, int], mae: float | None, normalized: float | None
) -> None:
    assert metrics.item_mae(post, guess) == mae
    found = scores(None, panas(post), Reflect(panas=guess))
    assert found["panas_item_mae"] == mae
    assert found["panas_item_normalized"] == pytest.approx(normalized)


@pytest.mark.parametrize(("pre", "post", "guess", "value"), [
    ({"Proud": 2}, {"Proud": 5}, {"Proud": 4}, 2 / 3),  # (3 - 1)/3
    ({"Proud": 2}, {"Proud": 5}, {"Proud": 2}, 0.0),
    ({"Proud": 3}, {"Proud": 2}, {"Proud": 7}, -1.0),  # (1 - 5)/1 = -4, clamped
    ({"Proud": 3}, {"Proud": 3}, {"Proud": 3}, None),
    # Upset undefined
    ({"Proud": 2, "Upset": 4}, {"Proud": 5, "Upset": 4}, {"Proud": 4, "Upset": 1}, 2 / 3),
    ({"Proud": 2, "Upset": 4}, {"Proud": 5, "Upset": 6}, {"Proud": 4, "Upset": 6}, 5 / 6),  # (2/3 + 1)/2
    ({"Proud": None}, {"Proud": 5}, {"Proud": 4}, None),
    ({"Proud": 2}, {"Proud": 5}, {}, None),
])  # fmt: skip
def test_items_baseline_adjusted(
    pre: dict[str, int | None], post: dict[str, int | None], guess: dict[str, int], value: float | None
) -> None:
    assert metrics.items_baseline_adjusted(pre, post, guess) == pytest.approx(value, abs=1e-12)
    found = scores(panas(pre), panas(post), Reflect(panas=guess))
    assert found["panas_item_baseline_adjusted"] == pytest.approx(value, abs=1e-12)


def test_changes_are_clamped_to_the_scale() -> None:
    pre = {"Proud": 6, "Upset": 2, "Alert": 4, "Guilty": None}
    change = {"Proud": 3, "Upset": -6, "Alert": -1, "Guilty": 2, "Strong": 1}
    found = metrics.changed(pre, Totals(None, None), change)
    assert found == {"Proud": 7, "Upset": 1, "Alert": 3}


@pytest.mark.parametrize(("before", "each", "after"), [
    (35.0, 1, 45),  # ten changes of 1
    (35.0, 0, 35),
    (68.0, 6, 70),  # cut to what fits: ten sevens
    (12.0, -1, 10),
])  # fmt: skip
def test_changes_from_a_total_alone_sum_to_the_total_plus_the_changes(
    before: float, each: int, after: int
) -> None:
    found = metrics.changed({}, Totals(before, None), dict.fromkeys(POSITIVE, each))
    assert set(found) == set(POSITIVE)
    assert sum(found.values()) == after
    assert max(found.values()) - min(found.values()) <= 1
    assert 1 <= min(found.values()) <= max(found.values()) <= 7


@pytest.mark.parametrize(
    ("total", "items"),
    [(0, [1, 1, 1]), (3, [1, 1, 1]), (10, [3, 3, 4]), (12, [4, 4, 4]), (21, [7, 7, 7]), (99, [7, 7, 7])],
)
def test_a_total_is_spread_as_evenly_as_can_be(total: int, items: list[int]) -> None:
    found = metrics.spread(total, ("Proud", "Alert", "Strong"))
    assert list(found) == ["Proud", "Alert", "Strong"]
    assert sorted(found.values()) == items


# strict: (adjusted + 1)/2, or 0 unless all ten predicted items of that side are valid
def test_a_strict_side_is_the_adjusted_score_mapped() -> None:
    found = scores(panas(summing(30, 20)), panas(summing(40, 24)), Reflect(panas=summing(38, 20)))
    assert found["strict"] == pytest.approx({"panas_pa": 0.9, "panas_na": 0.5})  # (.8 + 1)/2; no change


@pytest.mark.parametrize(("pre", "post", "defined"), [
    (panas(summing(30, 20)), panas(summing(30, 24)), {"panas_na"}),  # post = pre on the positive side
    (panas(summing(30, 20)), panas(summing(30, 20)), set()),
    (None, panas(summing(30, 20)), set()),
    (panas(summing(30, 20)), None, set()),
    (panas(totals=(30, 20)), panas(totals=(31, None)), {"panas_pa"}),  # stated totals are annotations
])  # fmt: skip
def test_which_strict_sides_are_defined(pre: Json | None, post: Json | None, defined: set[str]) -> None:
    assert set(scores(pre, post, Reflect(panas=summing(30, 30)))["strict"]) == defined
