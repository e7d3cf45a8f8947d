"""Means, errors and shares over conversations, worked by hand."""

from __future__ import annotations

import math

import pytest

from attune_env.tables.groups import GROUPS
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.frameworks.inspect.scores import metric_names
from attune_episodes.frameworks.lm_eval.scores import (
    OF_ALL,
    OF_STAGE,
    bootstrap_error,
    mean_of_defined,
    pooled_share,
)
from attune_episodes.play.task import scores_of
from attune_rewards.predictions import STAGES
from tests.running.playing import sample


def test_an_undefined_value_is_left_out_of_a_mean() -> None:
    assert mean_of_defined([1.0, None, 2.0]) == 1.5
    assert math.isnan(mean_of_defined([None]))


def test_replies_are_pooled_not_averaged() -> None:
    # (1 + 9)/(2 + 18) = 1/2, the mean of 1/2 and 1/2 too; (2 + 0)/(2 + 8) = 1/5, not (1 + 0)/2
    assert pooled_share([(1, 2), (9, 18)]) == 0.5
    assert pooled_share([(2, 2), (0, 8)]) == 0.2


def test_the_error_is_the_spread_of_resampled_means() -> None:
    # two conversations of 0 and 100: a resample's mean is 0, 50 or 100 with 1/4, 1/2, 1/4;
    # variance 1/4·50² + 1/4·50² = 1250, its root 35.36; of 10,000 resamples within 2 %
    assert bootstrap_error([(0.0, "a"), (100.0, "b")]) == pytest.approx(math.sqrt(1250), rel=0.02)


def test_participants_are_drawn_where_one_owns_several() -> None:
    # a owns 0 and 20 (mean 10), b 90 and 90: as whole persons the means are 10, 50, 90: 28.28
    pairs = [(0.0, "a"), (20.0, "a"), (90.0, "b"), (90.0, "b")]
    assert bootstrap_error(pairs) == pytest.approx(math.sqrt(800), rel=0.02)
    # as conversations of their own: variance of the four values 1650, over 4
    alone = [(value, str(n)) for n, (value, _) in enumerate(pairs)]
    assert bootstrap_error(alone) == pytest.approx(math.sqrt(1650 / 4), rel=0.02)


@pytest.mark.parametrize("pairs", [
    [(1.0, "a")],
    [(1.0, "a"), (2.0, "a")],
    [(1.0, "a"), (None, "b")],
    [(None, "a"), (None, "b")],
])  # fmt: skip
def test_fewer_than_two_units_have_no_error(pairs: list[tuple[float | None, str]]) -> None:
    assert bootstrap_error(pairs) == "N/A"


def test_both_harnesses_and_the_report_call_a_metric_the_same() -> None:
    """Names are those of scores files; the report's leading metrics are there, judges' and readers' apart."""
    conversation, own = sample(1)[0], {"composite_partial", "parse_rate", "complete"}
    file = scores_of(rollout(conversation, builtin_policy("oracle", sample(1))))
    inspect = {
        name
        for stages in (STAGES, *((one,) for one in STAGES))
        for name in metric_names(Settings(stages=stages))
    }
    for names in (OF_ALL, *OF_STAGE.values(), inspect):
        assert set(names) <= file.keys() | own
    shown = {metric.column for _, group in GROUPS for metric in group if metric.role != "diagnostic"}
    read = {f"avg_draft_{name}" for name in ("judge_score", "binary_alignment", "binary_alignment_read")}
    assert shown - read - {"avg_draft_reader_agreement"} <= inspect
    for stages, names in ((STAGES, OF_ALL), *(((stage,), names) for stage, names in OF_STAGE.items())):
        assert set(names) <= set(metric_names(Settings(stages=stages)))
