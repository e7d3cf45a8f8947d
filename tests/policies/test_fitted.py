"""`mode`, `prior`, `asked` and `surface`: what they answer, worked by hand, and on whom they are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings

from attune_data import Conversation, SettingsError, load
from attune_data.format.constants import Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import Settings, builtin_policy, plan, rollout
from attune_episodes.play.policy import prepared
from attune_episodes.policies import FITTED
from attune_episodes.policies.constant import PanasGuess
from attune_episodes.policies.fitted import fit_mode, fit_prior
from attune_rewards import Tag
from attune_rewards.metrics.tree import LEAVES
from tests.protocol.leaks import answered_otherwise
from tests.rewards.builders import comparison, judgement, panas, summing, turn, wide
from tests.rewards.strategies import conversations

OFFICIAL = Settings(labels="official")
VENT, SORT, THINK = Q1_OPTIONS[:3]


def person(who: str, *turns: Any, pre: Any = None, post: Any = None, questions: Any = None) -> Conversation:
    return Conversation.model_validate({
        "conversationId": f"conversation of {who}",
        "provenance": "own",
        "participant_profile": {"participant_id": who},
        "prePanas": pre,
        "postPanas": post,
        "conversationWideQuestions": questions,
        "turns": list(turns) or [turn()],
    })  # fmt: skip


def asked(*pairs: tuple[str, Any, Any]) -> list[dict[str, Any]]:
    return [judgement(*pair) for pair in pairs]


ANNA = person(
    "Anna",
    turn(1, tags=[Tag("Upset", 6)], judgements=asked(("B1", "yes", "no")),
         comparisons=[comparison(winner="B")]),
    turn(2, tags=[], judgements=asked(("B1", "yes", "na"), ("B2", "no", "yes"))),
    pre=panas(summing(30, 40)), post=panas(summing(36, 30)),  # +6, -10
    questions=wide([VENT], Q2_OPTIONS[1], Q3_OPTIONS[0], [], {"perceiving": 7, "managing": 2}),
)  # fmt: skip
BEN = person(
    "Ben",
    turn(1, tags=[Tag("Upset", 2), Tag("Nervous", 6)], judgements=asked(("B1", "no", "no")),
         comparisons=[comparison(winner="B"), comparison(winner="A")]),
    pre=panas(summing(20, 20)), post=panas(summing(26, 20)),  # +6, unmoved
    questions=wide([VENT, SORT], Q2_OPTIONS[1], Q3_OPTIONS[3], ["Too long"], {"perceiving": 5}),
)  # fmt: skip
CLEO = person(
    "Cleo",
    turn(1, tags=[Tag("Upset", 6)], comparisons=[comparison(winner="B")]),
    pre=panas(summing(50, 20)), post=panas(summing(50, 26)),  # unmoved, +6
    questions=wide([SORT], Q2_OPTIONS[0], Q3_OPTIONS[3], ["Too long"], {"perceiving": 6}),
)  # fmt: skip
DATA = [ANNA, BEN, CLEO]


def test_prior_worked_by_hand() -> None:
    said = fit_prior(DATA, OFFICIAL)
    # tags, mean F1 over turns then conversations: Upset: Anna (1 + 0)/2, Ben 2/3, Cleo 1 -> 13/6 in all;
    # (): 1/2; Upset and Nervous: Anna 1/3, Ben 1, Cleo 2/3 -> 2; and VA: Upset 1/2 + 1/2 + 1 = 2,
    # the pair 1/4 + 1 + 1/2 = 7/4: Upset alone is best on both
    assert said.tags == (Tag("Upset", 4),)
    # observed B1: Anna turn 1 alone +1/2; turn 2, one of two questions, +1/4; Ben -1: "no" by 1/4
    # although two of three answers are yes; B2: no
    assert said.observed == {"B1": "no", "B2": "no"}
    # preferred: `na` is no truth, so B1 is no, no; B2 yes
    assert said.preferred == {"B1": "no", "B2": "yes"}
    assert said.otherwise == "no"
    # as shown = as it stands with official labels: B wins 3 of 4
    assert said.side == "B"
    # positive moved for Anna 30 -> 36 and Ben 20 -> 26: +6 is right for both, earning 1 each.
    # negative: Anna 40 -> 30, Cleo 20 -> 26. A constant total t earns Anna (10 - |30 - t|)/10 and Cleo
    # (6 - |26 - t|)/6, t = 26: .6 + 1 = 1.6, t = 27: .7 + 5/6 < 1.6, beyond 0 + ...; a change c earns
    # Anna (10 - |-10 - c|)/10 and Cleo (6 - |6 - c|)/6, clamped at -1: at c = 6 -.6 + 1, at c = -10
    # 1 - 1, at c = 0 0 + 0: less
    assert said.panas == (PanasGuess(change=6), PanasGuess(total=26))
    # Jaccard in all: {vent} 1 + 1/2 + 0; {sort} 0 + 1/2 + 1; {vent, sort} 1/2 + 1 + 1/2 = 2
    assert said.q1 == (VENT, SORT)
    assert (said.q2, said.q3) == (Q2_OPTIONS[1], Q3_OPTIONS[3])
    assert said.q3_follow_up == ("Too long",)  # right for two of three
    # perceiving 7, 5, 6: the median; managing 2; nothing known of the others: the middle
    assert said.branches == {"perceiving": 6, "facilitating": 4, "understanding": 4, "managing": 2}


def test_mode_worked_by_hand() -> None:
    said = fit_mode(DATA, OFFICIAL)
    assert said.tags == (Tag("Upset", 6),)  # two of four turns; intensities 6, 2, 6, 6
    assert said.observed == {"B1": "yes", "B2": "no"}  # B1: yes, yes, no
    assert said.preferred == {"B1": "no", "B2": "yes"}
    assert said.side == "B"
    # positive items: Anna 36 = 4 x 6 + 3 x 4, Ben 26 = 3 x 6 + 2 x 4, Cleo 50 = all 5: no item has a
    # majority, so the smallest of each: 3 x 6 + 2 x 4 = 26; negative: Anna 30 = all 3, Ben 20 = all 2,
    # Cleo 26 = 3 x 6 + 2 x 4: six items 3, 2, 3 -> 3 and four 3, 2, 2 -> 2: 18 + 8 = 26
    assert said.panas == (PanasGuess(total=26), PanasGuess(total=26))
    assert (said.q2, said.q3) == (Q2_OPTIONS[1], Q3_OPTIONS[3])
    assert said.q3_follow_up == ("Too long",)
    assert said.branches["managing"] == 2


@pytest.mark.parametrize("strategy", ["absolute", "delta", "blind_delta"])
@pytest.mark.parametrize("data", [load("sample"), DATA], ids=["sample", "by hand"])
def test_prior_is_at_least_as_good_as_mode_and_the_constants_on_every_leaf_it_is_fitted_on(
    data: Sequence[Conversation], strategy: Any
) -> None:
    asked_so = Settings(panas_strategy=strategy)

    def means(name: str) -> dict[str, float]:
        policy = builtin_policy(name, data, asked_so, fit_on=data)  # fitted on the very data it plays
        values: dict[str, list[float]] = {}
        for about in data:
            for leaf, value in rollout(about, policy, asked_so).parts.items():
                values.setdefault(leaf, []).append(value)
        found = {leaf: fmean(values[leaf]) for leaf in values}
        # the two emotion leaves share one answer: their sum is what is fitted
        return found | {"emotion": found["emotion_f1"] + found["emotion_va"]}

    prior = means("prior")
    assert {*prior, "branch_facilitating", "branch_understanding"} == {*LEAVES, "emotion"}  # unknown by hand
    for other in ("mode", "empty", "always-yes", "always-no"):
        theirs = means(other)
        for leaf in prior.keys() - {"emotion_f1", "emotion_va"}:
            assert prior[leaf] >= theirs[leaf] - 1e-12, (other, leaf)


def answers_of(name: str, data: Sequence[Conversation], about: Conversation) -> list[Any]:
    player = prepared(builtin_policy(name, data), about)
    return [player.reply(request) for request in plan(about)]


@pytest.mark.slow
@pytest.mark.parametrize("name", FITTED)
def test_answers_do_not_depend_on_the_scored_participants_own_annotations(name: str) -> None:
    data = list(load("sample"))
    for who in ("P01", "P17"):  # the first owns two conversations
        theirs = [about for about in data if about.participant == who]
        assert len(theirs) == (1 if who == "P17" else 2)
        other = [answered_otherwise(about) if about.participant == who else about for about in data]
        for about in theirs:
            assert answers_of(name, other, about) == answers_of(name, data, about)


@pytest.mark.parametrize("name", FITTED)
def test_one_participant_alone_needs_fitting_data(name: str) -> None:
    alone = [ANNA, Conversation.model_validate(ANNA.to_record() | {"conversationId": "another of Anna"})]
    for data in (alone, alone[:1], []):
        with pytest.raises(
            SettingsError, match=r"participants other than those.*--fit PATH, or --fit sample"
        ):
            builtin_policy(name, data)
    fitted = builtin_policy(name, alone, fit_on=load("sample"))
    assert rollout(ANNA, fitted).parse_rate == 1


@pytest.mark.parametrize("name", FITTED)
def test_two_participants_are_fitted_on_each_other(name: str) -> None:
    for about, other in ((ANNA, BEN), (BEN, ANNA)):
        want = prepared(builtin_policy(name, [], fit_on=[other]), about)
        assert answers_of(name, [ANNA, BEN], about) == [want.reply(request) for request in plan(about)]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(first=conversations(), second=conversations())
def test_fitting_takes_any_annotations(first: Conversation, second: Conversation) -> None:
    second = Conversation.model_validate(second.to_record() | {"conversationId": "c2"})
    for name in FITTED:
        policy = builtin_policy(name, [first, second])
        assert rollout(first, policy).parse_rate == rollout(second, policy).parse_rate == 1
