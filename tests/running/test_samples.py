"""The spread over samples beside the spread over conversations, worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from attune_env.running.samples import sample_spread, split_sample


def entry(model: str, conversation: str, value: Any, mode: str = "default") -> dict[str, Any]:
    return {"em_model": model, "conversationId": conversation, "mode": mode, "composite_strict": value}


@pytest.mark.parametrize(("name", "split"), [
    ("custom/m", ("custom/m", 1)), ("custom/m@sample2", ("custom/m", 2)),
    ("custom/m@sample12", ("custom/m", 12)),
    ("a/b@20250514", ("a/b@20250514", 1)), ("custom/m@sample1", ("custom/m@sample1", 1)),
    ("custom/m@sample0", ("custom/m@sample0", 1)), ("x/@cf/m@sample3", ("x/@cf/m", 3)),
])  # fmt: skip
def test_the_number_of_a_sample_is_read_off_the_models_name(name: str, split: tuple[str, int]) -> None:
    assert split_sample(name) == split


def test_both_spreads_by_hand() -> None:
    # samples: means (50 + 70)/2 = 60 and (54 + 70)/2 = 62, so mean 61, sd sqrt((1 + 1)/1) = sqrt 2
    # conversations: means (50 + 54)/2 = 52 and 70, sd sqrt(81 + 81) = 9 sqrt 2, error 9 sqrt 2 / sqrt 2 = 9
    m, n = "custom/m", "custom/m@sample2"
    entries = [entry(m, "a", 50), entry(m, "b", 70.0), entry(n, "a", 54), entry(n, "b", 70.0)]
    # what only one sample has is not compared, nor a model with one sample
    entries += [entry(m, "c", 99.0), entry("other/x", "a", 10.0), entry(m, "d", None), entry(n, "d", 1.0)]
    (found,) = sample_spread({"conversations": entries})
    assert (found.em_model, found.mode, found.samples) == (m, "default", 2)
    assert (found.mean, found.sd_samples, found.se_conversations) == pytest.approx((61, math.sqrt(2), 9))


def test_one_conversation_has_no_error_over_conversations() -> None:
    entries = [entry("c/m", "a", 1.0), entry("c/m@sample2", "a", 3.0), entry("c/m@sample3", "a", 5.0)]
    (found,) = sample_spread({"conversations": entries})
    assert (found.samples, found.mean, found.sd_samples, found.se_conversations) == (3, 3.0, 2.0, None)
