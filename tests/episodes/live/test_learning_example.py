"""The learning example of live episodes runs with less, and its numbers are those of its definitions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.examples import FOLDER, load_example


def test_what_is_still_to_be_earned_is_summed_from_the_end() -> None:
    played = [[(1.0,), (2.0,), (4.0,)], [(3.0,)]]
    # 1 + 2 + 4, 2 + 4, 4; the second conversation ended after one turn
    assert load_example("live_policy").returns(played).tolist() == [[7.0, 6.0, 4.0], [3.0, 0.0, 0.0]]


def test_at_first_every_family_is_as_likely_and_acts_are_rare() -> None:
    policy = load_example("live_policy").Policy({"hello": 0})
    named, acts = policy.chances(np.array([1]))
    assert named == pytest.approx(np.full(len(named), 1 / len(named)))
    assert acts == pytest.approx(np.full(len(acts), 1 / (1 + np.e)))  # the constant feature weighs -1


@pytest.mark.slow
def test_it_trains_and_prints_four_policies() -> None:
    small = ("--rounds", "1", "--people", "2", "--group", "2", "--test", "12")
    done = subprocess.run([sys.executable, FOLDER / "live_policy.py", *small], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("| ") for line in done.stdout.splitlines()) == 1 + 4
