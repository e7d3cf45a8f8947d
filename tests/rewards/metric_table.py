"""One table of what is claimed of every metric: its range, its gold value, order, symmetry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from attune_data.affect import EMOTIONS
from attune_data.constants import BRANCHES, JUDGE_DIMENSIONS, Q1_OPTIONS, Q3_OPTIONS
from attune_data.schema import PairwiseComparison
from attune_rewards import (
    Tag,
    binary,
    branches,
    draft,
    emotion,
    pairwise,
    panas,
    questions,
    text,
)
from attune_rewards.panas import Totals
from tests.rewards.builders import comparison
from tests.rewards.strategies import ANY_EMOTION, RATINGS, TEXTS, item_values

MODULES = (emotion, binary, pairwise, panas, questions, draft, branches, text)
PREPARATIONS = {"panas.totals", "panas.valid_total", "panas.changed", "panas.spread", "text.tokens"}
"""Public functions that make what a metric reads: they compare nothing."""

Values = float | None | Sequence[float | None]


def shuffle(value: Any, random: Random) -> Any:
    """The same value with its elements or keys in another order."""
    if isinstance(value, Mapping):
        return {key: value[key] for key in shuffle(list(value), random)}
    if isinstance(value, list):
        return random.sample(value, len(value))
    return value


def shuffle_each(truth: Any, guess: Any, random: Random) -> tuple[Any, Any]:
    return shuffle(truth, random), shuffle(guess, random)


def shuffle_together(comparisons: Any, picks: Any, random: Random) -> tuple[Any, Any]:
    """Comparisons in another order, the picks following them."""
    order = shuffle(list(range(len(comparisons))), random)
    return [comparisons[i] for i in order], {new: picks[old] for new, old in enumerate(order) if old in picks}


def plain_swap(truth: Any, guess: Any) -> tuple[Any, Any]:
    return guess, truth


def swap_picks(comparisons: Any, picks: Any) -> tuple[Any, Any]:
    """The model's picks as winners, the winners as picks."""
    swapped = [c.model_copy(update={"winner": picks[i]}) for i, c in enumerate(comparisons)]
    return swapped, winners_of(comparisons)


def winners_of(comparisons: Any) -> dict[int, Any]:
    return {i: c.winner for i, c in enumerate(comparisons)}


def same(truth: Any) -> Any:
    return truth


@dataclass(frozen=True)
class Metric:
    """What is claimed of one metric; `score` gives its value or values from (truth, prediction)."""

    name: str
    score: Callable[[Any, Any], Values]
    truths: st.SearchStrategy[Any]
    guesses: st.SearchStrategy[Any]
    low: float
    high: float
    gold: float
    """The value of the right answer (each value, where there are several and they are defined)."""
    right: Callable[[Any], Any] = same
    """The right answer, from the truth."""
    shuffle: Callable[[Any, Any, Random], tuple[Any, Any]] | None = shuffle_each
    """Another order of what is listed, which changes nothing. None: one value a side."""
    swap: Callable[[Any, Any], tuple[Any, Any]] | None = None
    """Symmetric: exchanging the sides so changes nothing. None: not symmetric, or of different shapes."""
    lopsided: tuple[Any, Any] | None = None
    """A pair of like shapes whose exchange does change the value: not symmetric."""
    undefined: bool = False
    """Whether it may be None."""


