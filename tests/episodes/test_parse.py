"""What each stage reads out of a reply. A field that is invalid is unanswered; the others stand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from attune_data.codebook import Codebook
from attune_data.constants import Q1_OPTIONS, Q2_OPTIONS
from attune_episodes import Request, Settings, parse, render
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.parse import MAX_LIST, MAX_TEXT
from attune_rewards import Assess, AssessHP, Draft, Prefer, Reflect, Stage, Tag
from tests.episodes.builders import ASKED, UNICODE, conversation, request_of, turn

DRAFT, ASSESS, ASSESS_HP = request_of("draft"), request_of("assess"), request_of("assess_hp")
PREFER, REFLECT = request_of("prefer"), request_of("reflect")
CHANGE = request_of("reflect", Settings(panas_strategy="delta"))
REQUESTS = (DRAFT, ASSESS, ASSESS_HP, PREFER, REFLECT, CHANGE)
FOLLOW_UP = Codebook.own().options["q3_followUp_whatFeltOff"]
LONE = "\ud83d"


def said(request: Request, value: object) -> Any:
    """What a reply of this JSON value says."""
    return parse(request, json.dumps(value))


def code_of(request: Request, text: str) -> str:
    found = parse(request, text)
    assert isinstance(found, Unparsed), found
    return found.code


def tags_of(emotions: object) -> tuple[Tag, ...] | None:
    found = said(ASSESS, {"emotions": emotions})
    assert isinstance(found, Assess)
    return found.tags


# --- draft ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("  That sounds hard.\n", Draft("That sounds hard.")),
        (UNICODE, Draft(UNICODE)),
        ("<think>{}</think> Oh no.", Draft("Oh no.")),
        ("Oh {dear}, yes.", Draft("Oh {dear}, yes.")),
        ('{"draft": " Oh no. "}', Draft("Oh no.")),
        ('{"reasoning": "why", "draft": "Oh no."}', Draft("Oh no.", "why")),
        ('```json\n{"draft": "Oh no.", "reasoning": 3}\n```', Draft("Oh no.")),
        ('{"text": "Oh no."}', Draft('{"text": "Oh no."}')),
        ('{"draft": 5}', Draft('{"draft": 5}')),
        ("[]", Draft("[]")),
    ],
)
def test_a_draft_is_plain_text_or_json(text: str, want: Draft) -> None:
    assert parse(DRAFT, text) == want


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>all</think> ", "empty"),
        ('{"draft": " "}', "empty"),
        ("<think>Oh", "unfinished_reasoning"),
        ("x" * 1_000_001, "too_long"),
    ],
)
def test_an_empty_or_unfinished_draft_is_unparsed(text: str, code: str) -> None:
    assert code_of(DRAFT, text) == code


# --- assess ---------------------------------------------------------------------------------------


def test_assess_reads_tags_and_both_answers() -> None:
    value = {
        "reasoning": "why",
        "emotions": [{"emotion": "upset", "intensity": 5}],
        "observed": {"B1": "yes", "B2": "no"},
        "preferred": {"B1": "No"},
    }
    want = Assess((Tag("Upset", 5),), {"B1": "yes", "B2": "no"}, {"B1": "no"}, "why")
    assert said(ASSESS, value) == want


@pytest.mark.parametrize(
    ("emotions", "want"),
    [
        ([], ()),
        (["Proud", " AFRAID "], (Tag("Proud"), Tag("Afraid"))),
        ([{"emotion": "Wistful", "intensity": 3}], (Tag("Wistful", 3),)),  # wrong, not missing
        ([{"emotion": UNICODE}], (Tag(UNICODE),)),
        ([{"emotion": "Proud"}] * 2, (Tag("Proud"), Tag("Proud"))),
        ([{"emotion": "Proud", "intensity": "intense"}], (Tag("Proud", 6),)),
        ([{"emotion": "Proud", "intensity": 4.0}], (Tag("Proud", 4),)),
        ([{"emotion": "x" * 500}], (Tag("x" * 80),)),
        ([{"emotion": ""}], None),
        ([{"emotion": 4}], None),
        ([{"intensity": 4}], None),
        ([["Proud", 4]], None),
        ([{"emotion": "Proud"}, None], None),
        (["Proud"] * MAX_LIST, (Tag("Proud"),) * MAX_LIST),
        (["Proud"] * (MAX_LIST + 1), None),
        ({"Proud": 4}, None),
        ("Proud", None),
        (None, None),
    ],
)
def test_tags(emotions: object, want: tuple[Tag, ...] | None) -> None:
    assert tags_of(emotions) == want


@pytest.mark.parametrize("intensity", [0, 8, -1, 4.5, True, "huge", None, [4], 10**30])
def test_an_invalid_intensity_leaves_its_tag_standing(intensity: object) -> None:
    assert tags_of([{"emotion": "Proud", "intensity": intensity}]) == (Tag("Proud"),)


def test_an_intensity_may_be_a_number_in_quotes_as_ratings_may() -> None:
    assert tags_of([{"emotion": "Proud", "intensity": "4"}]) == (Tag("Proud", 4),)


@pytest.mark.parametrize(
    ("given_", "want"),
    [
        ("yes", "yes"), ("NO", "no"), (" y ", "yes"), ("n", "no"), (True, "yes"), (False, "no"),
        ("true", "yes"), ("na", None), ("n/a", None), ("maybe", None), ("", None), (1, None), (0, None),
        (None, None), (["yes"], None), ({"answer": "yes"}, None), ("yes and no", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("request_", [ASSESS, ASSESS_HP], ids=["assess", "assess_hp"])
def test_yes_and_no(request_: Request, given_: object, want: str | None) -> None:
    found = said(request_, {"observed": {"B1": given_, "B2": "no"}, "preferred": {"B1": "yes"}})
    assert found.observed == ({"B1": want} if want else {}) | {"B2": "no"}
    assert found.preferred == {"B1": "yes"}


def test_questions_that_are_not_asked_are_not_read() -> None:
    every = dict.fromkeys((*ASKED, "B6", "B7", "B20", "__proto__"), "yes")
    assert said(ASSESS_HP, {"observed": every}) == AssessHP(dict.fromkeys(ASKED, "yes"))


def test_ids_may_be_in_lower_case() -> None:
    assert said(ASSESS_HP, {"observed": {"b13": "yes"}}).observed == {"B13": "yes"}


@pytest.mark.parametrize("answers", [{"B1": "yes", "b1": "no"}, {"B1": "no", "b1": "yes"}])
def test_a_question_answered_both_ways_is_unanswered(answers: dict[str, str]) -> None:
    assert said(ASSESS_HP, {"observed": answers, "preferred": answers}) == AssessHP()


@pytest.mark.parametrize("wrong", ["yes", ["B1"], None, 3, True])
def test_answers_that_are_no_object_are_unanswered(wrong: object) -> None:
    assert said(ASSESS, {"emotions": [], "observed": wrong, "preferred": {"B1": "no"}}) == Assess(
        (), {}, {"B1": "no"}
    )


# --- prefer ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_picks_are_translated_to_the_frame_of_the_conversation(seed: int) -> None:
    request = request_of("prefer", Settings(seed=seed))
    found = said(request, {"picks": {str(c.number): "A" for c in request.comparisons}})
    assert found == Prefer({c.index: "B" if c.swapped else "A" for c in request.comparisons})
    listed = said(request, {"picks": ["A"] * 12})  # in the order of the numbers
    assert listed == found


@pytest.mark.parametrize(
    ("pick", "valid"),
    [("A", True), ("b", True), (" B ", True), ("X", False), ("AB", False), ("", False), (1, False),
     (None, False), (True, False), ("A or B", False), ({"pick": "A"}, False)],
)  # fmt: skip
def test_a_pick_is_a_or_b(pick: object, valid: bool) -> None:
    index = {c.number: c.index for c in PREFER.comparisons}
    assert set(said(PREFER, {"picks": {"1": pick, "2": "A"}}).picks) == {
        index[2],
        *([index[1]] if valid else []),
    }


@pytest.mark.parametrize("picks", ["A", 1, None, {}, [], {"0": "A", "13": "B", "01": "A", "one": "A"}])
def test_picks_of_comparisons_that_are_not_asked_are_none(picks: object) -> None:
    assert said(PREFER, {"picks": picks}) == Prefer()


# --- reflect --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "want"),
    [(4, 4), (1, 1), (7, 7), (4.0, 4), ("4", 4), (" +4 ", 4), (0, None), (8, None), (4.5, None), (True, None),
     (False, None), ("four", None), ("4.0", None), ("٤", None), ("²", None), ("", None),
     (None, None), ([4], None), (10**30, None), (-4, None), ("12", None)],
)  # fmt: skip
def test_ratings(given_: object, want: int | None) -> None:
    found = said(
        REFLECT, {"post_panas": {"Proud": given_, "alert": 2}, "fourBranchScores": {"managing": given_}}
    )
    assert found.panas == ({} if want is None else {"Proud": want}) | {"Alert": 2}
    assert found.branches == ({} if want is None else {"managing": want})


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_numbers_that_are_none_lose_only_their_field(value: str) -> None:
    text = f'{{"post_panas": {{"Proud": {value}, "Alert": 3}}, "fourBranchScores": {{"managing": 2}}}}'
    assert parse(REFLECT, text) == Reflect({"Alert": 3}, branches={"managing": 2})


def test_a_rating_given_twice_in_two_spellings_is_unanswered() -> None:
    assert said(REFLECT, {"post_panas": {"Proud": 3, "proud": 5}}).panas == {}


def test_changes_are_read_under_the_change_strategies_only() -> None:
    value = {
        "post_panas": {"Proud": 4},
        "panas_change": {"Proud": -6, "Alert": 6, "Upset": 7, "Afraid": "-2"},
    }
    assert said(CHANGE, value) == Reflect(panas_change={"Proud": -6, "Alert": 6, "Afraid": -2})
    assert said(REFLECT, value) == Reflect(panas={"Proud": 4})
    assert said(CHANGE, {"post_panas": {}}) == Reflect(panas_change={})


@pytest.mark.parametrize(
    ("given_", "want"),
    [
        (Q2_OPTIONS[2], Q2_OPTIONS[2]),
        (f" {Q2_OPTIONS[2].upper()} ", Q2_OPTIONS[2]),
        (3, Q2_OPTIONS[2]),
        ("3", Q2_OPTIONS[2]),
        (0, None), (5, None), ("5", None), (-1, None), (True, None), (None, None), ("", None), ([3], None),
        ("Muddy " + UNICODE, "Muddy " + UNICODE),  # wrong, not missing
        ("x" * 5000, "x" * MAX_TEXT),
    ],
)  # fmt: skip
def test_one_option_by_its_text_or_its_number(given_: object, want: str | None) -> None:
    assert said(REFLECT, {"q2_emotionClarity": given_, "q1_lookingFor": []}) == Reflect(q1=(), q2=want)


@pytest.mark.parametrize(
    ("given_", "want"),
    [
        ([], ()),
        ([1, "7", Q1_OPTIONS[1]], (Q1_OPTIONS[0], Q1_OPTIONS[6], Q1_OPTIONS[1])),
        (2, (Q1_OPTIONS[1],)),
        (Q1_OPTIONS[1].lower(), (Q1_OPTIONS[1],)),
        ([1, 1, Q1_OPTIONS[0]], (Q1_OPTIONS[0],)),
        (["of my own"], ("of my own",)),
        ([1, 8], None), ([1, None], None), ([True], None), ([[1]], None), ({"1": True}, None), (None, None),
        ([1] * (MAX_LIST + 1), None),
    ],
)  # fmt: skip
def test_several_options(given_: object, want: tuple[str, ...] | None) -> None:
    found = said(REFLECT, {"q1_lookingFor": given_, "q3_modelFit": 1})
    assert found.q1 == want
    assert found.q3 is not None


@pytest.mark.parametrize("number", [1, 9, 10])
def test_every_option_can_be_given_by_its_number_in_quotes_too(number: int) -> None:
    assert len(FOLLOW_UP) == 10
    for form in (number, str(number)):
        assert said(REFLECT, {"q3_followUp_whatFeltOff": [form]}).q3_follow_up == (FOLLOW_UP[number - 1],)


def test_a_question_without_options_takes_any_text() -> None:
    options = {**REFLECT.options, "q3_followUp_whatFeltOff": ()}
    request = replace(REFLECT, options=options)
    assert said(request, {"q3_followUp_whatFeltOff": ["cold", " cold", "Cold"]}).q3_follow_up == (
        "cold",
        "Cold",
    )


# --- all stages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", REQUESTS[1:], ids=lambda request: f"{request.stage}")
@pytest.mark.parametrize("value", [{}, {"answer": 1}, {"__proto__": {"picks": {}}, "draft": "x"}])
def test_an_object_without_any_asked_field_is_unparsed(request_: Request, value: object) -> None:
    assert code_of(request_, json.dumps(value)) == "no_fields"


@pytest.mark.parametrize("request_", REQUESTS[1:], ids=lambda request: f"{request.stage}")
@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty"), ("[]", "not_an_object"), ("no", "no_json"), ('{"picks": {"1"', "truncated"),
     ('{"observed": {}, "observed": {"B1": "yes"}}', "duplicate_keys"), ("<think>{}", "unfinished_reasoning"),
     ('{"picks": {}} {"picks": {"1": "A"}}', "ambiguous"), ('{"a":' * 9999, "too_deep")],
)  # fmt: skip
def test_what_holds_no_single_object_is_unparsed(request_: Request, text: str, code: str) -> None:
    assert code_of(request_, text) == code


def test_reasoning_that_is_no_text_is_none() -> None:
    for wrong in (3, None, ["why"], {"why": 1}):
        assert said(ASSESS_HP, {"reasoning": wrong, "observed": {"B1": "yes"}}) == AssessHP({"B1": "yes"})


def test_a_turn_without_questions_is_still_assessed() -> None:
    request = request_of("assess", of=conversation(turn(1, binary=[])))
    assert said(request, {"emotions": [], "observed": {"B1": "yes"}}) == Assess(())


@pytest.mark.parametrize("text", [f"{LONE}", f"a{LONE}\\n", "\\ud83d"])
def test_what_is_read_can_be_written_as_utf_8(text: str) -> None:
    # half a character, as it comes out of a cut-off stream or of an escape: harmless, and never a crash later
    replies: dict[Stage, str] = {
        "draft": f'{{"draft": "x{text}", "reasoning": "{text}"}}',
        "assess": f'{{"emotions": ["{text}"]}}',
        "reflect": f'{{"q2_emotionClarity": "{text}", "q3_followUp_whatFeltOff": ["{text}"]}}',
    }
    for stage, reply in replies.items():
        request = request_of(stage)
        found = parse(request, reply)
        assert not isinstance(found, Unparsed)
        assert render(request, found).encode("utf-8")
