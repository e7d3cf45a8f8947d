"""The spread over samples beside the spread over conversations, worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from attune_env.results.samples import SampleSpread, sample_spread, split_sample

M, N = "custom/m", "custom/m@sample2"


@pytest.mark.parametrize(("name", "split"), [
    (M, (M, 1)), (N, (M, 2)), ("custom/m@sample12", (M, 12)), ("a/b@20250514", ("a/b@20250514", 1)),
    ("custom/m@sample1", ("custom/m@sample1", 1)), ("custom/m@sample0", ("custom/m@sample0", 1)),
    ("x/@cf/m@sample3", ("x/@cf/m", 3)),
])  # fmt: skip
def test_the_number_of_a_sample_is_read_off_the_models_name(name: str, split: tuple[str, int]) -> None:
    assert split_sample(name) == split


def spread(*entries: tuple[str, str, float | None]) -> SampleSpread:
    made: list[dict[str, Any]] = [
        {"em_model": model, "conversationId": about, "mode": "default", "composite_strict": value}
        for model, about, value in entries
    ]
    (found,) = sample_spread({"conversations": made})
    return found


def test_both_spreads_by_hand() -> None:
    # samples: means (50 + 70)/2 = 60 and (54 + 70)/2 = 62, so mean 61, sd sqrt((1 + 1)/1) = sqrt 2
    # conversations: means (50 + 54)/2 = 52 and 70, sd sqrt(81 + 81) = 9 sqrt 2, error 9 sqrt 2 / sqrt 2 = 9
    entries = [(M, "a", 50), (M, "b", 70.0), (N, "a", 54), (N, "b", 70.0)]
    # what only one sample has is not compared, nor a model with one sample
    found = spread(*entries, (M, "c", 99.0), ("other/x", "a", 10.0), (M, "d", None), (N, "d", 1.0))
    assert (found.em_model, found.mode, found.samples) == (M, "default", 2)
    assert (found.mean, found.sd_samples, found.se_conversations) == pytest.approx((61, math.sqrt(2), 9))


def test_one_conversation_has_no_error_over_conversations() -> None:
    found = spread((M, "a", 1.0), (N, "a", 3.0), ("custom/m@sample3", "a", 5.0))
    assert found == SampleSpread(M, "default", 3, 3.0, 2.0, None)
