"""Hostile replies: each kind with what comes of it, many from a generator, and the room they take."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data.constants import Q2_OPTIONS
from attune_episodes import Request, Settings, parse, render
from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.parsing.decode import MAX_DEPTH, MAX_TOKENS
from attune_episodes.parsing.extract import MAX_CANDIDATES, MAX_CHARS, MAX_REPAIRED
from attune_rewards import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Tag
from tests.episodes.builders import request_of
from tests.episodes.test_parse_property import KINDS, assert_sound
from tests.soak.inputs import both_ways, reply

DRAFT, ASSESS, HP = request_of("draft"), request_of("assess"), request_of("assess_hp")
PREFER, REFLECT = request_of("prefer"), request_of("reflect")
CHANGE = request_of("reflect", Settings(panas_strategy="delta"))
FIRST = {c.number: c.index for c in PREFER.comparisons}[1]
PICKED = parse(PREFER, '{"picks": {"1": "A"}}')
LONE = "\ud83d"
YES = '{"observed": {"B1": "yes"}}'
NO = '{"observed": {"B1": "no"}}'
WANT = AssessHP({"B1": "yes"})


def outcome(request: Request, text: str) -> Prediction | str:
    found = parse(request, text)
    return found.code if isinstance(found, Unparsed) else found


# --- each kind of fire, and what comes of it -------------------------------------------------------


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


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"picks": {"1": "A", "1": "A"}}', PICKED),
        ('{"picks": {"1": "A", "1": "B"}}', "duplicate_keys"),
        ('{"picks": {"1": "A"}, "picks": {"1": "B"}}', "duplicate_keys"),
        ('{"picks": {"1": "A"}} {"picks": {"1": "B"}}', "ambiguous"),
        ('{"picks": {"1": ["A", "B"]}}', Prefer()),
        ('{"picks": {"1": "A/B"}}', Prefer()),
        ('{"picks": {"1": "AB"}}', Prefer()),
        ('{"picks": [["A", "B"]]}', Prefer()),
        ('{"picks": {"1": "A", "01": "B", "1.0": "B"}}', PICKED),  # no other names of 1
        ('{"picks": {"__proto__": "B", "1": "A"}}', PICKED),
    ],
)
def test_a_and_b_at_once(text: str, want: Prediction | str) -> None:
    assert outcome(PREFER, text) == want


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "__class__", "hasOwnProperty", ""])
def test_names_that_mean_something_to_a_language_mean_nothing_here(name: str) -> None:
    assert outcome(HP, json.dumps({name: {"observed": {"B1": "yes"}}})) == "no_fields"
    inside = {"observed": {name: {"B1": "no"}, "B1": "yes"}, name: {"B1": "no"}}
    assert outcome(HP, json.dumps(inside)) == WANT
    assert outcome(ASSESS, json.dumps({"emotions": [name or "x"]})) == Assess((Tag(name or "x"),))


@pytest.mark.parametrize(
    ("number", "want"),
    [("NaN", None), ("Infinity", None), ("-Infinity", None), ("-0", None), ("-0.0", None), ("1e999", None),
     ("-1e999", None), ("1e-999", None), ("9" * 5000, None), ("-" + "9" * 5000, None), ("4e0", 4),
     ("40e-1", 4), ("4." + "0" * 5000, 4), ("0." + "3" * 5000, None), ("1E400", None)],
)  # fmt: skip
def test_numbers_of_every_size(number: str, want: int | None) -> None:
    text = f'{{"post_panas": {{"Proud": {number}, "Alert": 3}}}}'
    assert outcome(REFLECT, text) == Reflect(({} if want is None else {"Proud": want}) | {"Alert": 3})
    assert outcome(CHANGE, text.replace("post_panas", "panas_change")) == Reflect(
        panas_change=(
            {"Proud": 0} if number in ("-0", "-0.0", "1e-999") else {} if want is None else {"Proud": 4}
        )
        | {"Alert": 3}
    )


@pytest.mark.parametrize("levels", [10, MAX_DEPTH, MAX_DEPTH + 1, 500, 1_000, 3_000, 9_000, 100_000])
@pytest.mark.parametrize("pair", ["[]", "{}", "[{"])
def test_nesting_of_every_depth(levels: int, pair: str) -> None:
    opening, closing = {"[]": ("[", "]"), "{}": ('{"a":', "}"), "[{": ('[{"a":', "}]")}[pair]
    levels -= levels % len(closing)
    deep = opening * (levels // len(closing)) + "1" + closing * (levels // len(closing))
    whole = f'{{"observed": {{"B1": "yes"}}, "x": {deep}}}'
    assert outcome(HP, whole) == (WANT if levels <= MAX_DEPTH else "too_deep")
    assert outcome(HP, f"so: {whole}") == (WANT if levels <= MAX_DEPTH else "too_deep")
    if levels > MAX_DEPTH + 1:
        assert outcome(HP, opening * levels) == "too_deep"  # never closed
        assert outcome(HP, f"{deep}{closing}") == "too_deep"  # closed once too often


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


def test_two_halves_that_belong_together_are_one_character() -> None:
    for text in ("\ud83d\ude00", "\\ud83d\\ude00", "x" * 49_999 + "\ud83d\ude00" + LONE):
        found = parse(DRAFT, json.dumps({"draft": text}, ensure_ascii=False).replace("\\\\", "\\"))
        assert isinstance(found, Draft)
        assert found.text.rstrip("\ufffd").endswith("😀")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (f"<think>{NO}</think>{YES}", WANT),
        (f"<think>{NO}</think>", "empty"),
        (f"<think>{YES}", "unfinished_reasoning"),
        (f"<think>{NO}<think>{NO}</think>{YES}", WANT),
        (f"<think>{NO}</think>{YES}<think>{NO}", "unfinished_reasoning"),
        (f"<ThInK>{NO}</tHiNk>{YES}", WANT),
        (f"<think >{NO}</think >{YES}", "ambiguous"),  # no tags: text like any other
        (f"{NO}</think>{YES}", WANT),
        (f"{NO}</reasoning></think>{YES}", WANT),
        (f"<think>```json\n{NO}\n```</think>\n```json\n{YES}\n```", WANT),
        (f"```json\n<think>{NO}</think>\n{YES}\n```", WANT),
        (f"{YES}<think>{NO}</think>", WANT),
        (f'{{"reasoning": "<think>{{}}", {YES[1:]}', AssessHP({"B1": "yes"}, {}, "<think>{}")),
    ],
)
def test_json_in_and_around_reasoning(text: str, want: AssessHP | str) -> None:
    assert outcome(HP, text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (f"```json\n{YES}\n```\n" * 300, WANT),
        ("".join(f'```json\n{{"a": {n}}}\n```\n' for n in range(MAX_CANDIDATES + 1)), "ambiguous"),
        (f"```\n```\n```\n{YES}\n```", WANT),
        (f"```json\n{YES}", WANT),
        (f"``` ```\n{YES}\n``` ```", WANT),
        ("```\n" * 1001 + YES, WANT),
        (YES.replace('"', "'"), "malformed"),
        (YES[:-1], "truncated"),
        (YES[:-5], "truncated"),
        (YES.replace('"yes"', '"yes'), "truncated"),
        (YES.replace('"yes"', r'"yes\\\"'), "truncated"),
        (YES.replace('"yes"', r'"yes\x"'), "malformed"),
        (YES.replace("yes", "y\x00es"), "malformed"),
        (YES.replace("yes", "y\\u0000es"), AssessHP()),
        (f"\ufeff{YES}", WANT),
        (f"\u202e{YES}\u202c", WANT),
        (f"{YES}\x00", WANT),
        (f"{YES} \u2028\u00a0", WANT),
        (" " * (MAX_CHARS - len(YES)) + YES, WANT),
        (" " * (MAX_CHARS + 1 - len(YES)) + YES, "too_long"),
    ],
)
def test_fences_quotes_and_odd_characters(text: str, want: AssessHP | str) -> None:
    assert outcome(HP, text) == want


def test_text_cut_for_its_length_never_becomes_an_answer() -> None:
    spaces = " " * 3_000
    assert outcome(ASSESS, json.dumps({"emotions": [f"Proud{spaces}not"]})) == Assess((Tag("Proud…"),))
    found = parse(REFLECT, json.dumps({"q2_emotionClarity": f"{Q2_OPTIONS[0]}{spaces}not"}))
    assert found == Reflect(q2=f"{Q2_OPTIONS[0]}…")
    assert outcome(ASSESS, json.dumps({"emotions": [f"none{spaces}not"]})) == Assess((Tag("none…"),))


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


def test_a_long_broken_object_is_not_repaired() -> None:
    for length, want in ((MAX_REPAIRED - 100, WANT), (MAX_REPAIRED, "malformed")):
        text = f'{{"x": "{"y" * length}", {YES[1:-1]},}}'
        assert outcome(HP, text) == want


N = 400_000
DENSE = {
    "lists": '{"a":[' + ",".join(["[]"] * (N // 3)) + "]}",
    "objects": '{"a":[' + ",".join(["{}"] * (N // 3)) + "]}",
    "keys": "{" + ",".join(f'"{n:x}":1' for n in range(N // 9)) + "}",
    "keys given twice": "{" + ",".join(['"a":[]'] * (N // 7)) + "}",
    "strings": '{"a":[' + ",".join(['""'] * (N // 3)) + "]}",
    "strings without commas": "so {" + '""' * (N // 2) + "}",
    "escapes": '{"a":[' + ",".join(['"\\ud83d"'] * (N // 9)) + "]}",
    "a list": "[" + ",".join(['{"a":1}'] * (N // 8)) + "]",
    "spans": "{} " * (N // 3),
    "different spans": "so " + "".join(f'{{"a":{n}}}' for n in range(N // 10)),
    "fences": "```\n" * (N // 4),
    "fenced objects": '```\n{"a":1}\n```\n' * (N // 16),
    "different fenced objects": "".join(f'```\n{{"a":{n}}}\n```\n' for n in range(N // 21)),
    "reasoning": "<think></think>x" * (N // 16),
    "one wide character": '```json\n{"draft": "' + "x" * N + '😀"}\n``` \n',
    "a wide object in a fence after reasoning": '<think>x</think>```\n{"draft": "' + "x" * N + '😀"}\n``` ',
    "a wide object after reasoning": '<think>x</think> {"a": "' + "x" * N + '😀"} ',
    "one wide character in an intensity": '{"emotions": [{"emotion": "Upset", "intensity": "'
    + "é" * (N // 2)
    + '😀"}]}',
    "one wide character in an answer": '{"observed": {"B1": "' + "é" * (N // 2) + '😀"}} ',
    "one wide character in a name": '{"emotions": [{"emotion": "'
    + "é" * (N // 2)
    + '", "intensity": "é😀"}]}',
    "one wide character in an option": '{"q2_emotionClarity": "' + "é" * (N // 2) + '😀"}',
    "brackets": "[" * N,
    "braces": '{"a":' * (N // 5),
    "backslashes": 'so {"a":"' + "\\\\" * (N // 2) + '"}',
    "quotes": "{" + '"\n' * (N // 2),
    "digits": '{"a":' + "9" * N + "}",
}


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


# --- many ------------------------------------------------------------------------------------------

SEEDS = st.integers(0, 2**40)
REPLIES = (
    (DRAFT, "That sounds hard."),
    (ASSESS, '{"emotions": [{"emotion": "Upset", "intensity": 5}], "observed": {"B1": "yes", "B2": "no"}}'),
    (HP, '{"observed": {"B1": "yes", "B13": "no"}, "preferred": {"B1": "no"}}'),
    (PREFER, '{"picks": {"1": "A", "2": "B", "3": "A"}}'),
    (REFLECT, '{"post_panas": {"Proud": 4}, "q1_lookingFor": [2], "fourBranchScores": {"managing": 4}}'),
    (CHANGE, '{"panas_change": {"Proud": -2}, "q3_modelFit": 2, "q3_followUp_whatFeltOff": []}'),
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(REPLIES), st.sampled_from(REPLIES), SEEDS)
def test_no_hostile_reply_makes_it_raise(
    valid: tuple[Request, str], other: tuple[Request, str], seed: int
) -> None:
    request, text = valid
    text = reply(random.Random(seed), text, other[1], largest=3_000)
    found = parse(request, text)
    assert isinstance(found, (Unparsed, KINDS[request.stage]))
    if request.stage != "draft":
        assert_sound(request, found)
    assert isinstance(extract_object(text), (dict, Unparsed))
    if not isinstance(found, Unparsed):
        render(request, found).encode("utf-8")


@settings(max_examples=300, deadline=None)
@given(st.sampled_from((ASSESS, HP, PREFER)), SEEDS)
def test_what_is_answered_both_ways_is_unanswered(request_: Request, seed: int) -> None:
    found = parse(request_, both_ways(random.Random(seed), "B1", "1"))
    if isinstance(found, Prefer):
        assert FIRST not in found.picks
    elif not isinstance(found, Unparsed):
        assert isinstance(found, (Assess, AssessHP))
        assert "B1" not in {*found.observed, *found.preferred}


def test_the_generator_is_a_pure_function_of_its_seed_and_makes_every_outcome() -> None:
    def made(seed: int) -> str:
        return reply(random.Random(seed), REPLIES[2][1], REPLIES[4][1], largest=30_000)

    texts = [made(seed) for seed in range(3_000)]
    assert texts == [made(seed) for seed in range(3_000)]
    codes = {found if isinstance(found, str) else "read" for found in (outcome(HP, text) for text in texts)}
    assert codes == {
        "read", "empty", "unfinished_reasoning", "no_json", "truncated", "malformed", "too_deep", "ambiguous",
        "duplicate_keys", "not_an_object", "no_fields", "too_long",
    }  # fmt: skip
