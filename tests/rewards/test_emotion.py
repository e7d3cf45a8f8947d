"""Emotion tags: values worked by hand. Similarities are 1 - distance/√2 between (valence, arousal) points."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data.format.affect import EMOTIONS
from attune_rewards import Tag
from attune_rewards.metrics import emotion as metrics
from attune_rewards.metrics.leaf import Leaf
from attune_rewards.predictions import Assess
from attune_rewards.truth import TurnTruth
from tests.rewards.builders import EMOJI, LONG

UPSET, PROUD, INSPIRED, HOSTILE = Tag("Upset"), Tag("Proud"), Tag("Inspired"), Tag("Hostile")
DISTRESSED, WISTFUL = Tag("Distressed"), Tag("Wistful")
Tags = list[Tag]


OVERLAPS = [
    # truth, predicted, precision, recall, F1
    ([], [], 1.0, 1.0, 1.0),  # both empty
    ([], [UPSET], 0.0, 0.0, 0.0),  # only truth empty
    ([UPSET], [], 0.0, 0.0, 0.0),  # only prediction empty
    ([UPSET], [PROUD], 0.0, 0.0, 0.0),  # nothing shared
    ([UPSET], [UPSET], 1.0, 1.0, 1.0),
    ([UPSET, PROUD], [UPSET], 1.0, 1 / 2, 2 / 3),  # 2 · 1 · ½ / 1½
    ([UPSET], [UPSET, PROUD, HOSTILE], 1 / 3, 1.0, 1 / 2),  # 2 · ⅓ · 1 / 1⅓
    ([UPSET, PROUD, HOSTILE], [PROUD, HOSTILE, INSPIRED, DISTRESSED], 2 / 4, 2 / 3, 4 / 7),  # 2 · 2 / (3 + 4)
    ([UPSET], [UPSET, WISTFUL], 1 / 2, 1.0, 2 / 3),  # an unknown emotion is a wrong tag, not dropped
    ([UPSET], [WISTFUL], 0.0, 0.0, 0.0),
    ([], [WISTFUL], 0.0, 0.0, 0.0),
    ([UPSET], [Tag("uPSET")], 1.0, 1.0, 1.0),  # case does not count
    ([UPSET], [UPSET, UPSET, Tag("UPSET")], 1.0, 1.0, 1.0),  # sets: duplicates count once
    ([UPSET, UPSET], [UPSET], 1.0, 1.0, 1.0),
    ([UPSET], [Tag(EMOJI), Tag(LONG), UPSET], 1 / 3, 1.0, 1 / 2),
]


@pytest.mark.parametrize(("truth", "guess", "precision", "recall", "f1"), OVERLAPS)
def test_overlap_of_tag_sets(truth: Tags, guess: Tags, precision: float, recall: float, f1: float) -> None:
    assert metrics.overlap(truth, guess) == pytest.approx((precision, recall, f1), abs=1e-12)


@pytest.mark.parametrize(("truth", "guess", "mae", "product"), [
    ([], [], None, 1.0),  # both empty
    ([], [Tag("Upset", 3)], None, 0.0),
    ([Tag("Upset", 3)], [], None, 0.0),
    ([Tag("Upset", 3)], [Tag("Upset", 3)], 0.0, 1.0),
    ([Tag("Upset", 1)], [Tag("Upset", 7)], 6.0, 0.0),  # 1 · (1 - 6/6)
    ([Tag("Upset", 6)], [Tag("upset", 3)], 3.0, 1 / 2),  # 1 · (1 - 3/6)
    ([Tag("Upset", 3)], [UPSET], None, 0.0),  # unknown intensity: no tag to average over
    ([UPSET], [Tag("Upset", 3)], None, 0.0),
    # only the tags in both with known intensities: |6 - 3| = 3; F1 = 1
    ([Tag("Upset", 6), Tag("Proud", 2)], [Tag("Upset", 3), PROUD], 3.0, 1 / 2),
    # |5 - 4| = 1, Guilty is not shared; F1 = ½; ½ · 5/6
    ([Tag("Upset", 5), Tag("Proud", 2)], [Tag("Upset", 4), Tag("Guilty", 2)], 1.0, 5 / 12),
    # (|5 - 4| + |2 - 7|)/2 = 3; F1 = 1; (5/6 + 1/6)/2 = ½
    ([Tag("Upset", 5), Tag("Proud", 2)], [Tag("Proud", 7), Tag("Upset", 4)], 3.0, 1 / 2),
    # a tag given twice counts with its first known intensity: |5 - 4|, ½ the error of |5 - 7|; F1 = 1
    ([Tag("Upset", 5)], [UPSET, Tag("Upset", 4), Tag("upset", 7)], 1.0, 5 / 6),
    # a tag outside the 20 lowers F1 to ⅔ and has no error of its own
    ([Tag("Upset", 5)], [Tag("Upset", 5), Tag("Wistful", 5)], 0.0, 2 / 3),
])  # fmt: skip
def test_intensity(truth: Tags, guess: Tags, mae: float | None, product: float) -> None:
    assert metrics.intensity_mae(truth, guess) == pytest.approx(mae, abs=1e-12)
    assert metrics.f1_intensity(truth, guess) == pytest.approx(product, abs=1e-12)


@pytest.mark.parametrize(("truth", "guess", "value"), [
    ([], [], 1.0),
    ([UPSET], [], 0.0),
    ([], [UPSET], 0.0),
    ([DISTRESSED], [UPSET], 0.9233),
    ([DISTRESSED], [Tag("uPSET")], 0.9233),
    ([UPSET], [WISTFUL], 0.0),
    ([UPSET], [UPSET, WISTFUL], 0.5),  # one pair at 1, coverage ½
    ([PROUD, UPSET], [INSPIRED], 0.475),  # best pair .95 × coverage ½
    ([INSPIRED], [UPSET, PROUD, HOSTILE], 0.95 / 3),
    ([PROUD, UPSET], [INSPIRED, HOSTILE], (0.95 + 0.9576) / 2),  # Upset-Hostile .0599/1.41421 = .04236
    ([PROUD, UPSET], [HOSTILE, INSPIRED], (0.95 + 0.9576) / 2),
    # greedy would take Proud-Inspired .95 and be left with Inspired-Hostile .505 = 1.455;
    # the best matching is Proud-Hostile .539 + Inspired-Inspired 1 = 1.539
    ([PROUD, INSPIRED], [INSPIRED, HOSTILE], 1.539 / 2),
    ([UPSET], [UPSET, UPSET], 0.5),  # lists, not sets: a duplicate costs coverage
    ([UPSET, UPSET], [UPSET, UPSET], 1.0),
    # 3 × 3: Distressed-Upset .9233, Proud-Inspired .95, Hostile-Hostile 1
    ([DISTRESSED, PROUD, HOSTILE], [HOSTILE, UPSET, INSPIRED], (0.9233 + 0.95 + 1) / 3),
])  # fmt: skip
def test_valence_arousal(truth: Tags, guess: Tags, value: float) -> None:
    assert metrics.va_score(truth, guess) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("truth", "guess", "value"), [
    ([], [], 1.0),
    ([Tag("Upset", 2)], [], 0.0),
    ([], [Tag("Upset", 2)], 0.0),
    ([Tag("Upset", 2)], [Tag("Upset", 2)], 1.0),
    ([Tag("Distressed", 5)], [Tag("Upset", 2)], 0.7 * 0.9233 + 0.3 * 0.5),  # .64631 + .15
    ([Tag("Distressed", 5)], [UPSET], 0.7 * 0.9233),  # unknown intensity: 0 for its term
    ([DISTRESSED], [Tag("Upset", 2)], 0.7 * 0.9233),
    ([Tag("Upset", 2)], [Tag("Wistful", 2)], 0.3),  # similarity 0, intensity exact
    # straight: 2 × (.7 · .95 + .3) = 1.93; crossed (same emotions): 2 × (.7 + .3 · 0) = 1.4
    ([Tag("Proud", 7), Tag("Inspired", 1)], [Tag("Inspired", 7), Tag("Proud", 1)], 1.93 / 2),
    ([Tag("Upset", 4), Tag("Proud", 4)], [Tag("Proud", 4)], 0.5),  # coverage ½
])  # fmt: skip
def test_valence_arousal_with_intensity(truth: Tags, guess: Tags, value: float) -> None:
    assert metrics.va_intensity_score(truth, guess) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("tags", "once"), [
    ([], []),
    ([UPSET, PROUD], [UPSET, PROUD]),
    ([UPSET, Tag("Upset", 4), Tag("uPSET", 7)], [Tag("Upset", 4)]),  # the first known intensity
    ([Tag("Upset", 2), PROUD, Tag("UPSET", 6), PROUD], [Tag("Upset", 2), PROUD]),  # at the first place
    ([WISTFUL, Tag("wistful", 3)], [Tag("Wistful", 3)]),  # wrong tags too
    ([UPSET] * 200, [UPSET]),
])  # fmt: skip
def test_each_feeling_once(tags: Tags, once: Tags) -> None:
    assert list(metrics.each_once(tags)) == once


TURN = TurnTruth(1, (), False, (), (), (), (), {}, ())
SAID = Assess()
SCORED = [leaf for leaf in metrics.LEAVES if leaf.name.startswith("emotion_")]


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(SCORED))
def test_no_strict_score_changes_when_a_feeling_is_named_again(
    data: st.DataObject, leaf: Leaf[TurnTruth, Assess]
) -> None:
    tag = st.builds(Tag, st.sampled_from([*EMOTIONS, "Wistful"]), st.integers(1, 7))
    some = st.lists(tag, max_size=6, unique_by=lambda one: one.emotion)
    truth, guess = data.draw(some), data.draw(some)
    # a repetition says nothing new, in whatever case and with whatever intensity
    again = data.draw(st.lists(st.sampled_from(guess), max_size=6)) if guess else []
    again = [Tag(data.draw(st.sampled_from([one.emotion, one.emotion.upper()])), 7) for one in again]
    turn = replace(TURN, tags=tuple(truth))
    scores = {leaf.value(turn, replace(SAID, tags=tuple(tags))) for tags in (guess, [*guess, *again])}
    assert len(scores) == 1
    doubled = replace(TURN, tags=(*truth, *truth))  # nor by an annotation that names it twice
    assert leaf.value(doubled, replace(SAID, tags=tuple(guess))) in scores


def test_what_naming_a_feeling_twice_earned() -> None:
    leaf = next(leaf for leaf in SCORED if leaf.name == "emotion_va")
    turn = replace(TURN, tags=(UPSET, HOSTILE))
    once, twice = (replace(SAID, tags=(UPSET,) * times) for times in (1, 2))
    assert metrics.va_score(turn.tags or (), twice.tags or ()) > 0.97  # canonical: as in the official scorer
    assert leaf.value(turn, once) == leaf.value(turn, twice) == 0.5