TAGS = st.lists(st.builds(Tag, ANY_EMOTION, st.none() | RATINGS), max_size=4)
APART = st.lists(
    st.builds(Tag, st.sampled_from(EMOTIONS), RATINGS), max_size=4, unique_by=lambda tag: tag.emotion
)
YES_NO = st.sampled_from(["yes", "no"])
IDS = st.sampled_from(["B1", "B2", "B3", "B4"])
PAIRS = st.lists(st.tuples(IDS, YES_NO), min_size=1, max_size=4, unique_by=lambda pair: pair[0])
BOTH_LABELS = PAIRS.map(lambda pairs: [*pairs, ("B5", "yes"), ("B6", "no")])
ANSWERS = st.dictionaries(IDS | st.sampled_from(["B5", "B6", "B9"]), YES_NO)
COMPARISONS = st.lists(
    st.sampled_from(
        [
            PairwiseComparison.model_validate(comparison(a, b, winner))
            for a, b in (("original", "human"), ("human", "alternate"), ("alternate", "original"))
            for winner in "AB"
        ]
    ),
    min_size=1,
    max_size=6,
)
PICKS = st.dictionaries(st.integers(0, 5), st.sampled_from("AB"))
ALL_PICKS = st.fixed_dictionaries({i: st.sampled_from("AB") for i in range(6)})
WINNERS = st.lists(st.sampled_from("AB"), min_size=1, max_size=6).map(lambda sides: list(enumerate(sides)))
TOTAL = st.none() | st.floats(10, 70)
TOTALS = st.builds(Totals, TOTAL, TOTAL)
MOVED = st.tuples(st.floats(10, 70), st.floats(10, 70)).filter(lambda pair: pair[0] != pair[1])
OPTIONS = st.lists(st.sampled_from(Q1_OPTIONS), max_size=5)
ITEMS = item_values(False)
SAYINGS = st.lists(TEXTS, max_size=3)
CHOICE = st.none() | st.sampled_from([*Q3_OPTIONS, "no such option"])
WORDS = st.frozensets(st.sampled_from("abcdef"))
BRANCH_SCORES = st.dictionaries(st.sampled_from(BRANCHES), RATINGS)
RATED = st.dictionaries(st.sampled_from(JUDGE_DIMENSIONS), st.floats(1, 7))


def ratios(truth: Any, answers: Any) -> Values:
    found = binary.pooled([(truth, answers)])
    return [found.accuracy, found.precision, found.recall, found.f1]


def similarities(texts: Any, text: Any) -> Values:
    found = draft.similarity(text, dict.fromkeys(("original", "alternate", "human"), texts[0]))
    return [found.original, found.alternate, found.human, found.best]


