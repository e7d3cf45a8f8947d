"""The verdict of the proof in `examples/`, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.examples import load_example

PEOPLE = [f"p{number}" for number in range(10)]
BEATEN = ("shuffled", "random", "warm", "prior", "asked", "surface")


def verdict(folder: Path, true: list[int], *, swapped: int = 2, others: int = 5) -> str:
    """The verdict if `true` gets so many of ten right in each seed, and so many on swapped texts."""

    def run(arm: str, seed: int, right: int, moved: int) -> dict[str, Any]:
        scores = {name: [1.0] * n + [0.0] * (10 - n) for name, n in (("scores", right), ("swapped", moved))}
        return {"arm": arm, "seed": seed, **scores}

    runs = [run("true", seed, right, swapped) for seed, right in enumerate(true)]
    runs += [run(arm, seed, others, others) for arm in BEATEN[:2] for seed in range(len(true))]
    runs += [run(arm, 0, others, others) for arm in BEATEN[2:]]
    told = {"people": PEOPLE, "runs": {f"{one['arm']}-{one['seed']}": one for one in runs}}
    (folder / "results.json").write_text(json.dumps(told), encoding="utf-8")
    said: str = load_example("learned").Outcome(folder).verdict()
    return said


@pytest.mark.parametrize(("true", "swapped", "said"), [
    ([9, 9, 9, 9, 4], 2, "learned: `true` is above"),  # four of five seeds, and 8.0 - 2 on swapped texts
    ([9, 9, 9, 5, 5], 2, "not learned: "),  # as good is not above
    ([9, 9, 9, 9, 9], 9, "not learned: "),  # a habit: as much on swapped texts
    ([9, 9], 2, "undecided, 3 seeds to go: "),
    ([9, 4], 2, "undecided, 3 seeds to go: "),  # four of five are still possible
    ([4, 4], 2, "not learned: "),
])  # fmt: skip
def test_the_rule(tmp_path: Path, true: list[int], swapped: int, said: str) -> None:
    assert verdict(tmp_path, true, swapped=swapped).startswith(said)


def test_an_arm_that_is_missing_leaves_no_verdict(tmp_path: Path) -> None:
    verdict(tmp_path, [9])
    told = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    del told["runs"]["random-0"], told["runs"]["warm-0"]
    (tmp_path / "results.json").write_text(json.dumps(told), encoding="utf-8")
    assert load_example("learned").Outcome(tmp_path).verdict() == "no verdict: random, warm not run"
