"""What the metric table claims holds, what it says does not hold fails, and it lists every metric."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from itertools import zip_longest
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rewards.metric_claims import Claim, Metric, rebuilt
from tests.rewards.metric_table import METRICS, MODULES, PREPARATIONS

NAMES = [f"{metric.name}-{place}" for place, metric in enumerate(METRICS)]
EACH = pytest.mark.parametrize("metric", METRICS, ids=NAMES)
QUICK = settings(max_examples=50)


def those_with(attribute: str) -> pytest.MarkDecorator:
    """The metrics that declare something, as a parameter of a test."""
    found = [(m, name) for m, name in zip(METRICS, NAMES, strict=True) if getattr(m, attribute) is not None]
    return pytest.mark.parametrize("metric", [m for m, _ in found], ids=[name for _, name in found])


def claims(attribute: str, *, hold: bool) -> pytest.MarkDecorator:
    """(metric, claim) of the claims of one kind that hold, or that are said not to."""
    found = [
        pytest.param(metric, claim, id=f"{name}-{getattr(claim.steps, '__name__', '')}")
        for metric, name in zip(METRICS, NAMES, strict=True)
        for claim in getattr(metric, attribute)
        if (claim.fails is None) == hold
    ]
    return pytest.mark.parametrize(("metric", "claim"), found)


def is_worse(metric: Metric, before: Sequence[float | None], after: Sequence[float | None]) -> bool:
    """Whether a value that is defined in both got worse."""
    return any(
        metric.gain(old, new) < -1e-12
        for old, new in zip_longest(before, after)
        if old is not None and new is not None
    )


def pays(metric: Metric, before: Sequence[float | None], after: Sequence[float | None]) -> bool:
    """Whether a value got better, or is no longer there to be counted."""
    return any(
        new is None or metric.gain(old, new) > 1e-12
        for old, new in zip_longest(before, after)
        if old is not None
    )


def test_every_public_function_is_in_the_table() -> None:
    public = {
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert public == {metric.name for metric in METRICS} | PREPARATIONS


@EACH
def test_something_is_claimed_of_corrections_and_of_silence(metric: Metric) -> None:
    assert metric.monotone
    assert metric.silence
    assert metric.gold == (metric.low if metric.lower else metric.high)
    assert any(claim.fails is None for claim in metric.monotone)  # some way to the truth never hurts


@EACH
def test_a_metric_stays_in_its_range(metric: Metric) -> None:
    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        for value in metric.listed(truth, guess):
            if value is None:
                assert metric.undefined is not None
            else:
                assert metric.low - 1e-12 <= value <= metric.high + 1e-12

    check()


@those_with("undefined")
def test_what_may_be_undefined_is_so_somewhere(metric: Metric) -> None:
    assert metric.undefined is not None
    assert set(metric.listed(*metric.undefined)) == {None}


@EACH
def test_the_right_answer_earns_the_gold_value(metric: Metric) -> None:
    @QUICK
    @given(metric.truths)
    def check(truth: Any) -> None:
        for value in metric.listed(truth, metric.right(truth)):
            assert (value is None and metric.undefined) or value == pytest.approx(metric.gold, abs=1e-12)

    check()


@those_with("short")
def test_where_the_right_answer_is_said_to_miss_gold_it_does(metric: Metric) -> None:
    values = metric.listed(metric.short, metric.right(metric.short))
    assert any(value is not None and value < metric.gold for value in values)


@EACH
def test_the_same_answers_always_give_the_same_value(metric: Metric) -> None:
    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        first = metric.listed(truth, guess)
        assert metric.listed(rebuilt(truth), rebuilt(guess)) == first
        assert metric.listed(truth, guess) == first

    check()


@those_with("shuffle")
def test_the_order_of_what_is_listed_does_not_matter(metric: Metric) -> None:
    assert metric.shuffle is not None
    other = metric.shuffle

    @QUICK
    @given(metric.truths, metric.guesses, st.integers(0, 999))
    def check(truth: Any, guess: Any, seed: int) -> None:
        reordered = metric.listed(*other(truth, guess, Random(seed)))
        assert reordered == pytest.approx(metric.listed(truth, guess), abs=1e-12)

    check()


@those_with("ordered")
def test_where_order_is_said_to_matter_it_does(metric: Metric) -> None:
    assert metric.ordered is not None
    truth, one, other = metric.ordered
    assert sorted(map(repr, one)) == sorted(map(repr, other))
    assert metric.score(truth, one) != metric.score(truth, other)


@those_with("swap")
def test_a_symmetric_metric_does_not_care_which_side_is_the_truth(metric: Metric) -> None:
    assert metric.swap is not None
    swap = metric.swap

    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        assert metric.listed(*swap(truth, guess)) == pytest.approx(metric.listed(truth, guess), abs=1e-12)

    check()


@those_with("lopsided")
def test_a_lopsided_metric_does_care(metric: Metric) -> None:
    assert metric.lopsided is not None
    truth, guess = metric.lopsided
    assert metric.score(truth, guess) != metric.score(guess, truth)


@claims("monotone", hold=True)
def test_a_correction_never_makes_a_value_worse(metric: Metric, claim: Claim) -> None:
    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        before = metric.listed(truth, guess)
        for better in claim.steps(metric.right(truth), guess):
            assert not is_worse(metric, before, metric.listed(truth, better)), better

    check()


@claims("monotone", hold=False)
def test_where_a_correction_is_said_to_hurt_it_does(metric: Metric, claim: Claim) -> None:
    assert claim.fails is not None
    truth, guess, better = claim.fails
    assert better in list(claim.steps(metric.right(truth), guess))
    assert is_worse(metric, metric.listed(truth, guess), metric.listed(truth, better))


@claims("silence", hold=True)
def test_an_answer_taken_away_never_makes_a_value_better(metric: Metric, claim: Claim) -> None:
    @QUICK
    @given(metric.truths, metric.guesses)
    def check(truth: Any, guess: Any) -> None:
        before = metric.listed(truth, guess)
        for quieter in claim.steps(metric.right(truth), guess):
            assert not pays(metric, before, metric.listed(truth, quieter)), quieter

    check()


@claims("silence", hold=False)
def test_where_silence_is_said_to_pay_it_does(metric: Metric, claim: Claim) -> None:
    assert claim.fails is not None
    truth, guess, quieter = claim.fails
    assert quieter in list(claim.steps(metric.right(truth), guess))
    assert pays(metric, metric.listed(truth, guess), metric.listed(truth, quieter))