UNEQUAL = ([Tag("Upset"), Tag("Proud")], [Tag("Upset")])
METRICS = [
    Metric("emotion.f1", emotion.f1, TAGS, TAGS, 0, 1, 1, swap=plain_swap),
    Metric("emotion.overlap", emotion.overlap, TAGS, TAGS, 0, 1, 1, lopsided=UNEQUAL),
    Metric("emotion.overlap", lambda t, g: emotion.overlap(t, g).f1, TAGS, TAGS, 0, 1, 1, swap=plain_swap),
    Metric(
        "emotion.intensity_errors",
        lambda t, g: sorted(emotion.intensity_errors(t, g)),
        APART,
        APART,
        0,
        6,
        0,
        swap=plain_swap,
    ),
    Metric(
        "emotion.intensity_mae", emotion.intensity_mae, APART, APART, 0, 6, 0, swap=plain_swap, undefined=True
    ),
    Metric("emotion.f1_intensity", emotion.f1_intensity, APART, APART, 0, 1, 1, swap=plain_swap),
    Metric("emotion.va_score", emotion.va_score, APART, TAGS, 0, 1, 1, swap=plain_swap),
    Metric("emotion.va_intensity_score", emotion.va_intensity_score, APART, TAGS, 0, 1, 1, swap=plain_swap),
    Metric("binary.accuracy", binary.accuracy, PAIRS, ANSWERS, 0, 1, 1, right=dict),
    Metric("binary.right_share", binary.right_share, PAIRS, ANSWERS, 0, 1, 1, right=dict),
    Metric("binary.strict_accuracy", binary.strict_accuracy, PAIRS, ANSWERS, 0, 1, 1, right=dict),
    Metric("binary.pooled", ratios, BOTH_LABELS, ANSWERS, 0, 1, 1, right=dict),
    Metric(
        "binary.pooled", lambda t, g: binary.pooled([(t, g)]).mcc, BOTH_LABELS, ANSWERS, -1, 1, 1, right=dict
    ),
    Metric(
        "pairwise.accuracy",
        pairwise.accuracy,
        COMPARISONS,
        PICKS,
        0,
        1,
        1,
        right=winners_of,
        shuffle=shuffle_together,
    ),
    Metric("pairwise.strict_accuracy", pairwise.strict_accuracy, WINNERS, PICKS, 0, 1, 1, right=dict),
    Metric(
        "pairwise.kendall_tau",
        pairwise.kendall_tau,
        COMPARISONS,
        PICKS,
        -1,
        1,
        1,
        right=winners_of,
        shuffle=shuffle_together,
        undefined=True,
    ),
    Metric(
        "pairwise.kendall_tau",
        pairwise.kendall_tau,
        COMPARISONS,
        ALL_PICKS,
        -1,
        1,
        1,
        right=winners_of,
        shuffle=shuffle_together,
        swap=swap_picks,
    ),
    Metric("panas.total_mae", panas.total_mae, TOTALS, TOTALS, 0, 60, 0, swap=plain_swap),
    Metric(
        "panas.normalized",
        lambda t, g: panas.normalized(panas.total_mae(t, g)),
        TOTALS,
        TOTALS,
        0,
        1,
        1,
        swap=plain_swap,
    ),
    Metric("panas.item_mae", panas.item_mae, ITEMS, ITEMS, 0, 6, 0, swap=plain_swap, undefined=True),
    Metric(
        "panas.baseline_adjusted",
        lambda t, g: panas.baseline_adjusted(t[0], t[1], g),
        MOVED,
        TOTAL,
        -1,
        1,
        1,
        shuffle=None,
        right=lambda t: t[1],
        undefined=True,
    ),
    Metric(
        "panas.items_baseline_adjusted",
        lambda t, g: panas.items_baseline_adjusted(t[0], t[1], g),
        st.tuples(ITEMS, ITEMS),
        ITEMS,
        -1,
        1,
        1,
        right=lambda t: t[1],
        undefined=True,
    ),
    Metric("questions.set_jaccard", questions.set_jaccard, OPTIONS, OPTIONS, 0, 1, 1, swap=plain_swap),
    Metric("questions.set_f1", questions.set_f1, OPTIONS, OPTIONS, 0, 1, 1, swap=plain_swap),
    Metric(
        "questions.exact_match", questions.exact_match, CHOICE, CHOICE, 0, 1, 1, shuffle=None, swap=plain_swap
    ),
    Metric(
        "questions.fit_distance",
        questions.fit_distance,
        CHOICE,
        CHOICE,
        0,
        3,
        0,
        shuffle=None,
        swap=plain_swap,
    ),
    Metric("questions.fuzzy_f1", questions.fuzzy_f1, SAYINGS, SAYINGS, 0, 1, 1, swap=plain_swap),
    Metric("text.jaccard", text.jaccard, WORDS.filter(bool), WORDS, 0, 1, 1, swap=plain_swap),
    Metric(
        "draft.similarity",
        similarities,
        st.tuples(TEXTS.filter(lambda text: bool(text.split()))),
        TEXTS,
        0,
        1,
        1,
        shuffle=None,
        right=lambda t: t[0],
    ),
    Metric(
        "draft.judge_score",
        lambda _, ratings: draft.judge_score(ratings),
        st.none(),
        RATED,
        0,
        1,
        1,
        right=lambda _: dict.fromkeys(JUDGE_DIMENSIONS, 7),
        undefined=True,
    ),
    Metric(
        "draft.binary_alignment", draft.binary_alignment, PAIRS, ANSWERS, 0, 1, 1, right=dict, undefined=True
    ),
    Metric(
        "branches.errors",
        lambda t, g: list(branches.errors(t, g).values()),
        BRANCH_SCORES,
        BRANCH_SCORES,
        0,
        6,
        0,
        lopsided=({}, {"managing": 1}),
    ),
    Metric(
        "branches.normalized",
        lambda t, g: branches.normalized(branches.errors(t, g)),
        BRANCH_SCORES,
        BRANCH_SCORES,
        0,
        1,
        1,
        lopsided=({}, {"managing": 1}),
    ),
    Metric(
        "branches.strict_score", branches.strict_score, RATINGS, st.none() | RATINGS, 0, 1, 1, shuffle=None
    ),
    Metric(
        "branches.strict_score",
        branches.strict_score,
        RATINGS,
        RATINGS,
        0,
        1,
        1,
        shuffle=None,
        swap=plain_swap,
    ),
]
