"""One table of what is claimed of every metric: range, gold, order, symmetry, corrections, silence."""

from __future__ import annotations

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
from tests.rewards.metric_claims import (
    Claim,
    Metric,
    Values,
    dropped,
    each_key,
    each_side,
    emptied,
    intensities,
    keys_away,
    named,
    no_answer,
    plain_swap,
    replaced,
    shuffle_together,
    sides_away,
    swap_picks,
    whole,
    winners_of,
)
from tests.rewards.strategies import ANY_EMOTION, RATINGS, TEXTS, item_values

MODULES = (emotion, binary, pairwise, panas, questions, draft, branches, text)
PREPARATIONS = {"panas.totals", "panas.valid_total", "panas.changed", "panas.spread", "text.tokens"}
"""Public functions that make what a metric reads: they compare nothing."""


def compared(winners: str) -> list[PairwiseComparison]:
    """Each of the three responses with each other, with those winners."""
    pairs = [("original", "alternate"), ("original", "human"), ("alternate", "human")]
    records = [
        comparison(a, b, None if winner == "-" else winner)
        for (a, b), winner in zip(pairs, winners, strict=True)
    ]
    return [PairwiseComparison.model_validate(record) for record in records]


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
    st.sampled_from([c for winners in ("AAA", "BBB") for c in compared(winners)]), min_size=1, max_size=6
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


UPSET, NEAR, PROUD, NEAR_PROUD = Tag("Upset"), Tag("Distressed"), Tag("Proud"), Tag("Inspired")
# one tag of two is named, or each has a neighbour: .9233 and .95 (see test_emotion.py)
LENGTH = (
    Claim(named, ([UPSET], [NEAR], [NEAR, UPSET])),  # .9233 -> 1/2: a longer list covers less
    Claim(dropped, ([UPSET, PROUD], [NEAR, PROUD], [PROUD])),  # .9617 -> 1/2
    # Distressed served Upset: (.9233 + .95)/2 -> (1 + sim(Inspired, Upset))/2
    Claim(replaced, ([UPSET, PROUD], [NEAR, NEAR_PROUD], [NEAR_PROUD, PROUD])),
    Claim(whole),
)
OVERLAPPING = (Claim(named), Claim(dropped), Claim(replaced), Claim(whole))
NEUTRAL = (Claim(emptied, ([], [Tag("Upset", 1)], [])),)
"""Empty tags are right on a neutral turn, and the canonical reading takes silence for them."""
FAR, REACHED = [Tag("Upset", 1)], [Tag("Upset", 7)]
TWICE = ([Tag("Upset", 1)], [Tag("Upset", 1), Tag("Upset", 7)], [Tag("Upset", 7), Tag("Upset", 1)])
"""An emotion named twice counts with its first intensity."""
ITEM_BY_ITEM = (Claim(each_key),)
SILENT_NO = (Claim(keys_away, ([("B5", "yes"), ("B6", "no")], {"B5": "yes", "B6": "yes"}, {"B5": "yes"})),)
"""The canonical reading takes silence for a no."""
NOTHING_GAINED = (Claim(keys_away),)
LEFT_OUT = ({"Proud": 3, "Alert": 3}, {"Proud": 3, "Alert": 1}, {"Proud": 3})
"""An item that is not predicted is not measured."""
MIDDLE = Totals(40.0, 40.0), Totals(70.0, 40.0), Totals(None, 40.0)
"""An unknown total counts as 40."""
NO_OPTIONS = (Claim(emptied, ([], ["a"], [])),)
NO_CHOICE = (Claim(no_answer, (None, Q3_OPTIONS[0], None)),)
FOUR = (Claim(keys_away, ({"managing": 4}, {"managing": 7}, {})),)
"""A missing branch counts as 4."""

