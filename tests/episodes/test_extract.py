"""From a model's text to the one JSON object in it, or a stable reason why there is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_episodes.parsing import Unparsed, extract_object
from attune_episodes.parsing.decode import MAX_DEPTH
from attune_episodes.parsing.extract import MAX_CHARS
from tests.episodes.builders import UNICODE

ONE = '{"a": 1}'
FENCED = f"```json\n{ONE}\n```"
DEEP = '{"a":' * 100_000


def code_of(text: str) -> str:
    found = extract_object(text)
    assert isinstance(found, Unparsed), found
    assert found.reason == f"unparsed:{found.code}"
    return found.code


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        f"  \n{ONE}\n ",
        f"\ufeff{ONE}",
        FENCED,
        f"```\n{ONE}\n```",
        f"```JSON5 title=x\n{ONE}\n```",
        f"Sure!\n\n{FENCED}\nHope that helps.",
        f"  ```json\n  {ONE}\n  ```",
        f"```json\r\n{ONE}\r\n```\r\n",
        f"```json\n{ONE}",  # the fence is never closed
        f"Here it is: {ONE}. {UNICODE}",
        f'He said "so be it: {ONE}',
        f"it's {ONE} isn't it",
        f"{ONE}\n{ONE}",
        f'{ONE} and again {{"a":1}}',
        f"{FENCED}\n{FENCED}",
    ],
)
def test_an_object_alone_in_a_fence_or_amid_prose_is_found(text: str) -> None:
    assert extract_object(text) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"a": "}"}', {"a": "}"}),
        ('so: {"a": "{ \\" }", "b": {"c": "```"}} there', {"a": '{ " }', "b": {"c": "```"}}),
        ('{"a": "// no comment, True"} ', {"a": "// no comment, True"}),
        ('x {"a": "b // c, }", "d": True,}', {"a": "b // c, }", "d": True}),
        ("{}", {}),
        ('{"__proto__": {"a": 1}, "constructor": 2}', {"__proto__": {"a": 1}, "constructor": 2}),
    ],
)
def test_braces_and_repairs_inside_strings_do_not_count(text: str, want: dict[str, object]) -> None:
    assert extract_object(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ('```json\n{"a": [1,\n]}\n```', {"a": [1]}),
        ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
        ('{"a": 1 // one\n}', {"a": 1}),
        ('{// first\n"a": 1}', {"a": 1}),
        ('{"a": 1, // the last comma goes once the comment is gone\n}', {"a": 1}),
    ],
)
def test_what_has_one_meaning_only_is_repaired(text: str, want: dict[str, object]) -> None:
    assert extract_object(text) == want


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "THINK"])
def test_objects_in_a_reasoning_block_are_ignored(tag: str) -> None:
    assert extract_object(f'<{tag}>perhaps {{"a": 2}}</{tag}>{ONE}') == {"a": 1}
    assert code_of(f"<{tag}>{ONE}</{tag}>") == "empty"
    assert code_of(f"<{tag}>{ONE}</{tag}> nothing more") == "no_json"


@pytest.mark.parametrize(
    "text",
    [
        f'<think>{{"a": 2}}</think>\n<think>{{"a": 3}}</think>{ONE}',
        f'{{"a": 2}} the server swallowed the opening tag </think>{ONE}',
        f'<think>{{"a": 2}}<think>{{"a": 3}}</think>{{"a": 4}}</think>{ONE}',
        f'<think>{{"a": 2}}</think>{FENCED}',
        f'<think>{{"a": 2}}</think>{{"a": 3}} and so </think>{ONE}',  # the second block was not opened
        f'{{"a": 2}}<think>x</think> and so </think>{ONE}',
    ],
)
def test_only_what_follows_the_last_reasoning_counts(text: str) -> None:
    assert extract_object(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [f"<think>{ONE}", f"<think>a</think><think>{ONE}", f"{ONE}<thinking>but", f"<think>{ONE}</thinking>"],
)
def test_a_reasoning_block_that_is_never_closed_holds_everything(text: str) -> None:
    assert code_of(text) == "unfinished_reasoning"


@pytest.mark.parametrize("word", ["<think>", "</think>", "<think>no</think>", "<reasoning>"])
def test_a_reply_that_is_one_object_is_read_whatever_its_strings_say(word: str) -> None:
    # the whole text is JSON: the first attempt, and there is only one way to read it
    assert extract_object(json.dumps({"a": f"x {word} y"})) == {"a": f"x {word} y"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        (" \n\t\ufeff", "empty"),
        ("<think></think>", "empty"),
        ("I would rather not.", "no_json"),
        ("}{"[0], "no_json"),
        ('{"a": 1', "truncated"),
        ('{"a": {"b": 1}', "truncated"),
        ('{"a": "never closed', "truncated"),
        ('{"a": "never closed}', "truncated"),
        ('```json\n{"a": [1, 2', "truncated"),
        ("{a: 1}", "malformed"),
        ("{'a': 1}", "malformed"),
        ('{"a" 1}', "malformed"),
        ('{"a": 1}}'[1:-1], "no_json"),
        ("[1, 2]", "not_an_object"),
        (f"[{ONE}]", "not_an_object"),
        ('"text"', "not_an_object"),
        ("3", "not_an_object"),
        ("NaN", "not_an_object"),
        ("null", "not_an_object"),
        ("true", "not_an_object"),
        ("```json\n[1]\n```", "not_an_object"),
        (f'{ONE} or rather {{"a": 2}}', "ambiguous"),
        (f'{FENCED}\n```json\n{{"a": 2}}\n```', "ambiguous"),
        (f"{FENCED}\n```\n[1\n```", "ambiguous"),  # a broken fence beside a good one, though it has no brace
        (f'{ONE} then {{"a": ', "ambiguous"),
        (f"{ONE} then {{a: 2}}", "ambiguous"),
        ('{"a": 1, "a": 2}', "duplicate_keys"),
        ('so {"b": {"a": 1, "a": [1]}}', "duplicate_keys"),
        ("x" * (MAX_CHARS + 1), "too_long"),
        (DEEP, "too_deep"),
        (DEEP + "1" + "}" * 100_000, "too_deep"),
        ("[" * 100_000, "too_deep"),
    ],
)
def test_each_way_to_hold_no_object_has_its_code(text: str, code: str) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize("text", ['{"a": true, "a": 1}', '{"a": true} {"a": 1}', '{"a": 0} {"a": false}'])
def test_a_boolean_is_not_equal_to_a_number(text: str) -> None:
    assert code_of(text) in ("duplicate_keys", "ambiguous")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "9" * 20, "-" + "9" * 5000])
def test_numbers_that_are_none_become_null_so_that_only_their_field_is_lost(text: str) -> None:
    assert extract_object(f'{{"a": {text}, "b": 1}}') == {"a": None, "b": 1}


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_nesting_is_read_to_a_fixed_depth(depth: int) -> None:
    # the object itself lies at depth 0, so that its innermost list lies at `depth`
    found = extract_object('{"a": ' + "[" * depth + "]" * depth + "}")
    assert isinstance(found, dict) is (depth <= MAX_DEPTH)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    st.sampled_from(["{}", "\n{}\n", "Here: {} done", "```json\n{}\n```", "<think>{{}}</think>{}"]),
    st.booleans(),
)
def test_any_object_is_found_in_any_wrapping(
    value: dict[str, object], wrapping: str, ascii_only: bool
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    assert extract_object(wrapping.replace("{{}}", "{x}").replace("{}", written)) == value
