"""The state of a person: near the sample's figures, moved by replies, the same luck at the same place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

import pytest

from attune_data import load
from attune_episodes.people.cards import Card, plan
from attune_episodes.people.closing import closing, panas
from attune_episodes.people.state import (
    GIVES_IN,
    Read,
    State,
    feelings,
    first_state,
    fit,
    leaves,
    moved,
    wishes,
)
from attune_rewards.predictions import Tag, YesNo

CARDS = plan(600, 3)


def run(card: Card, read: Mapping[str, YesNo] | None) -> State:
    """The end of a conversation whose replies all did the same; None for all that was wanted."""
    state = first_state(card)
    while not leaves(card, state):
        tags = feelings(card, state)
        wanted = wishes(card, state, tags)
        got: Read = {q: a for q, a in wanted.items() if a != "na"} if read is None else read
        state = moved(card, state, tags, wanted, {"answers": "yes", "gives_in": "no", **got})
    return state


ENDS = [run(card, None) for card in CARDS]


@pytest.mark.parametrize(("count", "turns"), [(0, 29), (1, 11), (2, 37), (3, 20)])
def test_as_many_feelings_shift_as_in_the_sample(count: int, turns: int) -> None:
    found = Counter(len(past.tags) for state in ENDS for past in state.past)
    assert abs(found[count] / found.total() - turns / 97) < 0.04


def test_what_is_wanted_otherwise_than_it_is_is_near_the_sample() -> None:
    sample = [j for c in load("sample") for turn in c.turns for j in turn.judgements]
    for question in ("B1", "B3", "B6", "B8", "B11", "B12", "B13", "B19", "B206", "B310", "B501", "B505"):
        wants = [
            past.wishes.get(question) for card, s in zip(CARDS, ENDS, strict=True) for past in s.past
            if question in card.asked
        ]  # fmt: skip
        for observed, other in (("yes", "no"), ("no", "yes")):
            theirs = [
                j.preferred == other for j in sample if (j.question_id, j.observed) == (question, observed)
            ]
            if len(theirs) >= 20:
                assert abs(fmean(want == other for want in wants) - fmean(theirs)) < 0.16, question


def test_which_questions_apply_depends_on_the_place_alone() -> None:
    card = CARDS[0]
    first = first_state(card)
    one, two = Tag("Upset", 5), Tag("Proud", 4)
    for state in (first, moved(card, first, (one,), {}, {})):
        left_out = [
            {q for q, want in wishes(card, state, tags).items() if want == "na"}
            for tags in ((), (one,), (one, two))
        ]
        assert left_out[0] == left_out[1] == left_out[2] != set()


def test_replies_that_are_wanted_do_good_and_others_drive_people_away() -> None:
    bad = [run(card, dict.fromkeys(card.asked, "no")) for card in CARDS]
    for name in ("valence", "trust"):
        assert fmean(getattr(s, name) for s in ENDS) > fmean(getattr(s, name) for s in bad) + 0.3
    assert fmean(len(s.past) for s in ENDS) > fmean(len(s.past) for s in bad) + 1
    fits = [Counter(closing(c, s).fit for c, s in zip(CARDS, ends, strict=True)) for ends in (ENDS, bad)]
    assert fits[0]["very"] == len(CARDS)
    assert fits[1]["very"] == 0
    sides = [fmean(panas(c, s, "after")["Proud"] for c, s in zip(CARDS, e, strict=True)) for e in (ENDS, bad)]
    assert sides[0] > sides[1] + 0.5


def test_the_same_place_has_the_same_luck_whatever_was_replied() -> None:
    card = CARDS[1]
    state = first_state(card)
    past = moved(card, state, (), {}, {}).past
    assert feelings(card, replace(state, past=past)) == feelings(card, replace(state, past=past))
    assert feelings(card, state) != feelings(replace(card, seed=4), state)


def test_giving_in_to_somebody_who_presses_counts_against_the_conversation() -> None:
    card = next(card for card in CARDS if card.presses)
    end = run(card, None)
    gave = tuple(replace(past, read={**past.read, GIVES_IN: "yes"}) for past in end.past)
    assert closing(card, end).fit == "very"
    assert closing(card, replace(end, past=gave)).fit == "mixed"
    assert closing(replace(card, presses=""), replace(end, past=gave)).fit == "very"


def test_fit_is_the_share_of_wishes_met() -> None:
    assert fit({"B1": "yes", "B11": "no", "B5": "na"}, {"B1": "yes", "B11": "yes", "B5": "no"}) == 0.5
    assert fit({"B5": "na"}, {"B5": "yes"}) == 1.0
