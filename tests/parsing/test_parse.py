"""What each stage reads out of a reply. A field that is invalid is unanswered; the others stand."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS
from attune_episodes import Request, Settings, parse, render
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.decode import MAX_TOKENS
from attune_episodes.parsing.parse import MAX_LIST, MAX_TEXT
from attune_rewards import STAGES, Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag
from attune_rewards.predictions import PREDICTION_OF
from tests.play.builders import UNICODE, predictions, request_of

REQUESTS = {stage: request_of(stage) for stage in STAGES}
DRAFT, ASSESS, HP, PREFER, REFLECT = REQUESTS.values()
CHANGE = request_of("reflect", Settings(panas_strategy="delta"))
EVERY_KIND = (*REQUESTS.values(), CHANGE)
LONE = "\ud83d"
YES = '{"observed": {"B1": "yes"}}'
NO = '{"observed": {"B1": "no"}}'
WANT = AssessHP({"B1": "yes"})


def said(request: Request, value: object) -> Any:
    """What a reply of this JSON value says."""
    return parse(request, json.dumps(value))


def outcome(request: Request, text: str) -> Prediction | str:
    """What a reply says, or the code of why it says nothing."""
    found = parse(request, text)
    return found.code if isinstance(found, Unparsed) else found


@pytest.mark.parametrize(("text", "want"), [
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
    ("", "empty"),
    (" \n", "empty"),
    ("<think>all</think> ", "empty"),
    ('{"draft": " "}', "empty"),
    ("<think>Oh", "unfinished_reasoning"),
    ("x" * 1_000_001, "too_long"),
])  # fmt: skip
def test_a_draft_is_plain_text_or_json(text: str, want: Draft | str) -> None:
    assert outcome(DRAFT, text) == want


# --- assess ---------------------------------------------------------------------------------------

PROUD = Tag("Proud")


@pytest.mark.parametrize(("emotions", "want"), [
    ([], ()),
    (["Proud", " AFRAID "], (PROUD, Tag("Afraid"))),
    ([{"emotion": "Wistful", "intensity": 3}], (Tag("Wistful", 3),)),  # wrong, not missing
    ([{"emotion": UNICODE}], (Tag(UNICODE),)),
    ([{"emotion": "Proud"}] * 2, (PROUD, PROUD)),
    ([{"emotion": "Proud", "intensity": "intense"}], (Tag("Proud", 6),)),
    ([{"emotion": "Proud", "intensity": 4.0}], (Tag("Proud", 4),)),
    ([{"emotion": "x" * 500}], (Tag("x" * 80),)),
    # an invalid intensity leaves its tag standing
    *(([{"emotion": "Proud", "intensity": wrong}], (PROUD,))
      for wrong in (0, 8, -1, 4.5, True, "huge", None, [4], 10**30)),
    ([{"emotion": ""}], None),
    ([{"emotion": 4}], None),
    ([{"intensity": 4}], None),
    ([["Proud", 4]], None),
    ([{"emotion": "Proud"}, None], None),
    (["Proud"] * MAX_LIST, (PROUD,) * MAX_LIST),
    (["Proud"] * (MAX_LIST + 1), None),
    ({"Proud": 4}, None),
    ("Proud", None),
    (None, None),
])  # fmt: skip
def test_tags(emotions: object, want: tuple[Tag, ...] | None) -> None:
    assert said(ASSESS, {"emotions": emotions}) == Assess(want)


@pytest.mark.parametrize(("given_", "want"), [
    ("yes", "yes"), ("NO", "no"), (" y ", "yes"), ("n", "no"), (True, "yes"), (False, "no"),
    ("true", "yes"), ("na", None), ("n/a", None), ("maybe", None), ("", None), (1, None), (0, None),
    (None, None), (["yes"], None), ({"answer": "yes"}, None), ("yes and no", None),
])  # fmt: skip
@pytest.mark.parametrize("request_", [ASSESS, HP], ids=["assess", "assess_hp"])
def test_yes_and_no(request_: Request, given_: object, want: str | None) -> None:
    found = said(request_, {"observed": {"B1": given_, "B2": "no"}, "preferred": {"B1": "yes"}})
    assert found.observed == ({"B1": want} if want else {}) | {"B2": "no"}
    assert found.preferred == {"B1": "yes"}


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


# --- all stages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", EVERY_KIND[1:], ids=lambda request: request.stage)
@pytest.mark.parametrize("value", [{}, {"answer": 1}, {"__proto__": {"picks": {}}, "draft": "x"}])
def test_an_object_without_any_asked_field_is_unparsed(request_: Request, value: object) -> None:
    assert outcome(request_, json.dumps(value)) == "no_fields"


def test_an_answer_under_other_names_says_which_were_found() -> None:
    said = parse(REFLECT, '{"felt": [], "wanted": {"B1": "yes"}}')
    assert isinstance(said, Unparsed)
    assert said.detail.endswith('; found "felt, wanted"')


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"observed": {"B1": "yes", "B1": "yes"}}', WANT),
        ('{"observed": {"B1": "yes", "B1": "no"}}', "duplicate_keys"),
        ('{"observed": {"B1": "yes", "B1": "YES"}}', "duplicate_keys"),
        ('{"observed": {"B1": "yes", "b1": "yes"}}', WANT),
        ('{"observed": {"B1": "yes", "b1": "no"}}', AssessHP()),
        ('{"observed": {"b1": "no", "B1": "yes"}, "preferred": {"B1": "no"}}', AssessHP({}, {"B1": "no"})),
        ('{"observed": {"B1": true, "b1": 1}}', AssessHP()),
        ('{"observed": {"B1": true, "b1": "yes"}}', AssessHP()),
        ('{"observed": {"B1": null, "b1": "yes"}}', AssessHP()),
        (f'{{"observed": {{"B1": "yes"}}, {NO[1:]}', "duplicate_keys"),
        (f"{YES}{NO}", "ambiguous"),
        (f"{YES}\n{YES}", WANT),
        (f"{YES} or rather {NO}.", "ambiguous"),
        (f"```json\n{YES}\n```\n```json\n{NO}\n```", "ambiguous"),
        (f"```json\n{YES}\n```\nor {NO}", WANT),  # outside the fences nothing is read
        (f"{YES} {NO[:-2]}", "ambiguous"),
        (f"[{YES}, {NO}]", "not_an_object"),
        (f"[{YES}]", "not_an_object"),
        ('{"observed": [{"B1": "yes"}, {"B1": "no"}]}', AssessHP()),
        ('{"observed": [{"B1": "yes"}]}', AssessHP()),
        ('{"observed": {"B1": ["yes", "no"]}}', AssessHP()),
        ('{"observed": {"B1": {"yes": "no"}}}', AssessHP()),
        ('{"observed": {"B1": "yes/no"}}', AssessHP()),
        ('{"observed": {"B1": "yes' + " " * 200 + 'no"}}', AssessHP()),
        ('{"observed": {"B1 ": "yes"}}', AssessHP()),
        ('{"OBSERVED": {"B1": "yes"}}', "no_fields"),
    ],
)
def test_yes_and_no_at_once(text: str, want: AssessHP | str) -> None:
    assert outcome(HP, text) == want


@pytest.mark.parametrize("half", [LONE, "\\ud83d", "\udc00", "\\ude00\\ud83d"])
def test_halves_of_characters_are_replaced_wherever_they_stand(half: str) -> None:
    texts = [
        (HP, f'{{"{half}": 1, "observed": {{"B1": "yes", "{half}": "no"}}}}'),
        (ASSESS, f'{{"emotions": ["a{half}"], "reasoning": "{half}"}}'),
        (DRAFT, f'{{"draft": "a{half}"}}'),
        (DRAFT, f"<think>{half}</think>a{half}"),
        (REFLECT, f'{{"q2_emotionClarity": "a{half}"}}'),
    ]
    for request, text in texts:
        found = parse(request, text)
        assert not isinstance(found, Unparsed)
        assert render(request, found).encode("utf-8")
    assert outcome(*texts[0]) == WANT


# --- size ------------------------------------------------------------------------------------------


def test_an_object_of_very_many_pieces_is_not_read() -> None:
    def sized(strings: int) -> str:  # two brackets, a key, its list of strings
        return '{"emotions": [' + ", ".join(['"x"'] * strings) + "]}" + " " * 10_000

    fits = (MAX_TOKENS - 4) // 2
    assert outcome(ASSESS, sized(fits)) == Assess()
    assert outcome(ASSESS, sized(fits + 1)) == "too_long"
    assert outcome(ASSESS, f"so: {sized(fits + 1)}") == "too_long"
    assert outcome(ASSESS, f'{sized(fits + 1)} {{"emotions": []}}') == "too_long"
    assert outcome(ASSESS, f'so {{"emotions": []}} {sized(fits + 1)}') == "ambiguous"
    # what stands beside an object is not counted
    assert outcome(HP, f"{YES} {', '.join(['so'] * 9_000)}") == WANT
    assert outcome(HP, f"<think>{'[1, 2], ' * 9_000}</think>{YES}") == WANT


N = 400_000
DENSE = {
    "lists": '{"a":[' + ",".join(["[]"] * (N // 3)) + "]}",
    "keys given twice": "{" + ",".join(['"a":[]'] * (N // 7)) + "}",
    "strings without commas": "so {" + '""' * (N // 2) + "}",
    "escapes": '{"a":[' + ",".join(['"\\ud83d"'] * (N // 9)) + "]}",
    "spans": "{} " * (N // 3),
    "different fenced objects": "".join(f'```\n{{"a":{n}}}\n```\n' for n in range(N // 21)),
    "reasoning": "<think></think>x" * (N // 16),
    "a wide object in a fence after reasoning": '<think>x</think>```\n{"draft": "' + "x" * N + '😀"}\n``` ',
    "braces": '{"a":' * (N // 5),
    "quotes": "{" + '"\n' * (N // 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", DENSE)
def test_no_shape_of_text_takes_ten_times_its_room(shape: str) -> None:
    text = DENSE[shape]
    size = len(text.encode("utf-8"))
    for request in (DRAFT, ASSESS, REFLECT):
        parse(request, text)
        tracemalloc.start()
        try:
            parse(request, text)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 10 * size, f"{peak / size:.1f} times"


def assert_sound(request: Request, found: Prediction | Unparsed) -> None:
    """A prediction of the request's stage, every answer asked for and in range, and stable; or unparsed."""
    if isinstance(found, Unparsed):
        return
    assert type(found) is PREDICTION_OF[request.stage]
    if isinstance(found, (Assess, AssessHP)):
        assert {*found.observed, *found.preferred} <= set(request.questions)
        assert {*found.observed.values(), *found.preferred.values()} <= {"yes", "no"}
    if isinstance(found, Assess):
        assert all(tag.emotion and tag.intensity in (None, *range(1, 8)) for tag in found.tags or ())
    elif isinstance(found, Prefer):
        assert set(found.picks) <= set(range(12))
        assert set(found.picks.values()) <= {"A", "B"}
    elif isinstance(found, Reflect):
        assert set(found.panas) <= set(EMOTIONS)
        assert set(found.panas.values()) <= set(range(1, 8))
        assert (found.panas_change is not None) is request.wants_change
        assert set((found.panas_change or {}).values()) <= set(range(-6, 7))
        assert set(found.branches) <= set(BRANCHES)
    assert parse(request, render(request, found)) == found


NOISE = st.sampled_from(["{", "}", "[", "]", '"', ",", ":", "\\", "null", "NaN", "True", "// ", "\n", "```\n",
                         "<think>", "</think>", "\ufeff", "\x00", LONE, "10", "é", "B1", "yes"])  # fmt: skip
REPLIES = st.sampled_from(EVERY_KIND).flatmap(lambda r: predictions(r).map(lambda said: (r, render(r, said))))


@settings(max_examples=100, deadline=None)
@given(REPLIES, st.data())
def test_no_mutation_of_a_valid_reply_makes_it_raise(reply: tuple[Request, str], data: st.DataObject) -> None:
    request, text = reply
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 6)))
        text = text[:start] + data.draw(NOISE | st.just("") | st.just(text[start:end] * 2)) + text[end:]
    found = parse(request, text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text)
    if request.stage != "draft":  # a broken draft is plain text, tags and all
        assert_sound(request, found)
