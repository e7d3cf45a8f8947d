"""Neighbours of a whole prediction: one answer made right, one taken away, the same in another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from attune_data import Conversation
from attune_data.format.affect import NEGATIVE, POSITIVE
from attune_rewards import (
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Prefer,
    Reflect,
    TurnPrediction,
)
from attune_rewards.truth import TurnTruth, truth_of
from tests.rewards.builders import gold_reflect

QUESTIONS = ("q1", "q2", "q3", "q3_follow_up")


def with_turn(said: ConversationPrediction, number: int, **stages: Any) -> ConversationPrediction:
    here = said.turns.get(number) or TurnPrediction(number)
    return replace(said, turns={**said.turns, number: replace(here, **stages)})


def without(mapping: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    return {k: v for k, v in mapping.items() if k != key}


# --- made right -----------------------------------------------------------------------------------------


def corrected(about: Conversation, said: ConversationPrediction) -> Iterator[ConversationPrediction]:
    """The prediction with one answer made right, for everything that is annotated in turn."""
    truth = truth_of(about)
    for here in truth.turns:
        mine = said.turns.get(here.turn) or TurnPrediction(here.turn)
        for stages in _corrected_turn(here, mine):
            yield with_turn(said, here.turn, **stages)
    reflect, right = said.reflect or Reflect(), gold_reflect(truth)
    for field in QUESTIONS:
        if getattr(truth, field) is not None:
            yield replace(said, reflect=replace(reflect, **{field: getattr(right, field)}))
    for names, total in zip((POSITIVE, NEGATIVE), truth.post_totals, strict=True):
        if total is not None:
            side = {name: right.panas[name] for name in names}
            yield replace(said, reflect=replace(reflect, panas={**reflect.panas, **side}))
    for name, want in truth.branches.items():
        yield replace(said, reflect=replace(reflect, branches={**reflect.branches, name: want}))


def _corrected_turn(here: TurnTruth, mine: TurnPrediction) -> Iterator[dict[str, Any]]:
    human = here.responses["human"]
    if human and human.split():
        yield {"draft": Draft(human)}
    assess, again, picks = mine.assess or Assess(), mine.assess_hp or AssessHP(), mine.prefer or Prefer()
    if here.tags is not None:
        yield {"assess": replace(assess, tags=here.tags)}
    for side in ("observed", "preferred"):
        for question, want in getattr(here, side):
            first: dict[str, Any] = {side: {**getattr(assess, side), question: want}}
            second: dict[str, Any] = {side: {**getattr(again, side), question: want}}
            yield {"assess": replace(assess, **first)}
            yield {"assess_hp": replace(again, **second)}
    for index, winner in here.winners:
        yield {"prefer": Prefer({**picks.picks, index: winner})}


# --- taken away -------------------------------------------------------------------------------------------


def silenced(said: ConversationPrediction) -> Iterator[ConversationPrediction]:
    """The prediction with one answer, one stage or one turn taken away, for each in turn."""
    for number, mine in said.turns.items():
        yield replace(said, turns=without(said.turns, number))
        for stages in _silenced_turn(mine):
            yield with_turn(said, number, **stages)
    if said.reflect is not None:
        reflect = said.reflect
        yield replace(said, reflect=None)
        for field in QUESTIONS:
            nothing: dict[str, Any] = {field: None}
            yield replace(said, reflect=replace(reflect, **nothing))
        for name in list(reflect.panas)[:4]:
            yield replace(said, reflect=replace(reflect, panas=without(reflect.panas, name)))
        for name in reflect.branches:
            yield replace(said, reflect=replace(reflect, branches=without(reflect.branches, name)))


def _silenced_turn(mine: TurnPrediction) -> Iterator[dict[str, Any]]:
    for stage in ("draft", "assess", "assess_hp", "prefer"):
        if getattr(mine, stage) is not None:
            yield {stage: None}
    if mine.assess is not None:
        yield {"assess": replace(mine.assess, tags=None)}
    for stage in ("assess", "assess_hp"):
        answers = getattr(mine, stage)
        for side in ("observed", "preferred") if answers is not None else ():
            given = getattr(answers, side)
            for question in given:
                yield {stage: replace(answers, **{side: without(given, question)})}
    for index in mine.prefer.picks if mine.prefer else ():
        yield {"prefer": Prefer(without(mine.prefer.picks if mine.prefer else {}, index))}


# --- the same, told otherwise ---------------------------------------------------------------------------
