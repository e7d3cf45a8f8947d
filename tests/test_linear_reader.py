"""The linear reader of `examples/`: its measure by hand, and what it learns from words."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from attune_data import load
from attune_data.errors import SettingsError
from tests.examples import load_example

SAMPLE = load("sample")[:12]


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return load_example("linear_reader")


def test_balanced_accuracy_by_hand(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    part = example.PARTS[1]
    those = [example.Item(example.Key(part, i % 2, i), "", "", i < 5) for i in range(15)]
    monkeypatch.setattr(example, "items", lambda _: iter(those))
    answers = {one.key: one.key.turn < 4 for one in those if one.key.turn != 14}
    (value,) = example.measured(answers, SAMPLE[:2]).values()
    # 4 of 5 yes are right; 9 of 10 no, and one without an answer is half right
    assert value.value == pytest.approx((4 / 5 + 9.5 / 10) / 2)
    few: list[Any] = those[4:]
    monkeypatch.setattr(example, "items", lambda _: iter(few))
    assert example.measured(answers, SAMPLE[:2]) == {}  # only one yes


@pytest.mark.slow
def test_it_learns_its_own_text_and_the_oracle_is_right(example: ModuleType) -> None:
    right = example.measured(example.played("oracle", SAMPLE), SAMPLE)
    assert {part: value.value for part, value in right.items()} == dict.fromkeys(example.PARTS, 1.0)
    read = example.measured(example.Reader(SAMPLE).read(SAMPLE), SAMPLE)
    assert all(value.value > 0.75 and value.low <= value.value <= value.high for value in read.values())


def test_what_is_kept_for_evaluation_is_not_fitted_on(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["linear_reader.py", "--fit", "written:dev"])
    with pytest.raises(SettingsError, match="kept for evaluation"):
        example.main()
