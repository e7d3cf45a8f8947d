"""Structured actions, typed predictions and JSON say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.error import InvalidAction
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data.format.constants import BINARY_IDS, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import Settings, Unparsed, parse, render
from attune_episodes.frameworks.gymnasium.actions import no_answer, read_action, read_structured, to_action
from attune_episodes.frameworks.gymnasium.spaces import FIELDS_OF, action_space
from attune_rewards import STAGES, Assess, AssessHP, Draft, Prefer, Reflect, Stage, Tag
from tests.play.builders import request_of

STAGE = st.sampled_from(STAGES)
CHANGES = Settings(panas_strategy="delta")
UNICODE = ("yalnız 😢", "אני עייף", "3", "99", "it felt generic", "\ud83d", "  ", "x" * 3000)


@st.composite
def actions(draw: st.DrawFn, *, changes: bool = False) -> dict[str, Any]:
    """Any action of the space, now and then with few answers or with odd texts."""
    space = action_space(changes=changes, hp=True)
    space.seed(draw(st.integers(0, 2**20)))
    action: dict[str, Any] = space.sample()
    if draw(st.booleans()):
        keep = draw(st.integers(0, 3))
        drop = np.random.default_rng(draw(st.integers(0, 2**20)))
        for name, value in action.items():
            if isinstance(value, np.ndarray):
                action[name] = (value * (drop.integers(0, 4, value.shape) < keep)).astype(np.int8)
    lines = draw(st.none() | st.lists(st.sampled_from(UNICODE) | st.text(max_size=8), max_size=4))
    if lines is not None:
        action["draft"] = action["follow_up"] = "\n".join(lines)
    return action


def slots(field: str, values: dict[int, int], **others: Any) -> dict[str, Any]:
    """The action that answers one field, slot -> value, and others."""
    action = no_answer(hp=True) | others
    for slot, value in values.items():
        action[field][slot] = value
    return action


OPTION = request_of("reflect").options["q3_followUp_whatFeltOff"][2]
WORKED: list[tuple[Stage, dict[str, Any], Any]] = [
    ("assess", no_answer(), Assess()),
    ("assess_hp", no_answer(hp=True), AssessHP()),
    ("prefer", no_answer(), Prefer()),
    ("reflect", no_answer(), Reflect()),
    ("draft", no_answer(), Unparsed("empty")),
    ("assess", slots("emotions", {1: 5, 19: 1}), Assess((Tag("Irritable", 5), Tag("Interested", 1)))),
    # B1 yes, B2 no; B6 is not asked
    ("assess", slots("observed", {0: 2, 1: 1, 5: 2}), Assess(observed={"B1": "yes", "B2": "no"})),
    ("assess", slots("preferred", {12: 1}), Assess(preferred={"B13": "no"})),
    ("assess", slots("none", {0: 1}), Assess(())),
    # none counts only beside an empty answer
    ("assess", slots("none", {0: 1, 1: 1}, emotions=[3] + [0] * 19), Assess((Tag("Proud", 3),))),
    ("assess_hp", slots("preferred_hp", {0: 1}), AssessHP(preferred={"B1": "no"})),
    ("assess_hp", slots("preferred", {0: 1}), AssessHP()),
    ("reflect", slots("panas", {0: 7}), Reflect(panas={"Proud": 7})),
    ("reflect", slots("branches", {3: 2}), Reflect(branches={"managing": 2})),
    ("reflect", slots("q1", {0: 1, 6: 1}), Reflect(q1=(Q1_OPTIONS[0], Q1_OPTIONS[6]))),
    ("reflect", no_answer() | {"q2": 1, "q3": np.int64(4)}, Reflect(q2=Q2_OPTIONS[0], q3=Q3_OPTIONS[3])),
    ("reflect", slots("none", {1: 1, 2: 1}), Reflect(q1=(), q3_follow_up=())),
    (
        "reflect",
        no_answer() | {"follow_up": "It was cold.\n\n  3 \nאני עייף\n"},
        Reflect(q3_follow_up=("It was cold.", OPTION, "אני עייף")),
    ),
    ("draft", no_answer() | {"draft": ' {"draft": "x"} 😢\n'}, Draft('{"draft": "x"} 😢')),
    # fields of other stages are not looked at
    ("reflect", no_answer() | {"picks": "no array", "emotions": None}, Reflect()),
]


@pytest.mark.parametrize(("stage", "action", "said"), WORKED)
def test_each_field_by_hand(stage: Stage, action: dict[str, Any], said: Any) -> None:
    assert read_structured(request_of(stage), action) == said


@settings(deadline=None, max_examples=40)
@given(stage=STAGE, action=actions(), changed=actions(changes=True))
def test_structured_to_typed_to_json_and_to_structured_lose_nothing(
    stage: Stage, action: Any, changed: Any
) -> None:
    for request, given_ in ((request_of(stage), action), (request_of(stage, CHANGES), changed)):
        said = read_structured(request, given_)
        if isinstance(said, Unparsed):
            assert stage == "draft"
            assert not given_["draft"].strip()
            continue
        written = render(request, said)
        assert parse(request, written) == (said if written != "{}" else Unparsed("no_fields"))
        again = to_action([(request, said)], hp=True)
        assert read_structured(request, again) == said
        for name in set(FIELDS_OF[stage]) - {"draft", "follow_up", "none"}:
            counts = np.asarray(given_[name]).copy()
            if name.startswith(("observed", "preferred")):
                counts *= np.isin(BINARY_IDS, request.questions).astype(np.int8)
            assert np.array_equal(again[name], counts), name


def test_what_the_projection_cannot_hold_is_what_is_stated() -> None:
    request, end = request_of("assess"), request_of("reflect")
    tags = (Tag("Proud", 3), Tag("Proud", 7), Tag("Upset"), Tag("wistful", 4))
    own = Reflect(q1=("my own",), q2="unsure", q3=Q3_OPTIONS[1], q3_follow_up=("a\nb", "7 of 9"))
    for asked, said, kept in (
        (request, Assess(tags, reasoning="so"), Assess((Tag("Proud", 3), Tag("Upset", 4)))),
        (request, Assess((Tag("wistful", 4),)), Assess()),
        # B999 is asked there, but not among the 36
        (request, Assess(observed={"B999": "yes", "B1": "yes"}), Assess(observed={"B1": "yes"})),
        (end, own, Reflect(q3=Q3_OPTIONS[1], q3_follow_up=("a b", "7 of 9"))),
    ):
        assert read_structured(asked, to_action([(asked, said)])) == kept


BAD: list[tuple[Stage, Any, str]] = [
    ("assess", {}, r"has no field 'emotions'.*expected branches, draft"),
    ("assess", {"emotions": [0] * 19}, r"action\['emotions'\] is .* \(list\); expected 20 whole numbers"),
    ("assess", {"emotions": np.zeros((20, 8))}, r"ndarray of shape \(20, 8\)"),
    ("assess", {"emotions": np.full(20, 0.5)}, "expected 20 whole numbers"),
    ("assess", {"emotions": np.full(20, 1.0)}, "expected 20 whole numbers"),
    ("assess", {"emotions": np.full(20, np.nan)}, "expected 20 whole numbers"),
    ("assess", {"emotions": np.full(20, 8, np.int8)}, "from 0 to 7"),
    ("assess", {"emotions": np.full(20, -1, np.int8)}, "from 0 to 7"),
    ("assess", {"emotions": np.full(20, 256)}, "from 0 to 7"),
    ("assess", {"emotions": "Upset"}, "(str)"),
    ("assess", {"emotions": [[1], [1, 2]]}, "expected 20 whole numbers"),
    ("assess", {"observed": np.full(36, 3, np.int8)}, r"action\['observed'\].*from 0 to 2"),
    ("assess", {"none": np.full(3, 2, np.int8)}, r"action\['none'\].*from 0 to 1"),
    ("assess_hp", {"observed_hp": None}, r"action\['observed_hp'\] is null"),
    ("prefer", {"picks": np.full(12, 3, np.int8)}, r"action\['picks'\].*12 whole numbers from 0 to 2"),
    # another kind of array with as many bytes
    ("prefer", {"picks": np.array([1, 2, 1], np.int32)}, r"action\['picks'\]"),
    ("prefer", {"picks": np.zeros((3, 4), np.int8)}, r"action\['picks'\]"),
    ("prefer", {"picks": np.int8(1)}, r"action\['picks'\]"),
    ("reflect", {"panas": np.full(20, 8, np.int8)}, r"action\['panas'\].*from 0 to 7"),
    ("reflect", {"q2": 5}, r"action\['q2'\] is 5 \(int\); expected a whole number from 0 to 4"),
    ("reflect", {"q2": -1}, r"action\['q2'\]"),
    ("reflect", {"q2": [1, 2]}, r"action\['q2'\]"),
    ("reflect", {"q3": 1.0}, r"action\['q3'\]"),
    ("reflect", {"q3": "2"}, r"action\['q3'\]"),
    ("reflect", {"follow_up": ["cold"]}, r"action\['follow_up'\].*expected a text"),
    ("draft", {"draft": 3}, r"action\['draft'\] is 3 \(int\); expected a text"),
]


@pytest.mark.parametrize(("stage", "wrong", "message"), BAD)
def test_a_wrong_action_is_named_with_what_was_found_and_expected(
    stage: Stage, wrong: Any, message: str
) -> None:
    with pytest.raises(InvalidAction, match=message):
        read_structured(request_of(stage), {**no_answer(hp=True), **wrong} if wrong else wrong)


@pytest.mark.parametrize("wrong", [None, 3, b"{}"])
def test_what_is_no_action_at_all_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidAction, match="stage assess expects a structured action, a text or Assess"):
        read_action([request_of("assess")], wrong)
