"""The verdict of the proof in `examples/`, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.examples import load_example

PEOPLE = [f"p{number}" for number in range(10)]
WINNERS = ["A", "B"] * 5
BEATEN = ("shuffled", "random", "warm", "prior", "asked", "surface")


def leaning(right: int) -> list[list[float]]:
    """Leanings to A in both orders that get so many of ten right; the letter B is likelier throughout."""
    toward = [1.0] * right + [-1.0] * (10 - right)
    sides = [1 if winner == "A" else -1 for winner in WINNERS]
    return [[side * one - 3, -side * one - 3] for side, one in zip(sides, toward, strict=True)]


def outcome(folder: Path, true: list[int], *, swapped: int = 2, others: int = 5) -> Any:
    """The outcome if `true` gets so many of ten right in each seed, and so many on swapped texts."""

    def write(arm: str, seed: int, right: int, moved: int) -> None:
        run = {"arm": arm, "seed": seed, "leans": leaning(right), "swapped": leaning(moved)}
        told = json.dumps(run | {"people": PEOPLE, "winners": WINNERS, "prompts": ["Message: a"] * 10})
        (folder / f"{arm}-{seed}.json").write_text(told, encoding="utf-8")

    for seed, right in enumerate(true):
        write("true", seed, right, swapped)
        for arm in BEATEN[:2]:
            write(arm, seed, others, others)
    for arm in BEATEN[2:]:
        write(arm, 0, others, others)
    return load_example("learned").Outcome(folder)


@pytest.mark.parametrize(("true", "swapped", "said"), [
    ([9, 9, 9, 9, 4], 2, "learned: `true` is above"),  # four of five seeds, and 8.0 - 2 on swapped texts
    ([9, 9, 9, 5, 5], 2, "not learned: "),  # as good is not above
    ([9, 9, 9, 9, 9], 9, "not learned: "),  # a habit: as much on swapped texts
    ([9, 9], 2, "undecided, 3 seeds to go: "),
    ([9, 4], 2, "undecided, 3 seeds to go: "),  # four of five are still possible
    ([4, 4], 2, "not learned: "),
    ([9], 9, "undecided, 4 seeds to go: "),  # the interval of what is lost may still leave 0
])  # fmt: skip
def test_the_rule(tmp_path: Path, true: list[int], swapped: int, said: str) -> None:
    assert outcome(tmp_path, true, swapped=swapped).verdict().startswith(said)


def test_a_seed_counts_with_its_controls_alone(tmp_path: Path) -> None:
    outcome(tmp_path, [9] * 5)
    for seed in range(1, 5):
        (tmp_path / f"random-{seed}.json").unlink()
    assert load_example("learned").Outcome(tmp_path).verdict().startswith("undecided, 4 seeds to go: ")


def test_runs_about_different_tests_are_refused(tmp_path: Path) -> None:
    outcome(tmp_path, [9])
    other = json.loads((tmp_path / "random-0.json").read_text("utf-8")) | {"winners": ["B"] * 10}
    (tmp_path / "random-0.json").write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(SystemExit, match="found runs about 2 tests, expected runs about one"):
        load_example("learned").Outcome(tmp_path)


def test_what_is_not_beaten_is_named(tmp_path: Path) -> None:
    found = outcome(tmp_path, [9, 9])
    found.arms["surface"][0]["leans"] = leaning(10)
    assert "in 0 of 2 seeds (not above surface); on swapped" in found.verdict()


def test_an_arm_that_is_missing_leaves_no_verdict(tmp_path: Path) -> None:
    outcome(tmp_path, [9])
    for arm in ("random", "warm"):
        (tmp_path / f"{arm}-0.json").unlink()
    assert load_example("learned").Outcome(tmp_path).verdict() == "no verdict: random, warm not run"


def test_a_comparison_counts_by_both_orders_together(tmp_path: Path) -> None:
    found = outcome(tmp_path, [9])
    [true] = found.arms["true"]
    assert found.points(true).sum() == 9
    assert np.mean(found.toward(true) > 0) == 0.5  # it says B in both orders, which is right in one
    always = true | {"leans": [[2.0, 2.0]] * 10}
    assert set(found.points(always)) == {0.5}
