"""The part `draft_alignment`: what is capped, and where the reader `fitted` may pay."""

from __future__ import annotations

import pytest

from attune_data import load
from attune_data.errors import DataError
from attune_rewards.predictions import YesNo
from attune_rewards.reading import Exchange, reader
from attune_rewards.reward.alignment import HOLDS, alignment, draft_alignment
from attune_rewards.truth import truth_of


def test_a_reply_that_gives_in_or_repeats_the_message_earns_nothing_above_the_constant() -> None:
    wanted: list[tuple[str, YesNo]] = [("B3", "yes"), ("B14", "yes")]
    met = {"B3": "yes", "B14": "yes"}
    own, copied = (
        Exchange("I will not pay him.", "Then do not."),
        Exchange("I will not pay.", "I will not pay."),
    )
    assert alignment(own, wanted, met, 0.8) == 1.0
    assert alignment(own, wanted, {**met, "gives_in": "yes"}, 0.8) == 0.8
    assert alignment(own, wanted, {**met, "answers": "no"}, 0.8) == 0.8
    assert alignment(copied, wanted, met, 0.8) == 0.8


def test_fitted_pays_where_it_reads_real_conversations_well() -> None:
    turns = [turn for one in load("sample") for turn in truth_of(one).turns]
    said = [
        (
            dict(turn.observed),
            reader().read(Exchange(turn.message, turn.responses["original"] or "", turn.history)),
        )
        for turn in turns
    ]
    for question in HOLDS:
        right = {"yes": list[bool](), "no": list[bool]()}
        for observed, read in said:
            if question in observed:
                right[observed[question]].append(read[question] == observed[question])
        assert min(map(len, right.values())) >= 10
        assert sum(sum(found) / len(found) for found in right.values()) / 2 >= 0.8, question


def test_it_measures_from_the_best_constant_and_says_where_nothing_is_wanted() -> None:
    reward = draft_alignment(load("sample"))
    assert 0.5 < reward.baselines["draft_alignment"] < 1
    assert reward.transform("draft_alignment", reward.baselines["draft_alignment"]) == 0
    with pytest.raises(DataError, match="nothing that recorded reads"):
        draft_alignment(load("sample"), {})
