"""A reward beside random ones: what they would rank, and what they would pay."""

from __future__ import annotations

import numpy as np
import pytest

from attune_env.audit.random_reward import beside_random

POLICIES, CONVERSATIONS = 12, 40
TRUTH = np.random.default_rng(1).uniform(0, 100, (POLICIES, CONVERSATIONS))


def test_a_reward_that_follows_the_truth_is_told_from_a_random_one() -> None:
    found = beside_random(np.exp(TRUTH / 10), TRUTH)
    assert found is not None
    assert found.correlation == pytest.approx(1, abs=1e-12)  # of ranks
    # the mean of 40 correlations of 12 values each, of which each varies by 1/11
    assert found.chance == pytest.approx(1.96 / (11 * 40) ** 0.5, abs=0.02)
    assert found.distinguishable


def test_few_random_rewards_of_the_same_distribution_are_told_from_another() -> None:
    random = np.random.default_rng(2)
    tries = [beside_random(random.permuted(TRUTH, axis=0), TRUTH, seed) for seed in range(20)]
    assert sum(one is not None and one.distinguishable for one in tries) <= 2  # one in forty is expected


def test_a_random_reward_pays_everybody_the_same_but_for_luck() -> None:
    returns = np.zeros((POLICIES, CONVERSATIONS))
    returns[0] = 1
    found = beside_random(returns, TRUTH)
    assert found is not None
    assert found.pays == 0.5  # eleven policies earn the same, and are dealt the same
    assert found.pays < found.luckiest < found.pays_best == 1


def test_conversations_that_say_nothing_are_left_out() -> None:
    returns = TRUTH.copy()
    returns[:, 0], returns[3, 1] = 0.5, np.nan
    found = beside_random(returns, TRUTH)
    assert found is not None
    assert found.conversations == CONVERSATIONS - 2
    assert beside_random(np.ones_like(TRUTH), TRUTH) is None
    assert beside_random(np.full_like(TRUTH, np.nan), TRUTH) is None
    assert beside_random(TRUTH[:2], TRUTH[:2]) is None
