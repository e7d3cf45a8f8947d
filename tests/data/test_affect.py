"""The affect space against the published coordinates, recomputed in exact decimal arithmetic."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import product

import pytest

from attune_data.format import affect

# name, polarity, valence, arousal: the benchmark's table, copied literally
PUBLISHED = (
    ("Proud", "positive", "0.85", "0.65"),
    ("Irritable", "negative", "0.22", "0.68"),
    ("Alert", "positive", "0.7", "0.75"),
    ("Ashamed", "negative", "0.13", "0.62"),
    ("Inspired", "positive", "0.9", "0.7"),
    ("Nervous", "negative", "0.188", "0.72"),
    ("Determined", "positive", "0.78", "0.72"),
    ("Attentive", "positive", "0.68", "0.6"),
    ("Jittery", "negative", "0.196", "0.788"),
    ("Active", "positive", "0.72", "0.8"),
    ("Distressed", "negative", "0.125", "0.75"),
    ("Afraid", "negative", "0.073", "0.84"),
    ("Excited", "positive", "0.8", "0.85"),
    ("Upset", "negative", "0.167", "0.65"),
    ("Strong", "positive", "0.75", "0.7"),
    ("Guilty", "negative", "0.15", "0.6"),
    ("Scared", "negative", "0.083", "0.82"),
    ("Hostile", "negative", "0.2", "0.7"),
    ("Enthusiastic", "positive", "0.82", "0.78"),
    ("Interested", "positive", "0.65", "0.6"),
)
NAMES = tuple(name for name, *_ in PUBLISHED)


def exact_similarity(first: str, second: str) -> float:
    points = {name: (Decimal(valence), Decimal(arousal)) for name, _, valence, arousal in PUBLISHED}
    with localcontext() as context:
        context.prec = 40
        dv, da = (a - b for a, b in zip(points[first], points[second], strict=True))
        value = 1 - ((dv * dv + da * da) / 2).sqrt()
        return float(value.quantize(Decimal("0.0001"), rounding=ROUND_HALF_EVEN))


def test_the_items_are_the_published_ones_in_order_ten_of_each_polarity() -> None:
    want = [(name, polarity, float(v), float(a)) for name, polarity, v, a in PUBLISHED]
    assert [tuple(item) for item in affect.ITEMS] == want
    assert affect.EMOTIONS == NAMES
    for polarity, side in (("positive", affect.POSITIVE), ("negative", affect.NEGATIVE)):
        assert side == tuple(name for name, which, *_ in PUBLISHED if which == polarity)
        assert len(side) == 10


def test_all_400_similarities_equal_an_exact_computation() -> None:
    pairs = list(product(NAMES, repeat=2))
    assert len(pairs) == len(affect.SIMILARITY) == 400
    assert {pair: affect.similarity(*pair) for pair in pairs} == {
        pair: exact_similarity(*pair) for pair in pairs
    }


def test_what_is_no_item_is_like_nothing() -> None:
    # the function takes the benchmark's spelling; reading a file is what folds the case
    for first, second in (("Distressed", "Bored"), ("", "Upset"), ("distressed", "Upset")):
        assert affect.similarity(first, second) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_an_emotion_is_known_in_any_case(name: str) -> None:
    for spelling in (name.lower(), name.upper(), name.swapcase(), f"  {name}\n"):
        assert affect.canonical_emotion(spelling) == name
