"""What the metric table declares holds: ranges, gold values, order, symmetry; and it lists every metric."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rewards.metric_table import METRICS, MODULES, PREPARATIONS, Metric, Values

EACH = pytest.mark.parametrize("metric", METRICS, ids=[f"{m.name}-{i}" for i, m in enumerate(METRICS)])
QUICK = settings(max_examples=50)


def listed(value: Values) -> list[float | None]:
    return list(value) if isinstance(value, Sequence) else [value]


def test_every_public_function_is_in_the_table() -> None:
    public = {
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert public == {metric.name for metric in METRICS} | PREPARATIONS


@EACH
def test_a_metric_stays_in_its_range(metric: Metric) -> None:
    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        for value in listed(metric.score(truth, guess)):
            if value is None:
                assert metric.undefined
            else:
                assert metric.low - 1e-12 <= value <= metric.high + 1e-12

    check()


@EACH
def test_the_right_answer_earns_the_gold_value(metric: Metric) -> None:
    @QUICK
    @given(metric.truths)
    def check(truth: Any) -> None:
        for value in listed(metric.score(truth, metric.right(truth))):
            assert (value is None and metric.undefined) or value == pytest.approx(metric.gold, abs=1e-12)

    check()


@pytest.mark.parametrize("metric", [m for m in METRICS if m.shuffle], ids=lambda m: m.name)
def test_the_order_of_what_is_listed_does_not_matter(metric: Metric) -> None:
    assert metric.shuffle is not None
    other = metric.shuffle

    @QUICK
    @given(metric.truths, metric.guesses, st.integers(0, 999))
    def check(truth: Any, guess: Any, seed: int) -> None:
        reordered = metric.score(*other(truth, guess, Random(seed)))
        assert listed(reordered) == pytest.approx(listed(metric.score(truth, guess)), abs=1e-12)

    check()


@pytest.mark.parametrize("metric", [m for m in METRICS if m.swap], ids=lambda m: m.name)
def test_a_symmetric_metric_does_not_care_which_side_is_the_truth(metric: Metric) -> None:
    assert metric.swap is not None
    swap = metric.swap

    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        swapped = metric.score(*swap(truth, guess))
        assert listed(swapped) == pytest.approx(listed(metric.score(truth, guess)), abs=1e-12)

    check()


@pytest.mark.parametrize("metric", [m for m in METRICS if m.lopsided], ids=lambda m: m.name)
def test_a_lopsided_metric_does_care(metric: Metric) -> None:
    assert metric.lopsided is not None
    truth, guess = metric.lopsided
    assert metric.score(truth, guess) != metric.score(guess, truth)
