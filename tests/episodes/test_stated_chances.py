"""The chances that the latent state states are the chances with which things happen."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache
from statistics import fmean

import pytest

from attune_data.affect import EMOTIONS
from attune_data.simulate import Simulation
from attune_data.simulate.constructs import CONTEXTUAL
from attune_episodes.ceiling import tag_sets

Outcome = tuple[float, bool]


@cache
def outcomes(level: str) -> dict[str, list[Outcome]]:
    """Kind -> (stated chance, whether it came so) of many turns."""
    world = Simulation(33, level=level)
    found: dict[str, list[Outcome]] = defaultdict(list)
    for i in range(200):
        record, state = world.with_state(i)
        for turn, said in zip(state.turns, record["turns"], strict=True):
            found["tagged"].append((turn.mood.tag_probability, bool(said["moodShiftTags"])))
            for judgement in said["annotations"]["binaryJudgements"]:
                construct = judgement["questionId"]
                if judgement["observedBehavior"] == "na":
                    assert construct not in turn.observed
                    continue
                kind = "judged" if construct in CONTEXTUAL else "textual"
                found[kind].append((turn.observed[construct], judgement["observedBehavior"] == "yes"))
                found["wanted"].append((turn.preferred[construct], judgement["preferredBehavior"] == "yes"))
            chosen = [c["winner"] == "A" for c in said["annotations"]["pairwiseComparisons"]]
            stated = [comparison.probability_a for comparison in turn.comparisons]
            found["chosen"] += zip(stated, chosen, strict=True)
    return found


def bins(of: list[Outcome]) -> list[list[Outcome]]:
    """Ten bins by the stated chance, those with 60 or more in them."""
    tenths: dict[int, list[Outcome]] = defaultdict(list)
    for chance, came in of:
        tenths[min(9, int(10 * chance))].append((chance, came))
    return [some for some in tenths.values() if len(some) >= 60]


@pytest.mark.parametrize("level", ["plain", "default", "tangled"])
@pytest.mark.parametrize(("kind", "effect", "bias"), [
    ("tagged", 1, 0.0),
    ("judged", 1, 0.0),
    ("wanted", 1, 0.0),
    ("chosen", 3, 0.0),  # the comparisons of a turn share its halo: as if there were a third as many
])  # fmt: skip
def test_what_is_said_to_be_likely_happens_as_often(level: str, kind: str, effect: int, bias: float) -> None:
    found = bins(outcomes(level)[kind])
    assert len(found) >= 5
    for some in found:
        wanted = fmean(chance for chance, _ in some)
        error = math.sqrt(effect * sum(p * (1 - p) for p, _ in some)) / len(some)
        assert abs(fmean(came for _, came in some) - wanted) <= bias + 4 * error, (wanted, len(some))


@pytest.mark.parametrize("level", ["plain", "default", "tangled"])
def test_what_text_shows_is_certain(level: str) -> None:
    found = outcomes(level)["textual"]
    assert len(found) > 500
    assert all(chance == came for chance, came in found)


@pytest.mark.parametrize("level", ["default", "tangled"])
def test_each_feeling_is_tagged_as_often_as_said(level: str) -> None:
    wanted: dict[str, list[float]] = defaultdict(list)
    tags: dict[str, int] = defaultdict(int)
    world = Simulation(33, level=level)
    for i in range(200):
        for turn in world.with_state(i)[1].turns:
            sets = tag_sets(turn.mood)
            for item, name in enumerate(EMOTIONS):
                wanted[name].append(math.fsum(p for items, p in sets.items() if item in items))
            for name, _ in turn.mood.tags:
                tags[name] += 1
    for name, chances_ in wanted.items():
        error = math.sqrt(sum(p * (1 - p) for p in chances_))
        assert abs(tags[name] - sum(chances_)) <= 4.5 * error, name
