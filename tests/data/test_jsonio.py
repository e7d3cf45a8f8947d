"""Strict reading of JSON: every kind of bad text is a problem with its place, never another error."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data.errors import DataError, Problem
from attune_data.jsonio import CHARS_PER_VALUE, MAX_DEPTH, parse_json, read_json
from tests.data.builders import only_problem, problems_of, record, write

# a comma too many: Python up to 3.12 names the brace behind it, later ones the comma itself
COMMA = "line 1 column 8" if sys.version_info >= (3, 13) else "line 1 column 9"
CUT = "it is cut off: download or create it again"


def only(text: str) -> Problem:
    problem = only_problem(lambda: parse_json(text, "f.json"))
    assert problem.file == "f.json"
    str(problem).encode("utf-8")
    return problem


@pytest.mark.parametrize("value", [
    None, True, 0, -1.5e-7, "", "naïve 😀 שלום \u2028", [], {}, {"": [{"a": [None]}]}, record(),
    "x" * 1_000_000,
])  # fmt: skip
def test_valid_json_is_read_as_it_is(value: object) -> None:
    assert parse_json(json.dumps(value), "f.json") == value
    assert parse_json(f" \n{json.dumps(value, ensure_ascii=False)}\r\n", "f.json") == value


@pytest.mark.parametrize(("text", "place", "found", "advice"), [
    ("", "", "an empty file", "remove"), (" ", "", "an empty file", "remove"),
    ("\n\t\r\n", "", "an empty file", "remove"),
    ("hello", "line 1 column 1", "broken JSON", "fix"),
    ('{"a": 1,\n "b": oops}', "line 2 column 7", "broken JSON", "fix"),
    ("{'a': 1}", "line 1 column 2", "broken JSON", "fix"),
    ('{"a": 1} {"b": 2}', "line 1 column 10", "broken JSON", "fix"),
    ('{"a": 1,}', COMMA, "broken JSON", "fix"),
    ('{"a": "two\nlines"}', "line 1 column 11", "broken JSON", "fix"),
    ('{"é😀": \\}', "line 1 column 8", "broken JSON", "fix"),
    ('{"a": 1,\n "b": ', "line 2 column 7", "the end of the file", CUT),
    ('{"a": [1, 2', "line 1 column 12", "the end of the file", CUT),
    ('{"a"', "line 1 column 5", "the end of the file", CUT),
    ("{", "line 1 column 2", "the end of the file", CUT),
    ('{"a": 1,\n "b": "never clo', "line 2 column 7", "the end of the file", CUT),  # begun there, without end
    *(('{"a":\n {"b": [1,\n ' + number + "]}}", "a.b[1]", found, "replace")
      for number, found in [("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf"), ("1e999", "inf"),
                            ("-1e999", "-inf"), ("1" * 400 + ".0", "inf")]),
    ('{"a":\n {"b": [1,\n ' + "7" * 5000 + "]}}", "a.b[1]", "a number with thousands of digits", ""),
    (r'{"a": [1, "\ud800"]}', "a[1]", "a lone surrogate", "replace"),
    (r'{"a": {"b": "x\udfffy"}}', "a.b", "a lone surrogate", "replace"),
    (r'["ok", "\ude00\ud83d"]', "[1]", "a lone surrogate", "replace"),  # two halves in the wrong order
    (r'{"x\ud800": 1}', "x\ud800", "a lone surrogate in a key", ""),
    (r'"\ud83d"', "", "a lone surrogate", "replace"),
])  # fmt: skip
def test_what_is_no_sound_json_is_located(text: str, place: str, found: str, advice: str) -> None:
    problem = only(text)
    assert problem.place == place
    assert problem.found.startswith(found)
    assert problem.advice.startswith(advice)


def test_duplicate_keys_are_each_named_with_their_place() -> None:
    text = '{"turns": [{"n": 1},\n {"n": 1, "n": 1}], "a": 1,\n "é": {"b": 1, "b": 2}, "a": 3}'
    found = problems_of(lambda: parse_json(text, "f.json"))
    places = {p.place: p.found for p in found}
    twice = {"turns[1]": "n", "é": "b", "": "a"}
    assert places == {at: f'key "{key}" twice in one object' for at, key in twice.items()}


def nested(depth: int) -> str:
    return '{"a":[' * (depth // 2) + '"x"' + "]}" * (depth // 2)


def test_nesting_is_read_down_to_the_limit() -> None:
    assert parse_json(nested(MAX_DEPTH), "f.json")
    problem = only(nested(MAX_DEPTH + 2))
    assert problem.place.startswith("a[0].a[0]")
    assert str(MAX_DEPTH) in problem.found


def dense(values: int, length: int) -> str:
    numbers = ",".join("1" * values)
    return "[" + numbers + " " * (length - len(numbers) - 2) + "]"


def test_a_long_text_of_very_many_short_values_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    length = 200_000
    most = 10_000 + length // CHARS_PER_VALUE  # 18,000
    assert len(parse_json(dense(most - 1, length), "f.json")) == most - 1
    assert only(dense(most + 1, length)).found == "more than 18000 values in 0.2 million characters"
    assert len(parse_json(dense(40_000, 100_000), "f.json")) == 40_000
    assert parse_json(json.dumps({"a": "so, so, [so], {so} " * 50_000}), "f.json")
    path = write(tmp_path / "scores.json", dense(200_000, 400_000))
    only_problem(lambda: read_json(path))
    assert len(read_json(path, max_bytes=None)) == 200_000


@pytest.mark.parametrize(("content", "place", "found"), [
    (b'{"a": "\xff"}', "byte 7", "0xff"),
    (b'{"a": "caf\xe9"}', "byte 10", "0xe9"),  # Latin-1
    ("{}".encode("utf-16"), "byte 0", "0xff"),
    (b'{"a": "\xed\xa0\x80"}', "byte 7", "0xed"),  # a surrogate, encoded as if it were a character
    (b'{"a": "\xf0\x9f', "byte 7", "0xf0"),  # cut off inside a character
])  # fmt: skip
def test_a_byte_that_is_no_utf8_is_located(tmp_path: Path, content: bytes, place: str, found: str) -> None:
    path = write(tmp_path / "f.json", content)
    problem = only_problem(lambda: read_json(path))
    assert (problem.file, problem.place, problem.found) == (str(path), place, found)
    assert problem.expected == "UTF-8 text"


def test_what_cannot_be_opened_is_bad_data(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.json"):
        problem = only_problem(lambda: read_json(path))  # noqa: B023
        assert (problem.file, problem.expected) == (str(path), "a readable file")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    value: object = None
    problems: tuple[Problem, ...] = (Problem("f.json", "", "", ""),)
    try:
        value = parse_json(text, "f.json")
    except DataError as error:
        problems = error.problems
    assert problems
    assert all(problem.file == "f.json" and str(problem).isprintable() for problem in problems)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
