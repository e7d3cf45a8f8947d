"""The latent-state ceiling: best answers against brute force, and policies below it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from statistics import fmean, stdev

import pytest

from attune_data import Conversations
from attune_data.affect import EMOTIONS, SIMILARITY
from attune_data.simulate import Simulation
from attune_data.simulate.conversation import LatentState
from attune_data.simulate.draws import Draws
from attune_data.simulate.mood import TurnMood
from attune_episodes import BUILTIN, builtin_policy, rollout
from attune_episodes.ceiling import (
    SPLIT,
    best_f1,
    best_va,
    latent_ceiling,
    of_conversation,
    of_turn,
    tag_sets,
)
from attune_rewards import LEAVES, Tag
from attune_rewards.emotion import f1, va_score

TAGS = frozenset[str]
PLAYED = 60


def mood(
    felt: float, mixed: float, first: dict[str, float], second: dict[str, float] | None = None
) -> TurnMood:
    """A turn's feelings, of which only the chances of tags matter here."""
    return TurnMood(-1, 0.5, "hurt", None, (), felt, mixed, first, second or {})


def chances(of: TurnMood) -> dict[TAGS, float]:
    """Every set of tags and its chance, written down anew."""
    found: dict[TAGS, float] = defaultdict(float)
    found[frozenset()] = 1 - of.tag_probability
    for one, p in of.first.items():
        found[frozenset({one})] += of.tag_probability * p * (1 - of.second_probability)
        for two, q in of.second.items():
            found[frozenset({one, two})] += of.tag_probability * p * of.second_probability * q
    return found


def similar(truth: Iterable[str], said: Iterable[str]) -> float:
    """The best one-to-one matching of two sets, over the longer one's length; one for none and none."""
    short, long = sorted((tuple(truth), tuple(said)), key=len)
    if not short:
        return 0.0 if long else 1.0
    sums = (
        sum(SIMILARITY[pair] for pair in zip(short, row, strict=True))
        for row in permutations(long, len(short))
    )
    return max(sums) / len(long)


def overlapping(truth: TAGS, said: TAGS) -> float:
    return 2 * len(truth & said) / (len(truth) + len(said)) if truth or said else 1.0


def brute_force(of: TurnMood, most: int) -> tuple[float, float]:
    """The highest expected F1 and VA of any set of up to `most` of all 20 feelings."""
    truths = [(truth, chance) for truth, chance in chances(of).items() if chance]
    best_overlap = best_similar = 0.0
    for size in range(most + 1):
        for said in map(frozenset, combinations(EMOTIONS, size)):
            best_overlap = max(best_overlap, sum(p * overlapping(truth, said) for truth, p in truths))
            best_similar = max(best_similar, sum(p * similar(truth, said) for truth, p in truths))
    return best_overlap, best_similar


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


# --- tags --------------------------------------------------------------------------------------------


def test_the_scores_of_the_brute_force_are_the_rewards() -> None:
    draws = Draws("scores")
    for _ in range(200):
        truth, said = (frozenset(draws.some(EMOTIONS, draws.below(n))) for n in (3, 5))
        tags = [[Tag(name) for name in some] for some in (truth, said)]
        assert overlapping(truth, said) == pytest.approx(f1(*tags), abs=1e-12)
        assert similar(truth, said) == pytest.approx(va_score(*tags), abs=1e-12)


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


@pytest.mark.parametrize("key", range(6))
def test_no_set_of_up_to_four_tags_is_better(key: int) -> None:
    of = at_random(key)
    assert brute_force(of, 4) == pytest.approx((best_f1(of), best_va(of)), abs=1e-12)


@pytest.mark.parametrize("level", ["plain", "tangled"])
def test_nor_is_any_set_of_two_in_a_simulated_turn(level: str) -> None:
    of = Simulation(12, level=level).with_state(4)[1].turns[0].mood
    assert brute_force(of, 2) == pytest.approx((best_f1(of), best_va(of)), abs=1e-12)


def test_even_chances_pay_for_many_tags() -> None:
    # five as likely, one true: k of them earn k/5 · 2/(k + 1): all five 1/3, one 1/5
    of = mood(1, 0, dict.fromkeys(EMOTIONS[:5], 0.2))
    assert best_f1(of) == pytest.approx(1 / 3)
    assert brute_force(of, 4)[0] == pytest.approx(4 / 5 * 2 / 5)


def test_sets_of_tags_are_a_distribution() -> None:
    for state in states("tangled", 10):
        for turn in state.turns:
            sets = tag_sets(turn.mood)
            assert math.fsum(sets.values()) == pytest.approx(1, abs=1e-12)
            drawn = {frozenset(EMOTIONS[i] for i in items): 0.0 for items in sets}
            for items, chance in sets.items():
                drawn[frozenset(EMOTIONS[i] for i in items)] += chance
            assert drawn == pytest.approx(dict(chances(turn.mood)), abs=1e-12)
            assert frozenset(item for item, _ in turn.mood.tags) in drawn


# --- conversations -----------------------------------------------------------------------------------


@cache
def states(level: str, count: int) -> tuple[LatentState, ...]:
    world = Simulation(33, level=level)
    return tuple(world.with_state(i)[1] for i in range(count))


def test_a_turns_ceilings_by_hand() -> None:
    turn = next(turn for state in states("default", 10) for turn in state.turns if "B1" in turn.observed)
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


@pytest.mark.parametrize("level", ["plain", "tangled"])
def test_ceilings_are_means_of_conversations(level: str) -> None:
    world = Simulation(31, level=level)
    whole = latent_ceiling(world, range(5))
    alone = [of_conversation(world.with_state(i)[1], f"31/{i}") for i in range(5)]
    assert set(whole) == {*LEAVES, *SPLIT, "composite"}
    for leaf in (*LEAVES, *SPLIT):
        values = [one[leaf] for one in alone if leaf in one]
        assert whole[leaf] == pytest.approx(fmean(values), abs=1e-12)
    assert all(0 < value <= 1 for value in whole.values())
    assert whole["q1"] == whole["binary_om_textual"] == 1.0


def test_easier_levels_have_higher_ceilings() -> None:
    plain, tangled = (
        latent_ceiling(Simulation(31, level=level), range(40)) for level in ("plain", "tangled")
    )
    for leaf in ("binary_om", "binary_hp", "pairwise", "composite"):
        assert plain[leaf] > tangled[leaf] + 0.02, leaf


@cache
def played() -> tuple[Conversations, tuple[dict[str, float], ...]]:
    world = Simulation(31)
    ceilings = tuple(of_conversation(world.with_state(i)[1], f"31/{i}") for i in range(PLAYED))
    return world.take(PLAYED), ceilings


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


def test_the_oracle_is_shown_what_no_text_tells() -> None:
    data, ceilings = played()
    policy = builtin_policy("oracle", data)
    scores = [rollout(about, policy).parts["pairwise"] for about in data]
    assert fmean(scores) == 1.0 > fmean(ceiling["pairwise"] for ceiling in ceilings)
