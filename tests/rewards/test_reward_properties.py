"""What is claimed of every reward holds, and the table lists every leaf and every preset."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_rewards import (
    LEAVES,
    PRESETS,
    STAGES,
    ConversationPrediction,
    RewardSpec,
    Score,
    Stage,
    score_conversation,
    score_request,
)
from attune_rewards.parts import LEAF_PARTS
from attune_rewards.reward import request_weights
from attune_rewards.truth import truth_of
from tests.rewards.answers import copied, corrected, reordered, silenced
from tests.rewards.builders import answer, gold, paid, places, prediction
from tests.rewards.reward_table import (
    ANNOTATED,
    BY_NAME,
    COMPOSITE,
    ERASED,
    REWARDS,
    Reward,
    total_of,
    without_annotation,
)
from tests.rewards.strategies import conversations, scored

QUICK = settings(max_examples=50)
FEW = settings(max_examples=25)
EXACT = 1e-12
Played = tuple[Conversation, ConversationPrediction]
BRIEF = [row for row in REWARDS if row.spec.dense]
"""Without those that differ in the moment of payment alone."""


def close(row: Reward) -> float:
    """How near is equal: a null near 1 magnifies rounding."""
    return EXACT if not row.spec.nulls else 1e-11


def requests(about: Conversation, said: ConversationPrediction, spec: RewardSpec) -> Iterator[Score]:
    for stage, number in places(truth_of(about)):
        yield score_request(about, stage, number, answer(said, stage, number), spec)


def floor(about: Conversation, spec: RewardSpec) -> float:
    """What 0 on every part earns: -n/(1 - n) of each, by its weight."""
    return math.fsum(
        weight * -spec.nulls.get(slot.part, 0.0) / (1 - spec.nulls.get(slot.part, 0.0))
        for slot, weight in spec.weights(truth_of(about)).items()
    )


def test_the_table_lists_every_leaf_and_every_preset() -> None:
    assert {*LEAVES, *LEAF_PARTS, *PRESETS} <= BY_NAME.keys()
    assert {f"{name}, terminal" for name in PRESETS} <= BY_NAME.keys()
    assert set(ERASED) == set(LEAVES)
    assert len(BY_NAME) == len(REWARDS)
    assert BY_NAME["composite"].low == 0.0 > BY_NAME["skill"].low


@QUICK
@given(scored())
def test_rewards_stay_between_their_lowest_value_and_1(pair: Played) -> None:
    for row in REWARDS:
        for found in requests(*pair, row.spec):
            assert found.value is None or row.low - EXACT <= found.value <= 1 + EXACT, row.name
            assert all(0 <= part <= 1 for part in found.parts.values()), row.name
        total = paid(*pair, row.spec)
        assert floor(pair[0], row.spec) - 1e-11 <= total <= 1 + EXACT, row.name


@QUICK
@given(conversations())
def test_the_right_answers_earn_1_in_every_request_that_is_scored(about: Conversation) -> None:
    said = gold(about)
    for row in REWARDS:
        values = [found.value for found in requests(about, said, row.spec) if found.value is not None]
        assert values == pytest.approx([1.0] * len(values), abs=EXACT), row.name
        assert paid(about, said, row.spec) == pytest.approx(1.0 if values else 0.0, abs=EXACT), row.name


@QUICK
@given(scored())
def test_what_is_annotated_fixes_the_weights_and_silence_earns_0_on_every_part(pair: Played) -> None:
    about, said = pair
    for row in REWARDS:
        weights = request_weights(about, row.spec)
        spoken, silent = requests(about, said, row.spec), requests(about, prediction(), row.spec)
        for place, one, other in zip(places(truth_of(about)), spoken, silent, strict=True):
            here = weights.get(place, {})
            assert one.weight == other.weight == math.fsum(here.values()), row.name
            assert (one.value is None) == (other.value is None) == (not here), row.name
            assert dict(other.parts) == dict.fromkeys(here, 0.0), row.name
            assert one.parts.keys() == here.keys(), row.name
        assert paid(about, prediction(), row.spec) == pytest.approx(floor(about, row.spec), abs=close(row))


@QUICK
@given(conversations(), st.sets(st.sampled_from(STAGES)))
def test_weights_of_any_stages_sum_to_1(about: Conversation, asked: set[Stage]) -> None:
    for row in REWARDS:
        weights = row.spec.weights(truth_of(about), asked)
        assert math.fsum(weights.values()) == pytest.approx(1.0 if weights else 0.0, abs=EXACT), row.name
        assert {slot.stage for slot in weights} <= asked, row.name


@QUICK
@given(scored())
def test_the_same_answers_always_earn_the_same(pair: Played) -> None:
    other = copied(*pair)
    for row in REWARDS:
        first = list(requests(*pair, row.spec))
        assert list(requests(*other, row.spec)) == first, row.name
        assert list(requests(*pair, row.spec)) == first, row.name


@QUICK
@given(scored(), st.integers(0, 999))
def test_the_order_of_annotations_and_answers_moves_no_reward(pair: Played, seed: int) -> None:
    other = reordered(*pair, seed)
    for row in BRIEF:
        assert paid(*other, row.spec) == pytest.approx(paid(*pair, row.spec), abs=close(row)), row.name


@FEW
@given(scored())
def test_a_wrong_answer_made_right_never_lowers_a_reward(pair: Played) -> None:
    about, said = pair
    nearer = list(corrected(about, said))
    for row in BRIEF:
        before = paid(about, said, row.spec)
        for better in nearer:
            assert paid(about, better, row.spec) >= before - 1e-11, row.name


@FEW
@given(scored())
def test_an_unanswered_item_never_beats_a_valid_answer_to_it(pair: Played) -> None:
    about, said = pair
    quieter = list(silenced(said))
    for row in BRIEF:
        answered = paid(about, said, row.spec)
        for less in quieter:
            assert paid(about, less, row.spec) <= answered + 1e-11, row.name


@QUICK
@given(scored())
def test_the_steps_sum_to_the_total_and_those_of_the_composite_to_the_strict_composite(pair: Played) -> None:
    for row in BRIEF:
        assert paid(*pair, row.spec) == pytest.approx(total_of(*pair, row.spec), abs=close(row)), row.name
    strict = score_conversation(*pair)["composite_strict"]
    assert (strict is None) == (not request_weights(pair[0], COMPOSITE))
    assert paid(*pair, COMPOSITE) == pytest.approx((strict or 0.0) / 100, abs=EXACT)


@pytest.mark.parametrize("name", [row.name for row in REWARDS if not row.spec.dense])
def test_a_terminal_reward_differs_in_the_moment_of_payment_alone(name: str) -> None:
    terminal, dense = BY_NAME[name].spec, BY_NAME[name.removesuffix(", terminal")].spec
    assert (terminal.dense, dense.dense) == (False, True)
    assert terminal == dense.terminal()
    said = gold(ANNOTATED)
    assert list(requests(ANNOTATED, said, terminal)) == list(requests(ANNOTATED, said, dense))


@QUICK
@given(scored(full=True, complete=True))
def test_strict_is_canonical_on_complete_answers_to_fully_annotated_conversations(pair: Played) -> None:
    scores = score_conversation(*pair)
    assert scores["fully_annotated"]
    assert scores["composite_strict"] == pytest.approx(scores["composite_exact"], abs=1e-10)
    assert scores["unscored_share"] <= 1 / 15  # at most one PANAS side that did not move
    compared = 0
    for row in REWARDS:
        if row.canonical is not None and row.spec.weights(truth_of(pair[0])):
            assert paid(*pair, row.spec) == pytest.approx(row.canonical(scores), abs=EXACT), row.name
            compared += 1
    assert compared >= 19  # of 20: one side of PANAS may not have moved


@pytest.mark.parametrize("leaf", LEAVES)
def test_what_is_not_annotated_leaves_its_weight_to_its_siblings(leaf: str) -> None:
    about, gone = without_annotation(leaf), ERASED[leaf][1]
    alone = BY_NAME[leaf].spec
    assert {found.reason for found in requests(about, gold(about), alone)} == {"not_scored"}
    for row in REWARDS:
        before, after = (weights_by_part(c, row.spec) for c in (ANNOTATED, about))
        assert before.keys() - after.keys() == gone & before.keys(), row.name
        if after:
            assert math.fsum(after.values()) == pytest.approx(1.0, abs=EXACT), row.name
        assert all(after[part] >= before[part] - EXACT for part in after), row.name


@pytest.mark.parametrize("leaf", LEAVES)
def test_what_is_not_answered_keeps_its_weight_and_earns_0(leaf: str) -> None:
    spec = BY_NAME[leaf].spec
    scores = [found for found in requests(ANNOTATED, prediction(), spec) if found.weight]
    assert math.fsum(found.weight for found in scores) == pytest.approx(1.0, abs=EXACT)
    assert {found.value for found in scores} == {0.0}
    assert weights_by_part(ANNOTATED, COMPOSITE)[leaf] > 0


def weights_by_part(about: Conversation, spec: RewardSpec) -> dict[str, float]:
    found: dict[str, float] = {}
    for slot, weight in spec.weights(truth_of(about)).items():
        found[slot.part] = found.get(slot.part, 0.0) + weight
    return found
