"""`surface`: what it picks and tags, its features and weights worked by hand, and on whom they are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Any

import numpy as np
import pytest

from attune_data import Conversation
from attune_data.format.constants import Side
from attune_episodes import Settings, builtin_policy, plan
from attune_episodes.policies.asked import AskedPlayer, AskedRules, Split
from attune_episodes.policies.constant import Answers
from attune_episodes.policies.surface import SurfacePlayer, fit_picks, looks
from attune_rewards import Assess, Prefer, Tag
from tests.rewards.builders import comparison, conversation, turn

OFFICIAL = Settings(labels="official")
ASKED = AskedPlayer(
    # the first single tag if B1 is asked, else none
    Answers(side="A", otherwise="no"),
    AskedRules(Split("B1", 1, 0), {}),
)
TEXTS = ("Aha, you?", "Oh.", "Yes! You do.")
PAIRS = [("original", "alternate"), ("human", "original"), ("alternate", "human")]


def picking(winners: Sequence[Side | None], who: str = "P01") -> Conversation:
    """Comparisons of "ab?" and "ab!", shown first and second in turn, with these winners."""
    sides = [("alternate", "human"), ("human", "alternate")]
    shown = [
        comparison(*sides[number % 2], winner=winner, question=f"q{number}")
        for number, winner in enumerate(winners)
    ]
    record = conversation(turn(1, comparisons=shown, texts=("other", "ab?", "ab!"))).to_record()
    return Conversation.model_validate(
        record | {"conversationId": f"of {who}", "participant_profile": {"participant_id": who}}
    )


def test_looks_worked_by_hand() -> None:
    about = conversation(turn(1, comparisons=[comparison(*pair) for pair in PAIRS], texts=TEXTS))
    (request,) = (one for one in plan(about) if one.stage == "prefer")
    # recorded, ln(1 + characters), characters per word, "you", ?, !, full stops, commas
    assert looks(request, "Aha, you?").tolist() == [1, pytest.approx(log(10)), 3, 1, 1, 0, 0, 1]
    assert looks(request, "Oh.").tolist() == [0, pytest.approx(log(4)), 2, 0, 0, 0, 1, 0]
    want = [0, pytest.approx(log(13)), pytest.approx(8 / 3), 1, 0, 1, 1, 0]
    assert looks(request, "Yes! You do.").tolist() == want
    assert looks(request, "").tolist() == [0] * 8


@pytest.mark.parametrize("seed", range(4))
def test_picks_worked_by_hand(seed: int) -> None:
    about = conversation(turn(1, comparisons=[comparison(*pair) for pair in PAIRS], texts=TEXTS))
    (request,) = (one for one in plan(about, Settings(seed=seed)) if one.stage == "prefer")
    weights = np.array([-1, 0, 0, 2, 0, -3, 0, 0.5])
    # original -1 + 2 + .5 = 1.5, alternate 0, human 2 - 3 = -1; the frame is the conversation's
    assert SurfacePlayer(ASKED, weights).prediction(request) == Prefer({0: "A", 1: "B", 2: "A"})
    assert SurfacePlayer(ASKED, -weights).prediction(request) == Prefer({0: "B", 1: "A", 2: "B"})


@pytest.mark.parametrize(("message", "tags"), [
    ("UPSET, and proud of it!", ("Proud", "Upset")),
    ("nothing that has a name", None),
])  # fmt: skip
def test_tags_are_the_feelings_that_a_message_names_and_else_those_of_asked(message: str, tags: Any) -> None:
    record = turn(1, judgements=[{"questionId": "B1", "observedBehavior": "yes"}])
    about = conversation(record | {"userMessage": message})
    (request,) = (one for one in plan(about) if one.stage == "assess")
    said, theirs = (player.prediction(request) for player in (SurfacePlayer(ASKED, np.zeros(8)), ASKED))
    assert isinstance(said, Assess)
    assert isinstance(theirs, Assess)
    assert len(theirs.tags or ()) == 1
    assert said.tags == (tuple(Tag(name, 4) for name in tags) if tags else theirs.tags)
    assert (said.observed, said.preferred) == (theirs.observed, theirs.preferred)


def test_weights_worked_by_hand() -> None:
    # "ab?" wins as A, then as B: rows (+1, -1) for ?, !, labelled 1, and (-1, +1), labelled 0; both columns
    # have standard deviation 1. By symmetry the weights are (v, -v), the margin of each row 2v in favour, and
    # the slope 2 (1 - 1/(1 + e^-2v)) - v is 0 at the optimum: at v = .5 it is .038, at v = .53 -.013
    found = fit_picks([picking(["A", "B"])], OFFICIAL)
    v = found[4]
    assert found.tolist() == [0, 0, 0, 0, v, pytest.approx(-v), 0, 0]
    assert 0.5 < v < 0.53
    assert 2 * (1 - 1 / (1 + exp(-2 * v))) == pytest.approx(v, abs=1e-12)


def test_one_comparison_fits_weights_too() -> None:
    # the rows of one comparison do not vary, so they stay as they are: (1, -1), labelled 1; the slope is
    # 1 - 1/(1 + e^-2v) - v
    found = fit_picks([picking(["A"])], OFFICIAL)
    v = found[4]
    assert found.tolist() == [0, 0, 0, 0, v, pytest.approx(-v), 0, 0]
    assert 1 - 1 / (1 + exp(-2 * v)) == pytest.approx(v, abs=1e-12)
    assert 0 < v < 0.5


def test_comparisons_without_a_winner_fit_nothing() -> None:
    assert (
        fit_picks([], OFFICIAL).tolist() == fit_picks([picking([None, None])], OFFICIAL).tolist() == [0] * 8
    )
    more = fit_picks([picking(["A", "B", None, None])], OFFICIAL)
    assert more.tolist() == fit_picks([picking(["A", "B"])], OFFICIAL).tolist()


@pytest.mark.parametrize("own", [["A", "B"], ["B", "A"]])
def test_each_participants_picks_are_fitted_on_the_others(own: list[Side]) -> None:
    anna, ben = picking(own, "Anna"), picking(["A", "B"], "Ben")  # Ben prefers "ab?" whatever Anna does
    player = builtin_policy("surface", [anna, ben], OFFICIAL).for_conversation(anna)
    picks = [player.prediction(request) for request in plan(anna, OFFICIAL) if request.stage == "prefer"]
    assert picks == [Prefer({0: "A", 1: "B"})]
