"""Flat actions, typed predictions and JSON say the same; quick scores are the engine's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.error import InvalidAction
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, load
from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_data.simulate import simulate
from attune_episodes import Request, Settings, Unparsed, parse, plan, render
from attune_episodes.gymnasium_envs.codec import FlatReader
from attune_episodes.gymnasium_envs.projection import no_answer, to_flat
from attune_episodes.gymnasium_envs.quick import quick_scorer
from attune_episodes.gymnasium_envs.spaces import FIELDS_OF, action_space
from attune_episodes.settings import PANAS_STRATEGIES
from attune_rewards import (
    PRESETS,
    Assess,
    AssessHP,
    Draft,
    Prefer,
    Reflect,
    RewardSpec,
    Stage,
    Tag,
)
from attune_rewards.predictions import STAGES
from attune_rewards.reward import scored_requests
from tests.episodes.builders import predictions, request_of
from tests.episodes.players import PLAYED
from tests.rewards.builders import conversation as annotated

SAMPLE = load("sample")
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


def of(action: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return action | changed


def slots(field: str, **values: int) -> dict[str, Any]:
    """The action that answers one field, slot number -> value."""
    action = no_answer(hp=True)
    for slot, value in values.items():
        action[field][int(slot[1:])] = value
    return action


# --- what an action means ---------------------------------------------------------------------------


def test_zeros_are_no_answer_throughout() -> None:
    wanted: dict[Stage, Any] = {
        "assess": Assess(),
        "assess_hp": AssessHP(),
        "prefer": Prefer(),
        "reflect": Reflect(),
    }
    for stage, said in wanted.items():
        assert FlatReader(request_of(stage)).read(no_answer(hp=True)) == said
    assert FlatReader(request_of("draft")).read(no_answer()) == Unparsed("empty")
    assert action_space(hp=True).contains(no_answer(hp=True))
    assert action_space().contains(no_answer())


def test_each_field_by_hand() -> None:
    assess, reflect = FlatReader(request_of("assess")), FlatReader(request_of("reflect"))
    assert assess.read(slots("emotions", s1=5, s19=1)) == Assess((Tag("Irritable", 5), Tag("Interested", 1)))
    observed = slots("observed", s0=2, s1=1, s5=2)  # B1 yes, B2 no; B6 is not asked
    assert assess.read(observed) == Assess(observed={"B1": "yes", "B2": "no"})
    assert assess.read(slots("preferred", s12=1)) == Assess(preferred={"B13": "no"})
    assert assess.read(slots("none", s0=1)) == Assess(())
    hp = FlatReader(request_of("assess_hp"))
    assert hp.read(slots("preferred_hp", s0=1)) == AssessHP(preferred={"B1": "no"})
    assert hp.read(slots("preferred", s0=1)) == AssessHP()
    assert reflect.read(slots("panas", s0=7)) == Reflect(panas={"Proud": 7})
    assert reflect.read(slots("branches", s3=2)) == Reflect(branches={"managing": 2})
    assert reflect.read(slots("q1", s0=1, s6=1)) == Reflect(q1=(Q1_OPTIONS[0], Q1_OPTIONS[6]))
    assert reflect.read(of(no_answer(), q2=1, q3=np.int64(4))) == Reflect(q2=Q2_OPTIONS[0], q3=Q3_OPTIONS[3])
    assert reflect.read(slots("none", s1=1, s2=1)) == Reflect(q1=(), q3_follow_up=())
    lines = of(no_answer(), follow_up="It was cold.\n\n  3 \nאני עייף\n")
    third = request_of("reflect").options["q3_followUp_whatFeltOff"][2]
    assert reflect.read(lines) == Reflect(q3_follow_up=("It was cold.", third, "אני עייף"))
    draft = FlatReader(request_of("draft"))
    assert draft.read(of(no_answer(), draft=' {"draft": "x"} 😢\n')) == Draft('{"draft": "x"} 😢')


def test_changes_run_from_minus_six_to_six() -> None:
    reader = FlatReader(request_of("reflect", CHANGES))
    said = reader.read(slots("panas", s0=1, s1=7, s2=13))
    assert said == Reflect(panas_change={EMOTIONS[0]: -6, EMOTIONS[1]: 0, EMOTIONS[2]: 6})


def test_picks_are_in_the_frame_of_the_prompt() -> None:
    request = request_of("prefer")
    assert any(shown.swapped for shown in request.comparisons)
    said = FlatReader(request).read(of(no_answer(), picks=np.ones(12, np.int8)))
    assert said == parse(request, '{"picks": [' + ", ".join(['"A"'] * 12) + "]}")


def test_none_counts_only_beside_an_empty_answer() -> None:
    both = slots("emotions", s0=3)
    both["none"][:] = 1
    assert FlatReader(request_of("assess")).read(both) == Assess((Tag("Proud", 3),))


# --- nothing is lost ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(stage=STAGE, action=actions(), changed=actions(changes=True))
def test_flat_to_typed_to_json_and_back_is_the_same(stage: Stage, action: Any, changed: Any) -> None:
    for request, flat in ((request_of(stage), action), (request_of(stage, CHANGES), changed)):
        said = FlatReader(request).read(flat)
        if isinstance(said, Unparsed):
            assert stage == "draft"
            assert not flat["draft"].strip()
            continue
        written = render(request, said)
        assert parse(request, written) == (said if written != "{}" else Unparsed("no_fields"))


@settings(deadline=None, max_examples=150)
@given(stage=STAGE, action=actions(), changed=actions(changes=True))
def test_flat_to_typed_keeps_every_field_that_counts(stage: Stage, action: Any, changed: Any) -> None:
    for request, flat in ((request_of(stage), action), (request_of(stage, CHANGES), changed)):
        said = FlatReader(request).read(flat)
        if isinstance(said, Unparsed):
            continue
        again = to_flat([(request, said)], hp=True)
        assert FlatReader(request).read(again) == said
        for name in FIELDS_OF[stage]:
            if name in ("draft", "follow_up", "none"):
                continue
            asked = np.asarray(flat[name]).copy()
            if name.startswith(("observed", "preferred")):
                asked *= np.isin(BINARY_IDS, request.questions).astype(np.int8)
            assert np.array_equal(again[name], asked), name


@settings(deadline=None, max_examples=150)
@given(stage=STAGE, data=st.data())
def test_typed_to_flat_is_a_projection(stage: Stage, data: st.DataObject) -> None:
    request = request_of(stage)
    said = data.draw(predictions(request))
    flat = to_flat([(request, said)], hp=True)
    once = FlatReader(request).read(flat)
    if isinstance(once, Unparsed):
        return
    assert to_flat([(request, once)], hp=True)["emotions"].tolist() == flat["emotions"].tolist()
    assert FlatReader(request).read(to_flat([(request, once)], hp=True)) == once


def test_what_the_projection_cannot_hold_is_what_is_stated() -> None:
    request = request_of("assess")
    tags = (Tag("Proud", 3), Tag("Proud", 7), Tag("Upset"), Tag("wistful", 4))
    said = FlatReader(request).read(to_flat([(request, Assess(tags, reasoning="so"))]))
    assert said == Assess((Tag("Proud", 3), Tag("Upset", 4)))
    assert FlatReader(request).read(to_flat([(request, Assess((Tag("wistful", 4),)))])) == Assess()
    own = Assess(observed={"B999": "yes", "B1": "yes"})  # asked there, but not among the 36
    assert FlatReader(request).read(to_flat([(request, own)])) == Assess(observed={"B1": "yes"})
    end = request_of("reflect")
    said = FlatReader(end).read(
        to_flat(
            [(end, Reflect(q1=("my own",), q2="unsure", q3=Q3_OPTIONS[1], q3_follow_up=("a\nb", "7 of 9")))]
        )
    )
    assert said == Reflect(q3=Q3_OPTIONS[1], q3_follow_up=("a b", "7 of 9"))


def test_later_changes_of_the_arrays_do_not_reach_what_was_taken() -> None:
    reader = FlatReader(request_of("assess"))
    action = slots("emotions", s0=3)
    kept = reader.take(action)
    action["emotions"][:] = 7
    assert reader.typed(kept) == Assess((Tag("Proud", 3),))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int64, np.uint64, bool, list, tuple])
def test_arrays_of_any_integer_type_and_lists_are_read(kind: Any) -> None:
    reader, top = FlatReader(request_of("assess")), 1 if kind is bool else 2
    action = no_answer()
    for name in ("observed", "preferred"):
        action[name][0] = top
    wanted = reader.read(action)
    for name in ("emotions", "none", "observed", "preferred"):
        action[name] = kind(action[name].tolist()) if kind in (list, tuple) else action[name].astype(kind)
    assert reader.read(action) == wanted != Assess()


BAD: list[tuple[Stage, Any, str]] = [
    ("assess", 7, r"the action is 7 \(int\); expected a dict"),
    ("assess", None, "the action is null"),
    ("assess", {}, r"has no field 'emotions'.*expected branches, draft"),
    ("assess", {"emotions": [0] * 19}, r"action\['emotions'\] is .* \(list\); expected 20 whole numbers"),
    ("assess", {"emotions": np.zeros((20, 8))}, r"ndarray of shape \(20, 8\)"),
    ("assess", {"emotions": np.full(20, 0.5)}, "expected 20 whole numbers"),
    ("assess", {"emotions": np.full(20, np.nan)}, "expected 20 whole numbers"),
    ("assess", {"emotions": np.full(20, 8, np.int8)}, "from 0 to 7"),
    ("assess", {"emotions": np.full(20, -1, np.int8)}, "from 0 to 7"),
    ("assess", {"emotions": np.full(20, 256)}, "from 0 to 7"),
    ("assess", {"emotions": "Upset"}, "(str)"),
    ("assess", {"emotions": [[1], [1, 2]]}, "expected 20 whole numbers"),
    ("assess", {"observed": np.full(36, 3, np.int8)}, r"action\['observed'\].*from 0 to 2"),
    ("assess", {"preferred": np.zeros(35, np.int8)}, r"action\['preferred'\]"),
    ("assess", {"none": np.full(3, 2, np.int8)}, r"action\['none'\].*from 0 to 1"),
    ("assess_hp", {"observed_hp": None}, r"action\['observed_hp'\] is null"),
    ("prefer", {"picks": np.full(12, 3, np.int8)}, r"action\['picks'\].*12 whole numbers from 0 to 2"),
    ("reflect", {"panas": np.full(20, 8, np.int8)}, r"action\['panas'\]"),
    ("reflect", {"q1": np.full(7, 2, np.int8)}, r"action\['q1'\]"),
    ("reflect", {"q2": 5}, r"action\['q2'\] is 5 \(int\); expected a whole number from 0 to 4"),
    ("reflect", {"q2": -1}, r"action\['q2'\]"),
    ("reflect", {"q3": 1.0}, r"action\['q3'\]"),
    ("reflect", {"q3": "2"}, r"action\['q3'\]"),
    ("reflect", {"follow_up": ["cold"]}, r"action\['follow_up'\].*expected a text"),
    ("reflect", {"branches": np.zeros(5, np.int8)}, r"action\['branches'\]"),
    ("draft", {"draft": 3}, r"action\['draft'\] is 3 \(int\); expected a text"),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "wrong", "told"), BAD)
def test_a_wrong_action_is_named_with_what_was_found_and_expected(
    stage: Stage, wrong: Any, told: str
) -> None:
    action = {**no_answer(hp=True), **wrong} if isinstance(wrong, dict) and wrong else wrong
    with pytest.raises(InvalidAction, match=told):
        FlatReader(request_of(stage)).read(action)


def test_fields_of_other_stages_are_not_looked_at() -> None:
    odd = {**no_answer(hp=True), "picks": "no array", "emotions": None}
    assert FlatReader(request_of("reflect")).read(odd) == Reflect()


# --- quick scores -------------------------------------------------------------------------------------


def check_quick(about: Conversation, request: Request, spec: RewardSpec, action: dict[str, Any]) -> bool:
    """Whether the request has a quick scorer; if so it must agree with the engine exactly."""
    scored = scored_requests(about, spec, STAGES).get((request.stage, request.turn))
    reader = FlatReader(request)
    quick = quick_scorer(reader, scored)
    if quick is None or scored is None:
        return False
    kept = reader.take(action)
    said = reader.typed(kept)
    assert not isinstance(said, Unparsed)
    engine = scored.score(said)
    parts, value, reward = quick(kept)
    assert parts == pytest.approx(dict(engine.parts), abs=1e-12)
    assert list(parts) == list(engine.parts)
    assert engine.value == pytest.approx(value, abs=1e-12)
    assert reward == pytest.approx(engine.reward, abs=1e-12)
    return True


@settings(deadline=None, max_examples=300)
@given(
    about=st.sampled_from([*SAMPLE, *simulate(10, seed=9, level="tangled")]),
    preset=st.sampled_from(PRESETS),
    action=actions(),
    place=st.integers(0, 1000),
)
def test_quick_scores_are_the_engines(about: Conversation, preset: str, action: Any, place: int) -> None:
    requests = plan(about)
    check_quick(about, requests[place % len(requests)], RewardSpec.preset(preset), action)
    check_quick(about, requests[-1], RewardSpec.preset(preset), action)


@settings(deadline=None, max_examples=200)
@given(played=PLAYED, action=actions(), preset=st.sampled_from(PRESETS))
def test_quick_scores_are_the_engines_on_odd_annotations(played: Any, action: Any, preset: str) -> None:
    about: Conversation = played[0]
    for request in plan(about):
        check_quick(about, request, RewardSpec.preset(preset), action)


def test_the_sample_is_scored_quickly_throughout() -> None:
    spec = RewardSpec.preset("composite")
    for about in SAMPLE:
        for request in plan(about):
            if request.stage in ("assess", "prefer", "reflect"):
                assert check_quick(about, request, spec, no_answer(hp=True)), request


def test_the_engine_is_asked_where_a_reward_has_parts_of_its_own() -> None:
    spec = RewardSpec.preset("composite").with_format(0.1)
    about = SAMPLE[0]
    assert not any(check_quick(about, request, spec, no_answer(hp=True)) for request in plan(about))


# --- the oracle -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
def test_what_the_oracle_says_survives_the_flat_form(strategy: Any) -> None:
    from attune_episodes import builtin_policy
    from attune_episodes.policies.base import prepared

    asked = Settings(panas_strategy=strategy)
    data = [*SAMPLE, *simulate(20, seed=3), annotated()]
    for about in data:
        player = prepared(builtin_policy("oracle", data), about)
        for request in plan(about, asked):
            said = parse(request, str(player.reply(request)))
            assert not isinstance(said, Unparsed)
            again = FlatReader(request).read(to_flat([(request, said)], hp=True))
            if isinstance(said, Reflect) and isinstance(again, Reflect):
                assert set(again.q1 or ()) == set(said.q1 or ())  # in the order of the options
                again = replace(again, q1=said.q1)
            if isinstance(said, Assess) and isinstance(again, Assess):
                assert set(again.tags or ()) == set(said.tags or ())
                again = replace(again, tags=said.tags)
            assert again == said
