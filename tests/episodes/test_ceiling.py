"""The latent-state ceiling: best answers against brute force, and policies below it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import combinations
from statistics import fmean, stdev

import pytest

from attune_data import Conversations
from attune_data.affect import EMOTIONS
from attune_data.simulate import Simulation
from attune_data.simulate.draws import Draws
from attune_data.simulate.person import TurnMood
from attune_episodes import BUILTIN, builtin_policy, rollout
from attune_episodes.ceiling import best_f1, best_va, of_conversation, of_turn, tag_sets
from attune_rewards import LEAVES, Tag
from attune_rewards.emotion import f1, va_score

PLAYED = 60


def mood(
    felt: float, mixed: float, first: dict[str, float], second: dict[str, float] | None = None
) -> TurnMood:
    """A turn's feelings, of which only the chances of tags matter here."""
    return TurnMood(-1, 0.5, "hurt", None, (), felt, mixed, first, second or {})


def brute_force(of: TurnMood, most: int) -> tuple[float, ...]:
    """The highest expected F1 and VA of any set of up to `most` of all 20 feelings, by trying each."""
    truths = [([Tag(EMOTIONS[i]) for i in items], chance) for items, chance in tag_sets(of).items() if chance]
    said = [list(map(Tag, some)) for size in range(most + 1) for some in combinations(EMOTIONS, size)]
    return tuple(
        max(sum(p * score(truth, tags) for truth, p in truths) for tags in said) for score in (f1, va_score)
    )


def at_random(key: int) -> TurnMood:
    """Feelings with random chances: up to three that may come first, up to two others after them."""
    draws = Draws("moods", key)
    items = draws.some(EMOTIONS, 5)
    first, second = items[: 1 + draws.below(3)], items[3 : 4 + draws.below(2)]
    weights = [[0.1 + draws.uniform() for _ in some] for some in (first, second)]
    shares = [
        {item: w / sum(row) for item, w in zip(some, row, strict=True)}
        for some, row in zip((first, second), weights, strict=True)
    ]
    return mood(draws.uniform(), draws.uniform(), *shares)


CLOSE = 0.9483  # of Upset (.167, .65) and Nervous (.188, .72): 1 - √(.021² + .07²)/√2
HAND = [
    # nothing or Upset, half each: either answer earns ½
    (mood(0.5, 0, {"Upset": 1}), 0.5, 0.5),
    (mood(0.2, 0, {"Upset": 1}), 0.8, 0.8),
    # one of two for certain: naming both earns 2/3 in F1; in VA one alone, ½·1 + ½·.9483
    (mood(1, 0, {"Upset": 0.5, "Nervous": 0.5}), 2 / 3, 0.5 + 0.5 * CLOSE),
    # Upset .6, with Proud .2, nothing .2. Upset alone: F1 .6 + .2·2/3, VA .6 + .2·½
    (mood(0.8, 0.25, {"Upset": 1}, {"Proud": 1}), 0.6 + 0.4 / 3, 0.7),
    # always both: naming both
    (mood(1, 1, {"Upset": 1}, {"Proud": 1}), 1.0, 1.0),
    # always Upset, with Proud half of the time. Upset: F1 ½ + ½·2/3 = 5/6, both: ½·2/3 + ½ = 5/6. VA: ¾ each
    (mood(1, 0.5, {"Upset": 1}, {"Proud": 1}), 5 / 6, 0.75),
]


@pytest.mark.parametrize(("of", "overlap", "close"), HAND)
def test_best_tags_by_hand(of: TurnMood, overlap: float, close: float) -> None:
    assert best_f1(of) == pytest.approx(overlap, abs=1e-12)
    assert best_va(of) == pytest.approx(close, abs=1e-4)
    assert brute_force(of, 2) == pytest.approx((best_f1(of), best_va(of)), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("key", range(6))
def test_no_set_of_up_to_three_tags_is_better(key: int) -> None:
    of = at_random(key)
    assert brute_force(of, 3) == pytest.approx((best_f1(of), best_va(of)), abs=1e-12)


def test_a_turns_ceilings_by_hand() -> None:
    turn = Simulation(33).with_state(0)[1].turns[0]
    a, b = turn.comparisons[:2]
    made = replace(
        turn,
        mood=mood(0.5, 0, {"Upset": 1}),
        observed={"B1": 1.0, "B3": 0.0, "B8": 0.3, "B9": 0.9},  # right with 1, 1, .7, .9
        preferred={"B1": 0.2, "B8": 0.6},
        # without noise σ(x) = ½ + ½·t/√(1 + t²), t = x/2: t = .75 gives ½ + .3, t = -4/3 gives ½ - .4
        comparisons=(replace(a, advantage=1.5, gain=0.0), replace(b, advantage=-8 / 3, gain=0.0)),
    )
    assert of_turn(made) == pytest.approx({
        "emotion_f1": 0.5, "emotion_va": 0.5, "binary_om": 3.6 / 4, "binary_om_textual": 1.0,
        "binary_om_contextual": 0.8, "binary_hp": 0.7, "pairwise": 0.85,
    })  # fmt: skip


@cache
def played() -> tuple[Conversations, tuple[dict[str, float], ...]]:
    world = Simulation(31)
    ceilings = tuple(of_conversation(world.with_state(i)[1], f"31/{i}") for i in range(PLAYED))
    return world.take(PLAYED), ceilings


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BUILTIN if name != "oracle"])
def test_no_policy_that_reads_is_above_the_ceiling(name: str) -> None:
    # luck: a mean over 60 conversations may be above its ceiling by 3 standard errors of the difference
    data, ceilings = played()
    policy = builtin_policy(name, data)
    above: dict[str, list[float]] = defaultdict(list)
    for about, ceiling in zip(data, ceilings, strict=True):
        for leaf, score in rollout(about, policy).parts.items():
            above[leaf].append(score - ceiling[leaf])
    assert set(above) == set(LEAVES)
    for leaf, values in above.items():
        assert fmean(values) <= 3 * stdev(values) / math.sqrt(len(values)), leaf