METRICS = [
    Metric("emotion.f1", emotion.f1, TAGS, TAGS, OVERLAPPING, NEUTRAL, swap=plain_swap),
    Metric(
        "emotion.overlap", emotion.overlap, TAGS, TAGS, OVERLAPPING, NEUTRAL,
        lopsided=([UPSET, PROUD], [UPSET]),
    ),
    Metric(
        "emotion.overlap", lambda t, g: emotion.overlap(t, g).f1, TAGS, TAGS, OVERLAPPING, NEUTRAL,
        swap=plain_swap,
    ),
    Metric(
        "emotion.intensity_errors", lambda t, g: sorted(emotion.intensity_errors(t, g)), APART, APART,
        (Claim(intensities), Claim(dropped)), (Claim(emptied, (FAR, REACHED, [])),),
        high=6, gold=0, lower=True, swap=plain_swap, ordered=TWICE,
    ),
    Metric(
        "emotion.intensity_mae", emotion.intensity_mae, APART, APART,
        (Claim(intensities), Claim(named), Claim(dropped)), (Claim(emptied, (FAR, REACHED, [])),),
        high=6, gold=0, lower=True, swap=plain_swap, ordered=TWICE, undefined=([], []),
    ),
    Metric(
        "emotion.f1_intensity", emotion.f1_intensity, APART, APART, (*OVERLAPPING, Claim(intensities)),
        NEUTRAL, swap=plain_swap, ordered=TWICE, short=[UPSET],
    ),
    Metric("emotion.va_score", emotion.va_score, APART, TAGS, LENGTH, NEUTRAL, swap=plain_swap),
    Metric(
        "emotion.va_intensity_score", emotion.va_intensity_score, APART, TAGS,
        (
            *LENGTH,
            # straight 2 × (.7 · .95 + .3) -> same emotions .7 + .3 + .7
            Claim(
                intensities,
                (
                    [Tag("Proud", 7), Tag("Inspired", 1)],
                    [Tag("Inspired", 7), Tag("Proud", 1)],
                    [Tag("Inspired", 1), Tag("Proud", 1)],
                ),
            ),
        ),
        NEUTRAL, swap=plain_swap, short=[UPSET],
    ),
    Metric(
        "binary.accuracy", binary.accuracy, PAIRS, ANSWERS, ITEM_BY_ITEM, SILENT_NO, right=dict, short=[]
    ),
    Metric(
        "binary.right_share", binary.right_share, PAIRS, ANSWERS, ITEM_BY_ITEM, NOTHING_GAINED, right=dict
    ),
    Metric(
        "binary.strict_accuracy", binary.strict_accuracy, PAIRS, ANSWERS, ITEM_BY_ITEM, NOTHING_GAINED,
        right=dict,
    ),
    Metric(
        "binary.pooled", ratios, BOTH_LABELS, ANSWERS, ITEM_BY_ITEM, SILENT_NO, right=dict,
        short=[("B1", "no")],
    ),
    Metric(
        "binary.pooled", lambda t, g: binary.pooled([(t, g)]).mcc, BOTH_LABELS, ANSWERS,
        ITEM_BY_ITEM, SILENT_NO, low=-1, right=dict, short=[("B1", "no")],
    ),
    Metric(
        "pairwise.accuracy", pairwise.accuracy, COMPARISONS, PICKS, ITEM_BY_ITEM, NOTHING_GAINED,
        right=winners_of, shuffle=shuffle_together, short=compared("AB-"),
    ),
    Metric(
        "pairwise.strict_accuracy", pairwise.strict_accuracy, WINNERS, PICKS, ITEM_BY_ITEM, NOTHING_GAINED,
        right=dict,
    ),
    Metric(
        "pairwise.kendall_tau", pairwise.kendall_tau, COMPARISONS, PICKS,
        # ranks come from all wins together: one more right pick may break a tie the other way
        (
            Claim(each_key, (compared("AAB"), {0: "B", 1: "A", 2: "A"}, {0: "B", 1: "A", 2: "B"})),
            Claim(whole),
        ),
        (Claim(keys_away, (compared("AAA"), {0: "A", 1: "A", 2: "B"}, {0: "A", 1: "A"})),),
        low=-1, right=winners_of, shuffle=shuffle_together, undefined=(compared("AAA"), {}),
    ),
    Metric(
        "pairwise.kendall_tau", pairwise.kendall_tau, COMPARISONS, ALL_PICKS, (Claim(whole),),
        (Claim(emptied, (compared("AAA"), dict.fromkeys(range(3), "B"), {})),),
        low=-1, right=winners_of, shuffle=shuffle_together, swap=swap_picks,
    ),
    Metric(
        "panas.total_mae", panas.total_mae, TOTALS, TOTALS, (Claim(each_side),), (Claim(sides_away, MIDDLE),),
        high=60, gold=0, lower=True, swap=plain_swap,
    ),
    Metric(
        "panas.normalized", lambda t, g: panas.normalized(panas.total_mae(t, g)), TOTALS, TOTALS,
        (Claim(each_side),), (Claim(sides_away, MIDDLE),), swap=plain_swap,
    ),
    Metric(
        "panas.item_mae", panas.item_mae, ITEMS, ITEMS, ITEM_BY_ITEM, (Claim(keys_away, LEFT_OUT),),
        high=6, gold=0, lower=True, swap=plain_swap, undefined=({}, {"Proud": 1}),
    ),
    Metric(
        "panas.baseline_adjusted", lambda t, g: panas.baseline_adjusted(t[0], t[1], g), MOVED, TOTAL,
        (Claim(whole),), (Claim(no_answer, ((30.0, 40.0), 20.0, None)),),
        low=-1, shuffle=None, right=lambda t: t[1], undefined=((30.0, 30.0), 30.0),
    ),
    Metric(
        "panas.items_baseline_adjusted", lambda t, g: panas.items_baseline_adjusted(t[0], t[1], g),
        st.tuples(ITEMS, ITEMS), ITEMS, ITEM_BY_ITEM,
        (Claim(keys_away, (({"Proud": 1, "Alert": 1}, LEFT_OUT[0]), *LEFT_OUT[1:])),),
        low=-1, right=lambda t: t[1], undefined=(({}, {}), {}),
    ),
    Metric(
        "questions.set_jaccard", questions.set_jaccard, OPTIONS, OPTIONS, OVERLAPPING, NO_OPTIONS,
        swap=plain_swap,
    ),
    Metric("questions.set_f1", questions.set_f1, OPTIONS, OPTIONS, OVERLAPPING, NO_OPTIONS, swap=plain_swap),
    Metric(
        "questions.exact_match", questions.exact_match, CHOICE, CHOICE, (Claim(whole),), NO_CHOICE,
        shuffle=None, swap=plain_swap,
    ),
    Metric(
        "questions.fit_distance", questions.fit_distance, CHOICE, CHOICE, (Claim(whole),), NO_CHOICE,
        high=3, gold=0, lower=True, shuffle=None, swap=plain_swap,
    ),
    Metric(
        "questions.fuzzy_f1", questions.fuzzy_f1, SAYINGS, SAYINGS,
        # a text that is near the right one earns by nearness: 2/3 -> 0
        (Claim(named), Claim(dropped, (["x y z"], ["x y"], [])), Claim(whole)),
        NO_OPTIONS, swap=plain_swap,
    ),
    Metric(
        "text.jaccard", text.jaccard, WORDS.filter(bool), WORDS, OVERLAPPING, (Claim(emptied),),
        swap=plain_swap, short=frozenset(),
    ),
    Metric(
        "draft.similarity", similarities, st.tuples(TEXTS.filter(lambda text: bool(text.split()))), TEXTS,
        (Claim(whole),), (Claim(emptied),), shuffle=None, right=lambda t: t[0],
        undefined=((None,), "calm"), short=("",),
    ),
    Metric(
        "draft.judge_score", lambda _, ratings: draft.judge_score(ratings), st.none(), RATED, ITEM_BY_ITEM,
        # the mean is over the dimensions that the judge rated
        (Claim(keys_away, (None, {"helpfulness": 1, "overall_score": 7}, {"overall_score": 7})),),
        right=lambda _: dict.fromkeys(JUDGE_DIMENSIONS, 7), undefined=(None, {}),
    ),
    Metric(
        "draft.binary_alignment", draft.binary_alignment, PAIRS, ANSWERS, ITEM_BY_ITEM, NOTHING_GAINED,
        right=dict, undefined=([], {"B1": "yes"}),
    ),
    Metric(
        "branches.errors", lambda t, g: list(branches.errors(t, g).values()), BRANCH_SCORES, BRANCH_SCORES,
        ITEM_BY_ITEM, FOUR, high=6, gold=0, lower=True, lopsided=({}, {"managing": 1}),
    ),
    Metric(
        "branches.normalized", lambda t, g: branches.normalized(branches.errors(t, g)), BRANCH_SCORES,
        BRANCH_SCORES, ITEM_BY_ITEM, FOUR, lopsided=({}, {"managing": 1}),
    ),
    Metric(
        "branches.strict_score", branches.strict_score, RATINGS, st.none() | RATINGS, (Claim(whole),),
        (Claim(no_answer),), shuffle=None,
    ),
    Metric(
        "branches.strict_score", branches.strict_score, RATINGS, RATINGS, (Claim(whole),),
        (Claim(no_answer),), shuffle=None, swap=plain_swap,
    ),
]  # fmt: skip
