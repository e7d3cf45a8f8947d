"""What holds of the strict Composite whatever is answered: being right pays, silence does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation
from attune_data.affect import NEGATIVE, POSITIVE
from attune_data.constants import BRANCHES
from attune_rewards import (
    Assess,
    ConversationPrediction,
    Prefer,
    Reflect,
    TurnPrediction,
    score_conversation,
)
from attune_rewards.truth import truth_of
from tests.rewards.builders import gold_reflect
from tests.rewards.strategies import scored

QUICK = settings(max_examples=50)


def strict(about: Conversation, said: ConversationPrediction) -> float:
    total: float | None = score_conversation(about, said)["composite_strict"]
    return -1.0 if total is None else total


def with_turn(said: ConversationPrediction, number: int, **stages: Any) -> ConversationPrediction:
    here = said.turns.get(number) or TurnPrediction(number)
    return replace(said, turns={**said.turns, number: replace(here, **stages)})


def without(mapping: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    return {k: v for k, v in mapping.items() if k != key}


def corrected(about: Conversation, said: ConversationPrediction) -> Iterator[ConversationPrediction]:
    """The prediction with one answer made right, for every answer in turn."""
    truth = truth_of(about)
    for here in truth.turns:
        mine = said.turns.get(here.turn) or TurnPrediction(here.turn)
        assess, picks = mine.assess or Assess(), (mine.prefer or Prefer()).picks
        if here.tags is not None:
            yield with_turn(said, here.turn, assess=replace(assess, tags=here.tags))
        for question, want in here.observed:
            yield with_turn(
                said, here.turn, assess=replace(assess, observed={**assess.observed, question: want})
            )
        for question, want in here.preferred:
            yield with_turn(
                said, here.turn, assess=replace(assess, preferred={**assess.preferred, question: want})
            )
        for index, winner in here.winners:
            yield with_turn(said, here.turn, prefer=Prefer({**picks, index: winner}))
    reflect, right = said.reflect or Reflect(), gold_reflect(truth)
    for field in ("q1", "q2", "q3", "q3_follow_up"):
        yield replace(said, reflect=replace(reflect, **{field: getattr(right, field)}))
    for names in (POSITIVE, NEGATIVE):
        side = {name: right.panas[name] for name in names}
        yield replace(said, reflect=replace(reflect, panas={**reflect.panas, **side}))
    for name in BRANCHES:
        yield replace(
            said, reflect=replace(reflect, branches={**reflect.branches, name: right.branches[name]})
        )


def silenced(said: ConversationPrediction) -> Iterator[ConversationPrediction]:
    """The prediction with one answer, one stage or one turn taken away, for each in turn."""
    for number, mine in said.turns.items():
        yield replace(said, turns=without(said.turns, number))
        if mine.assess is not None:
            assess = mine.assess
            yield with_turn(said, number, assess=None)
            yield with_turn(said, number, assess=replace(assess, tags=None))
            for q in assess.observed:
                yield with_turn(said, number, assess=replace(assess, observed=without(assess.observed, q)))
            for q in assess.preferred:
                yield with_turn(said, number, assess=replace(assess, preferred=without(assess.preferred, q)))
        if mine.prefer is not None:
            yield with_turn(said, number, prefer=None)
            for index in mine.prefer.picks:
                yield with_turn(said, number, prefer=Prefer(without(mine.prefer.picks, index)))
    if said.reflect is not None:
        reflect = said.reflect
        yield replace(said, reflect=None)
        for field in ("q1", "q2", "q3", "q3_follow_up"):
            nothing: dict[str, Any] = {field: None}
            yield replace(said, reflect=replace(reflect, **nothing))
        for name in list(reflect.panas)[:4]:
            yield replace(said, reflect=replace(reflect, panas=without(reflect.panas, name)))
        for name in reflect.branches:
            yield replace(said, reflect=replace(reflect, branches=without(reflect.branches, name)))


@QUICK
@given(scored())
def test_a_wrong_answer_made_right_never_lowers_the_strict_composite(
    pair: tuple[Conversation, ConversationPrediction],
) -> None:
    before = strict(*pair)
    for better in corrected(*pair):
        assert strict(pair[0], better) >= before - 1e-9


@QUICK
@given(scored())
def test_an_unanswered_item_never_beats_a_valid_answer_to_it(
    pair: tuple[Conversation, ConversationPrediction],
) -> None:
    answered = strict(*pair)
    for quieter in silenced(pair[1]):
        assert strict(pair[0], quieter) <= answered + 1e-9


@QUICK
@given(scored(), st.integers(0, 999))
def test_the_order_of_answers_does_not_move_any_score(
    pair: tuple[Conversation, ConversationPrediction], seed: int
) -> None:
    about, said = pair
    order = Random(seed).sample(list(said.turns), len(said.turns))
    other = replace(said, turns={number: said.turns[number] for number in order})
    assert score_conversation(about, other) == score_conversation(about, said)
