"""The expected score of the best answer to a simulated conversation, given its latent state.

For a leaf s, the latent state z and its noise Y: C = E_z max_a E[s(a, Y) | z]. Once z is known, the text says
nothing more about Y, so C is an upper bound for every reader of the text: the *latent-state ceiling*. Readers
stay below it because the text does not show everything (a cue may be hidden) and because they miss some of
what it shows.

Run as `python -m attune_episodes.ceiling [SEED] [LEVEL] [COUNT]` to print it.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, TypeVar

import numpy as np

from attune_data.affect import EMOTIONS, NEGATIVE, POSITIVE, SCALE, SIMILARITY, TOTALS
from attune_data.constants import BRANCHES
from attune_data.means import mean
from attune_data.simulate import LEVELS, Simulation
from attune_data.simulate.afterwards import Ending, answers
from attune_data.simulate.constructs import CONTEXTUAL
from attune_data.simulate.draws import Draws
from attune_data.simulate.person import TurnMood
from attune_data.simulate.turn import LatentState, TurnState
from attune_rewards import branches, panas, questions
from attune_rewards.tree import COMPOSITE

REDRAWS: Final = 64
"""How often the final answers are redrawn from the same state."""

_SIMILARITY: Final = np.array([[SIMILARITY[a, b] for b in EMOTIONS] for a in EMOTIONS])
_INDEX: Final = {name: i for i, name in enumerate(EMOTIONS)}
T = TypeVar("T", bound=Hashable)
A = TypeVar("A")


def latent_ceiling(world: Simulation, indices: Iterable[int]) -> dict[str, float]:
    """Leaf and `composite` -> its ceiling over these items of a simulation, in [0, 1].

    The result includes `binary_om_textual` (what the text shows by construction) and `binary_om_contextual`
    (judgements). Like scores, ceilings are averaged over the turns of a conversation, then over
    conversations. Each leaf has its own best answer, so `composite` is only a bound that no single answer
    need reach.
    """
    return _means(of_conversation(world.with_state(i)[1], f"{world.seed}/{i}") for i in indices)


def of_conversation(state: LatentState, key: str) -> dict[str, float]:
    """The ceilings of one conversation; `key` seeds the redraws."""
    leaves = _means(map(of_turn, state.turns)) | of_ending(state.ending, key)
    return leaves | {"composite": COMPOSITE.value(leaves) or 0.0}


def _means(found: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Leaf -> its mean over the conversations where it is defined."""
    values: dict[str, list[float]] = {}
    for one in found:
        for leaf, value in one.items():
            values.setdefault(leaf, []).append(value)
    return {leaf: math.fsum(those) / len(those) for leaf, those in values.items()}


def of_turn(turn: TurnState) -> dict[str, float]:
    """The ceilings of one turn's leaves."""

    def sure(chances: Iterable[float]) -> float | None:
        """The probability of being right when choosing the more likely of two answers."""
        return mean([max(p, 1 - p) for p in chances])

    found = {
        "emotion_f1": best_f1(turn.mood),
        "emotion_va": best_va(turn.mood),
        "binary_om": sure(turn.observed.values()),
        "binary_om_textual": sure(p for q, p in turn.observed.items() if q not in CONTEXTUAL),
        "binary_om_contextual": sure(p for q, p in turn.observed.items() if q in CONTEXTUAL),
        "binary_hp": sure(turn.preferred.values()),
        "pairwise": sure(comparison.probability_a for comparison in turn.comparisons),
    }
    return {leaf: value for leaf, value in found.items() if value is not None}


def tag_sets(mood: TurnMood) -> dict[tuple[int, ...], float]:
    """Every possible set of tags (as item indices) -> its probability."""
    felt = mood.tag_probability
    sets: dict[tuple[int, ...], float] = {(): 1 - felt}
    for first, p in mood.first.items():
        one = (_INDEX[first],)
        sets[one] = sets.get(one, 0.0) + felt * p * (1 - mood.second_probability)
        for second, q in mood.second.items():
            two = (_INDEX[first], _INDEX[second])
            sets[two] = sets.get(two, 0.0) + felt * p * mood.second_probability * q
    return sets


