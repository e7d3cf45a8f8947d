"""The metrics against scikit-learn, SciPy and brute force, to 1e-12."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import kendalltau
from sklearn.metrics import (  # scikit-learn ships no types
    accuracy_score,
    precision_recall_fscore_support,
)

from attune_data.format.affect import EMOTIONS, similarity
from attune_data.format.constants import Side
from attune_rewards import Tag
from attune_rewards.metrics import binary, emotion, pairwise
from attune_rewards.metrics.matching import matched_total
from attune_rewards.truth import truth_of
from tests.rewards.builders import comparison, conversation, turn

EXACT = 1e-12
Table = list[list[float]]


@st.composite
def tables(draw: st.DrawFn, largest: int) -> Table:
    rows, columns = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    worth = st.floats(0, 1).map(lambda value: round(value, 4))
    return draw(st.lists(st.lists(worth, min_size=columns, max_size=columns), min_size=rows, max_size=rows))


@given(tables(7))
def test_matching_is_the_hungarian_algorithms(table: Table) -> None:
    costs = np.array(table)
    rows, columns = linear_sum_assignment(costs, maximize=True)
    assert matched_total(table) == pytest.approx(float(costs[rows, columns].sum()), abs=EXACT)


TAGS = st.lists(
    st.builds(Tag, st.sampled_from([*EMOTIONS, "Wistful"]), st.none() | st.integers(1, 7)),
    min_size=1,
    max_size=7,
)


@given(TAGS, TAGS)
def test_valence_arousal_scores_are_the_hungarian_algorithms(truth: list[Tag], guess: list[Tag]) -> None:
    similar = np.array([[similarity(a.emotion, b.emotion) for b in guess] for a in truth])
    intense = np.array(
        [
            [1 - abs(a.intensity - b.intensity) / 6 if a.intensity and b.intensity else 0.0 for b in guess]
            for a in truth
        ]
    )
    longer = max(len(truth), len(guess))
    for score, worth in (
        (emotion.va_score, similar),
        (emotion.va_intensity_score, 0.7 * similar + 0.3 * intense),
    ):
        rows, columns = linear_sum_assignment(worth, maximize=True)
        assert score(truth, guess) == pytest.approx(worth[rows, columns].sum() / longer, abs=EXACT)


def indicator(names: set[str], known: Sequence[str]) -> list[bool]:
    return [name in names for name in known]


@given(st.sets(st.sampled_from(EMOTIONS), max_size=6), st.sets(st.sampled_from(EMOTIONS), max_size=6))
def test_emotion_overlap_is_scikit_learns(truth: set[str], guess: set[str]) -> None:
    found = emotion.overlap([Tag(name) for name in truth], [Tag(name) for name in guess])
    if not truth and not guess:
        assert found == (1.0, 1.0, 1.0)
        return
    want, got = indicator(truth, EMOTIONS), indicator(guess, EMOTIONS)
    wanted = precision_recall_fscore_support(want, got, average="binary", zero_division=0)[:3]
    assert found == pytest.approx(wanted, abs=EXACT)
    assert emotion.f1([Tag(name) for name in truth], [Tag(name) for name in guess]) == pytest.approx(
        wanted[2], abs=EXACT
    )


RESPONSES = ("alternate", "human", "original")
PAIRS = st.sampled_from([(a, b) for a in RESPONSES for b in RESPONSES if a != b])
SIDES: st.SearchStrategy[Side] = st.sampled_from(["A", "B"])


def ranking(pairs: Sequence[tuple[str, str]], winners: Sequence[Side], names: Sequence[str]) -> list[int]:
    """Rank of each name by wins, ties in alphabetical order."""
    wins = [pair[0] if side == "A" else pair[1] for pair, side in zip(pairs, winners, strict=True)]
    ordered = sorted(sorted(names), key=wins.count, reverse=True)
    return [ordered.index(name) for name in names]


@given(st.lists(st.tuples(PAIRS, SIDES, SIDES), min_size=1, max_size=12))
def test_kendall_tau_is_scipys_and_accuracy_scikit_learns(
    drawn: list[tuple[tuple[str, str], Side, Side]],
) -> None:
    pairs, winners, picks = [d[0] for d in drawn], [d[1] for d in drawn], [d[2] for d in drawn]
    names = sorted({name for pair in pairs for name in pair})
    records = [comparison(a, b, winner) for (a, b), winner in zip(pairs, winners, strict=True)]
    here = truth_of(conversation(turn(comparisons=records))).turns[0]
    wanted = kendalltau(ranking(pairs, winners, names), ranking(pairs, picks, names)).statistic
    assert pairwise.kendall_tau(here.comparisons, dict(enumerate(picks))) == pytest.approx(wanted, abs=EXACT)
    share = pytest.approx(accuracy_score(winners, picks), abs=EXACT)
    assert pairwise.accuracy(here.comparisons, dict(enumerate(picks))) == share
    assert binary.right_share(here.winners, dict(enumerate(picks))) == share
