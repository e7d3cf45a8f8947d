"""What silence pays: something under the canonical reading, nothing under the strict one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from attune_data import Conversation, load
from attune_env.testing import filler
from attune_rewards import ConversationPrediction, Prefer, Reflect, Tag, TurnPrediction, score_conversation
from attune_rewards.truth import truth_of
from tests.audit.silence import UNANNOTATED, UNANSWERED, without
from tests.rewards.builders import comparison, conversation, judgement, panas, turn, wide
from tests.rewards.strategies import scored

LEAVES_OF = {
    "judgements": {"binary_om", "binary_hp"},
    "comparisons": {"pairwise"},
    "a PANAS that moved": {"panas_pa", "panas_na"},
    "branch scores": {"branch_perceiving", "branch_facilitating", "branch_understanding", "branch_managing"},
    "Q1–Q3 and the follow-up": {"q1", "q2", "q3", "q3_follow_up"},
}


@pytest.mark.slow
@pytest.mark.parametrize("what", UNANSWERED)
def test_leaving_an_answer_out_never_pays_under_strict(what: str) -> None:
    @settings(max_examples=25)
    @given(scored())
    def check(pair: tuple[Conversation, ConversationPrediction]) -> None:
        about, said = pair
        before, after = (
            score_conversation(about, one)["composite_strict"] for one in (said, UNANSWERED[what](said))
        )
        if before is not None:
            assert after <= before + 1e-9
            assert after >= 0

    check()


@pytest.mark.parametrize("what", UNANNOTATED)
def test_what_is_not_annotated_is_not_scored_and_the_rest_stays_as_it_is(what: str) -> None:
    for about in (*load("sample")[:5], *filler(5, seed=8)):
        holed = without(about, what)
        said = ConversationPrediction(about.conversation_id, {}, Reflect(q1=(), q3_follow_up=()))
        whole, rest = (score_conversation(one, said)["strict_parts"] for one in (about, holed))
        assert {leaf: rest[leaf] for leaf in rest} == {
            leaf: value for leaf, value in whole.items() if leaf not in LEAVES_OF[what]
        }
        assert truth_of(about) != truth_of(holed)


@pytest.mark.slow
@pytest.mark.parametrize("what", UNANNOTATED)
def test_a_silent_model_gains_by_missing_annotations_only_under_canonical(what: str) -> None:
    canonical = []
    for about in load("sample"):
        turns = {one.turn_number: TurnPrediction(one.turn_number) for one in about.turns}
        silent = ConversationPrediction(about.conversation_id, turns)
        whole, holed = (score_conversation(one, silent) for one in (about, without(about, what)))
        assert whole["composite_strict"] == holed["composite_strict"] == 0
        canonical.append(holed["composite_exact"] - whole["composite_exact"])
    assert min(canonical) >= -1e-9
    gain = math.fsum(canonical) / len(canonical)
    # an unanswered PANAS earns its half whether it moved or not
    assert (gain == 0) if what == "a PANAS that moved" else gain > 0.5


def test_the_arithmetic_of_one_silent_turn() -> None:
    """One turn: Upset; B1 observed and preferred no; one comparison won by A; PANAS moved; branches 4.

    Canonical silence: F1 = VA = 0; both binaries right (no answer is "no"): 1; pairwise 0; PANAS ½; Q1 0
    (something was chosen), Q2 and Q3 0, follow-up 1 (both empty); branches 1 (4 is what is missing).
    Composite 100 × (.24 × 0 + .49 × (½ × 1 + ½ × 0) + .27 × (.4 × ½ + .3 × ¼ + .3 × 1)) = 24.5 + 15.525.
    """
    about = conversation(
        turn(1, tags=[Tag("Upset", 4)], judgements=[judgement("B1", "no", "no")],
             comparisons=[comparison("original", "human", "A")]),
        pre=panas({"Proud": 2}, (20, 20)),
        post=panas({"Proud": 5}, (23, 20)),
        questions=wide(["Other"], "Implied or indirect", "Mostly well-matched", [],
                       dict.fromkeys(("perceiving", "facilitating", "understanding", "managing"), 4)),
    )  # fmt: skip
    silent = ConversationPrediction(about.conversation_id, {1: TurnPrediction(1)})
    found = score_conversation(about, silent)
    assert found["composite_exact"] == pytest.approx(24.5 + 15.525, abs=1e-9)
    assert found["composite_strict"] == 0
    # with every pick wrong instead of none nothing is lost under either reading
    wrong = ConversationPrediction(about.conversation_id, {1: TurnPrediction(1, prefer=Prefer({0: "B"}))})
    assert score_conversation(about, wrong)["composite_exact"] == pytest.approx(40.025, abs=1e-9)