def best_f1(mood: TurnMood) -> float:
    """The highest expected F1 of any set of tags.

    For a set of k tags, F1 is the sum of 2/(k + |truth|) over those of its items that are true, so the best
    set of each size consists of the items with the highest expected shares. The result is exact.
    """
    sets = tag_sets(mood)
    best = sets[()]
    by_size = np.zeros((3, len(EMOTIONS)))  # probability that an item is true, by the number of true tags
    for items, chance in sets.items():
        for item in items:
            by_size[len(items), item] += chance
    for k in range(1, len(EMOTIONS) + 1):
        shares = by_size[1] * 2 / (k + 1) + by_size[2] * 2 / (k + 2)
        best = max(best, float(np.sort(shares)[-k:].sum()))
    return best


def best_va(mood: TurnMood) -> float:
    """The highest expected emotion VA of any answer with no tag, one or two.

    Three or more tags cannot win: their coverage is at most 1/3 if one tag is true and 2/3 if two are, less
    than the better of these answers earns.
    """
    sets = tag_sets(mood)
    one = np.zeros(len(EMOTIONS))
    two = np.zeros((len(EMOTIONS), len(EMOTIONS)))
    for items, chance in sets.items():
        if len(items) == 1:
            one[items[0]] += chance
        elif items:
            two[items] += chance
    s = _SIMILARITY
    pairs = np.argwhere(two > 0)
    chances = two[two > 0]
    a, b = pairs[:, 0], pairs[:, 1]
    single = s @ one + 0.5 * (np.maximum(s[:, a], s[:, b]) @ chances)
    matched = np.maximum(s[:, None, a] + s[None, :, b], s[:, None, b] + s[None, :, a]) / 2
    double = 0.5 * np.maximum(s[:, None, :], s[None, :, :]) @ one + matched @ chances
    np.fill_diagonal(double, 0.0)
    return float(max(sets[()], single.max(), double.max()))


def of_ending(ending: Ending, key: str) -> dict[str, float]:
    """The ceilings of the questions after the conversation, from redraws of the noise.

    For the follow-up, the best of the sets drawn and of the sets of most frequent options counts.
    """
    said = [answers(ending, Draws(key, "redraw", k)) for k in range(REDRAWS)]
    wide = [one["conversationWideQuestions"] for one in said]
    found: dict[str, float | None] = {"q1": 1.0}  # the person's goals are part of the state
    for leaf, side, items in (
        ("panas_pa", "totalPositiveAffect", POSITIVE),
        ("panas_na", "totalNegativeAffect", NEGATIVE),
    ):
        pre = sum(ending.pre[name] for name in items)
        posts = Counter(one["postPanas"][side] for one in said if one["postPanas"][side] != pre)
        found[leaf] = _best(posts, range(TOTALS[0], TOTALS[1] + 1), _panas_score(pre)) if posts else None
    for leaf, field in (("q2", "q2_emotionClarity"), ("q3", "q3_modelFit")):
        found[leaf] = max(Counter(one[field] for one in wide).values()) / REDRAWS
    off = Counter(tuple(one["q3_followUp_whatFeltOff"]) for one in wide)
    often = [text for text, _ in Counter(text for one in off.elements() for text in one).most_common()]
    candidates = {*off, *(tuple(often[:k]) for k in range(len(often) + 1))}
    found["q3_follow_up"] = _best(off, sorted(candidates), questions.fuzzy_f1)
    for name in BRANCHES:
        scores = Counter(one["fourBranchScores"][name] for one in wide)
        found[f"branch_{name}"] = _best(scores, range(SCALE[0], SCALE[1] + 1), branches.strict_score)
    return {leaf: value for leaf, value in found.items() if value is not None}


def _panas_score(pre: float) -> Callable[[Any, Any], float]:
    return lambda post, predicted: ((panas.baseline_adjusted(pre, post, predicted) or 0.0) + 1) / 2


def _best(outcomes: Mapping[T, int], candidates: Iterable[A], score: Callable[[T, A], float]) -> float:
    """The highest mean score that a single answer reaches over the outcomes."""
    total = sum(outcomes.values())
    return max(
        math.fsum(count * score(truth, answer) for truth, count in outcomes.items()) / total
        for answer in candidates
    )


def main() -> None:
    """Print the ceilings of a level."""
    options = argparse.ArgumentParser(prog="python -m attune_episodes.ceiling", description=main.__doc__)
    options.add_argument("seed", type=int, nargs="?", default=0)
    options.add_argument("level", choices=LEVELS, nargs="?", default="default")
    options.add_argument("count", type=int, nargs="?", default=200, help="conversations, from the first")
    given = options.parse_args()
    world = Simulation(given.seed, level=given.level)
    for leaf, value in latent_ceiling(world, range(max(1, given.count))).items():
        print(f"{leaf}\t{value:.3f}")


if __name__ == "__main__":
    main()
