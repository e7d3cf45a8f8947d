"""The learning example of live episodes runs with less, and its numbers are those of its definitions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from attune_data.simulate import Simulation
from attune_episodes.live import LiveEpisode
from tests.examples import FOLDER, load_example

EXAMPLE = load_example("live_policy")
WIDTH = len(EXAMPLE.FEELINGS) + len(EXAMPLE.ACTS)


def choosing(*feelings: int) -> np.ndarray:
    """Choices that name these feelings and do nothing else."""
    return np.eye(WIDTH)[list(feelings)]


def test_the_gradient_is_that_of_the_expected_reward() -> None:
    # two replies, as likely: p = ½, mean ½; slopes ½·(1 - ½) = ¼ and ½·(0 - ½) = -¼
    two = EXAMPLE.Group([], np.eye(2), np.array([1.0, 0.0]))
    assert EXAMPLE.gradient(np.zeros(2), two).tolist() == [0.25, -0.25]

    def expected(scores: np.ndarray) -> float:
        chances = np.exp(group.choices @ scores)
        return float(chances @ group.rewards / chances.sum())

    rng = np.random.default_rng(1)
    group = EXAMPLE.Group([], EXAMPLE.tried(rng), rng.normal(size=EXAMPLE.GROUP))
    scores, step = rng.normal(size=WIDTH), 1e-6
    slopes = [
        (expected(scores + step * one) - expected(scores - step * one)) / (2 * step) for one in np.eye(WIDTH)
    ]
    assert EXAMPLE.gradient(scores, group) == pytest.approx(slopes, abs=1e-7)


def test_the_replies_of_a_group_name_different_feelings() -> None:
    choices = EXAMPLE.tried(np.random.default_rng(0))
    feelings = choices[:, : len(EXAMPLE.FEELINGS)]
    assert feelings.sum(1).tolist() == [1] * EXAMPLE.GROUP
    assert feelings.sum(0).max() == 1


def test_groups_go_through_conversations_and_the_control_is_paid_for_others() -> None:
    groups = EXAMPLE.collect(Simulation(5), 2)
    live = LiveEpisode(Simulation(5), 0)
    assert groups[0].seen == EXAMPLE.features(live)
    for choice, reward in zip(groups[0].choices, groups[0].rewards, strict=True):
        assert LiveEpisode(Simulation(5), 0).say(EXAMPLE.said(live, choice)).reward == reward
    paid = EXAMPLE.paid_for_others(groups)
    half = len(groups) // 2
    for i, (mine, other) in enumerate(zip(groups, paid, strict=True)):
        assert other.seen == mine.seen
        assert sorted(other.rewards) == sorted(groups[(i + half) % len(groups)].rewards)


def test_it_learns_which_words_go_with_which_feeling_and_a_deaf_one_cannot() -> None:
    sad, glad = (["always", word] for word in ("sad", "glad"))
    groups = [
        EXAMPLE.Group(sad, choosing(0, 1, 2), np.array([0.0, 1.0, -1.0])),
        EXAMPLE.Group(glad, choosing(0, 1, 2), np.array([0.0, -1.0, 1.0])),
    ] * 20
    policy, deaf = EXAMPLE.Policy(groups), EXAMPLE.Policy(groups, hears=False)
    for one in (policy, deaf):
        one.learn(groups, epochs=4, rate=0.03)
    best = [int(policy.weights[policy.rows(seen)].sum(0)[:3].argmax()) for seen in (sad, glad)]
    assert best == [1, 2]
    assert deaf.rows(sad).tolist() == deaf.rows(glad).tolist() == [0]


@pytest.mark.slow
def test_it_trains_and_prints_two_tables_and_conversations() -> None:
    small = ("--people", "3", "--epochs", "1", "--test", "12")
    done = subprocess.run([sys.executable, FOLDER / "live_policy.py", *small], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("| ") for line in done.stdout.splitlines()) == 2 * (1 + 5)
    assert "names a feeling in" in done.stdout
    assert done.stdout.count("###") == 2
