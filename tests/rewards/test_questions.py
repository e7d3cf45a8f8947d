"""The conversation-wide questions: values worked by hand."""

from __future__ import annotations

import pytest

from attune_data.format.constants import Q2_OPTIONS, Q3_OPTIONS
from attune_rewards import Reflect, score_conversation
from attune_rewards.metrics import questions as metrics
from tests.rewards.builders import EMOJI, LONG, RIGHT_TO_LEFT, Json, conversation, prediction, wide

Texts = list[str]


def scores(annotated: Json, reflect: Reflect | None) -> Json:
    found = score_conversation(conversation(questions=annotated), prediction(reflect=reflect))
    return {**found["post_score"], "strict": found["strict_parts"]}


@pytest.mark.parametrize(("truth", "guess", "jaccard", "f1"), [
    ([], [], 1.0, 1.0),  # both empty
    (["a"], [], 0.0, 0.0),
    ([], ["a"], 0.0, 0.0),
    (["a"], ["a"], 1.0, 1.0),
    (["a"], ["b"], 0.0, 0.0),
    (["a"], ["a", "b"], 1 / 2, 2 / 3),  # shared 1 of 2; 2·1/(1 + 2)
    (["a", "b", "c"], ["c", "d"], 1 / 4, 2 / 5),  # shared 1 of 4; 2·1/(3 + 2)
    (["a", "b"], ["b", "a"], 1.0, 1.0),
    (["a", "a"], ["a", "a", "b"], 1 / 2, 2 / 3),  # sets: duplicates count once
    ([EMOJI, RIGHT_TO_LEFT], [RIGHT_TO_LEFT], 1 / 2, 2 / 3),
])  # fmt: skip
def test_q1_overlap(truth: Texts, guess: Texts, jaccard: float, f1: float) -> None:
    assert metrics.set_jaccard(truth, guess) == jaccard
    assert metrics.set_f1(truth, guess) == pytest.approx(f1)
    found = scores(wide(q1=truth), Reflect(q1=tuple(guess)))
    assert found["q1_looking_for_score"] == found["q1_looking_for_jaccard"] == jaccard
    assert found["q1_looking_for_f1"] == pytest.approx(f1)
    assert found["strict"] == {"q1": jaccard}


@pytest.mark.parametrize(("truth", "guess", "value"), [
    ("Implied or indirect", "Implied or indirect", 1.0),
    ("Implied or indirect", "IMPLIED OR INDIRECT", 1.0),  # without case
    ("Implied or indirect", "Mixed or conflicted", 0.0),
    ("Implied or indirect", "Implied", 0.0),
    ("Implied or indirect", "", 0.0),
    ("Implied or indirect", None, 0.0),
    (None, "Implied or indirect", 0.0),
    (None, None, 1.0),
    ("ÉTÉ 😀", "été 😀", 1.0),
])  # fmt: skip
def test_q2_and_q3_match_exactly(truth: str | None, guess: str | None, value: float) -> None:
    assert metrics.exact_match(truth, guess) == value
    found = scores(wide(q2=truth, q3=truth), Reflect(q2=guess, q3=guess))
    assert found["q2_emotion_clarity_match"] == found["q3_model_fit_match"] == value
    assert found["strict"] == ({} if truth is None else {"q2": value, "q3": value})


@pytest.mark.parametrize(("truth", "guess", "distance"), [
    *((Q3_OPTIONS[a], Q3_OPTIONS[b], abs(a - b)) for a in range(4) for b in range(4)),
    (Q3_OPTIONS[1], Q3_OPTIONS[3].upper(), 2),
    (Q3_OPTIONS[1], "no such option", 3),  # one side unknown
    (Q3_OPTIONS[1], None, 3),
    (None, Q3_OPTIONS[1], 3),
    ("no such option", Q3_OPTIONS[1], 3),
    (None, None, 0),  # both unknown
    ("no such option", None, 0),
    ("no such option", Q2_OPTIONS[0], 0),
])  # fmt: skip
def test_q3_ordinal_distance(truth: str | None, guess: str | None, distance: int) -> None:
    assert metrics.fit_distance(truth, guess) == distance
    assert scores(wide(q3=truth), Reflect(q3=guess))["q3_model_fit_ordinal_distance"] == distance


@pytest.mark.parametrize(("truth", "guess", "value"), [
    ([], [], 1.0),
    (["too long"], [], 0.0),
    ([], ["too long"], 0.0),
    (["too long"], ["too long"], 1.0),
    (["too long"], ["Too LONG"], 1.0),  # without case
    (["too long"], ["cold"], 0.0),
    (["a b c d"], ["a b"], 1 / 2),  # 2 of 4 words, both ways
    (["a b c d e f"], ["a b c x y z w"], 0.3),  # 3 of 10: the threshold itself counts
    (["a b c d"], ["a b x y z"], 0.0),  # 2 of 7 = .286, under the threshold
    (["x", "a b c d"], ["x"], 2 / 3),  # precision 1, recall (1 + 0)/2
    # precision (1 + ½)/2 = ¾; recall (1 + ½ + 0)/3 = ½; 2 · ¾ · ½ / 1¼ = .6
    (["x", "a b c d", "q"], ["x", "a b"], 0.6),
    # each takes its best: "a b" with "a b c" ⅔ (not ¼ with "a x y"); precision ⅔, recall (⅔ + 0)/2:
    # "a x y" shares 1 of 4 words = ¼ < .3; 2 · ⅔ · ⅓ / 1 = 4/9
    (["a b c", "a x y"], ["a b"], 4 / 9),
    (["too long"], ["too long", "too long"], 1.0),  # duplicates count once
    (["too long", "Too long"], ["too long"], 1.0),
    ([RIGHT_TO_LEFT], [RIGHT_TO_LEFT.split()[0] + " " + RIGHT_TO_LEFT.split()[1]], 2 / 3),  # 2 of 3 words
    ([LONG], [LONG + "more"], 1 / 2),  # {word} and {word, more}
])  # fmt: skip
def test_q3_follow_up_is_a_fuzzy_set_f1(truth: Texts, guess: Texts, value: float) -> None:
    assert metrics.fuzzy_f1(truth, guess) == pytest.approx(value, abs=1e-12)
    assert metrics.fuzzy_f1(guess, truth) == pytest.approx(value, abs=1e-12)
    found = scores(wide(follow_up=truth), Reflect(q3_follow_up=tuple(guess)))
    assert found["q3_follow_up_score"] == pytest.approx(value, abs=1e-12)
    assert found["strict"] == pytest.approx({"q3_follow_up": value}, abs=1e-12)


def test_silence_is_an_empty_list_in_the_canonical_reading_and_wrong_in_the_strict_one() -> None:
    found = scores(wide(q1=[], follow_up=[]), None)
    assert found["q1_looking_for_score"] == found["q3_follow_up_score"] == 1.0
    assert found["strict"] == {"q1": 0.0, "q3_follow_up": 0.0}
