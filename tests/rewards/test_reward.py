"""What holds of every reward: bounds, gold, silence, order, corrections, and what its steps add up to."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_rewards import (
    STAGES,
    Assess,
    ConversationPrediction,
    RewardSpec,
    Score,
    Stage,
    TurnPrediction,
    score_conversation,
    score_request,
)
from attune_rewards.reward.score import request_weights
from attune_rewards.truth import truth_of
from tests.rewards.answers import corrected, silenced
from tests.rewards.builders import (
    answer,
    conversation,
    gold,
    judgement,
    paid,
    places,
    prediction,
    turn,
    wide,
)
from tests.rewards.specs import REWARDS, floor, total_of
from tests.rewards.strategies import conversations, scored

FEW = settings(max_examples=8)
EXACT = 1e-12
Played = tuple[Conversation, ConversationPrediction]
DENSE = {name: spec for name, spec in REWARDS.items() if spec.dense}
"""Without those that differ in the moment of payment alone."""


def close(spec: RewardSpec) -> float:
    """How near is equal: a null near 1 magnifies rounding."""
    return EXACT if not spec.baselines else 1e-11


def requests(about: Conversation, said: ConversationPrediction, spec: RewardSpec) -> Iterator[Score]:
    for stage, number in places(truth_of(about)):
        yield score_request(about, stage, number, answer(said, stage, number), spec)


@FEW
@given(scored())
def test_annotations_fix_the_weights_values_stay_in_bounds_and_silence_is_0(pair: Played) -> None:
    about, said = pair
    for name, spec in DENSE.items():
        lowest = min(spec.transform(part, 0.0) for part in spec.parts)
        weights = request_weights(about, spec)
        spoken, silent = requests(about, said, spec), requests(about, prediction(), spec)
        for place, one, other in zip(places(truth_of(about)), spoken, silent, strict=True):
            here = weights.get(place, {})
            assert one.weight == other.weight == math.fsum(here.values()), name
            assert (one.value is None) == (other.value is None) == (not here), name
            assert one.value is None or lowest - EXACT <= one.value <= 1 + EXACT, name
            assert one.parts.keys() == here.keys(), name
            assert all(0 <= part <= 1 for part in one.parts.values()), name
            assert dict(other.parts) == dict.fromkeys(here, 0.0), name
        assert paid(about, prediction(), spec) == pytest.approx(floor(about, spec), abs=close(spec)), name


@FEW
@given(conversations(), st.sets(st.sampled_from(STAGES)))
def test_the_right_answers_earn_1_and_weights_of_any_stages_sum_to_1(
    about: Conversation, asked: set[Stage]
) -> None:
    said = gold(about)
    for name, spec in DENSE.items():
        if name == "draft_binary_alignment_read":
            continue  # nobody knows the draft in which a reader finds exactly what was wanted
        values = [found.value for found in requests(about, said, spec) if found.value is not None]
        assert values == pytest.approx([1.0] * len(values), abs=EXACT), name
        assert paid(about, said, spec) == pytest.approx(1.0 if values else 0.0, abs=EXACT), name
        weights = spec.weights(truth_of(about), asked)
        assert math.fsum(weights.values()) == pytest.approx(1.0 if weights else 0.0, abs=EXACT), name
        assert {slot.stage for slot in weights} <= asked, name


@FEW
@given(scored())
def test_a_correction_never_lowers_a_reward_and_silence_never_raises_it(pair: Played) -> None:
    about, said = pair
    nearer, quieter = list(corrected(about, said)), list(silenced(said))
    for name, spec in DENSE.items():
        if name == "pairwise_kendall_tau":
            continue  # a ranking may get worse by one pick that is right
        before = paid(about, said, spec)
        assert all(paid(about, less, spec) <= before + 1e-11 for less in quieter), name
        if name == "draft_binary_alignment_read":
            continue  # nobody knows the draft in which a reader finds exactly what was wanted
        assert all(paid(about, better, spec) >= before - 1e-11 for better in nearer), name


@FEW
@given(scored())
def test_the_steps_sum_to_the_total(pair: Played) -> None:
    for name, spec in DENSE.items():
        if spec.floor is not None:
            continue  # it is taken request by request
        assert paid(*pair, spec) == pytest.approx(total_of(*pair, spec), abs=close(spec)), name


def test_a_terminal_reward_differs_in_the_moment_of_payment_alone() -> None:
    about = conversation(turn(tags=[]), questions=wide(q2="clear"))
    for spec in (spec for spec in REWARDS.values() if not spec.dense):
        dense = next(other for other in DENSE.values() if other.terminal() == spec)
        assert list(requests(about, gold(about), spec)) == list(requests(about, gold(about), dense))


@FEW
@given(scored(full=True))
def test_the_canonical_reward_is_the_benchmarks_composite_where_every_turn_was_asked(pair: Played) -> None:
    about, said = pair
    spec, numbers = RewardSpec.preset("canonical"), [turn.turn_number for turn in about.turns]
    whole = prediction(*(said.turns.get(n, TurnPrediction(n)) for n in numbers), reflect=said.reflect)
    for found in (whole, prediction(*map(TurnPrediction, numbers))):
        expected = score_conversation(about, found)["composite_exact"] / 100
        assert paid(about, found, spec) == pytest.approx(expected, abs=EXACT)


def test_a_floor_bounds_what_an_unreadable_reply_costs_and_leaves_the_rest() -> None:
    about = conversation(turn(judgements=[judgement("B1", "yes", "yes")], tags=[]))
    said = Assess((), {"B1": "yes"}, {"B1": "yes"})
    skill, bounded = RewardSpec.preset("skill"), RewardSpec.preset("skill_bounded")
    # baselines: feelings .1643 and .4251, what was done .8178, what was wanted .8421; -n/(1 - n) is -.1965,
    # -.7394, -4.4893, -5.3344
    lost, unbounded = (score_request(about, "assess", 1, None, spec).value for spec in (bounded, skill))
    felt = 0.24 * -(0.1965 + 0.7394) / 2
    assert lost == pytest.approx((felt + 0.49 * -1.0) / (0.24 + 0.49), abs=1e-4)
    assert unbounded == pytest.approx((felt + 0.49 * -(4.4893 + 5.3344) / 2) / 0.73, abs=1e-3)
    assert score_request(about, "assess", 1, said, bounded).value == pytest.approx(1.0)
