"""Strict reading of JSON: every kind of bad text is a problem with its place, never another error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data.errors import DataError, Problem
from attune_data.jsonio import MAX_DEPTH, parse_json, read_json
from tests.data.builders import only_problem, problems_of, record, write


def only(text: str) -> Problem:
    problem = only_problem(lambda: parse_json(text, "f.json"))
    assert problem.file == "f.json"
    return problem


@pytest.mark.parametrize("value", [
    None, True, 0, -1.5e-7, "", "naïve 😀 שלום \u2028", [], {}, {"": [{"a": [None]}]}, record(),
    "x" * 1_000_000,
])  # fmt: skip
def test_valid_json_is_read_as_it_is(value: object) -> None:
    assert parse_json(json.dumps(value), "f.json") == value
    assert parse_json(f" \n{json.dumps(value, ensure_ascii=False)}\r\n", "f.json") == value


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n"])
def test_an_empty_file_is_said_to_be_empty(text: str) -> None:
    problem = only(text)
    assert (problem.found, problem.expected) == ("an empty file", "a JSON object")


@pytest.mark.parametrize(("text", "place"), [
    ("hello", "line 1 column 1"),
    ('{"a": 1,\n "b": oops}', "line 2 column 7"),
    ("{'a': 1}", "line 1 column 2"),
    ('{"a": 1} {"b": 2}', "line 1 column 10"),
    # A comma too many: Python up to 3.12 names the brace behind it, later ones the comma itself.
    ('{"a": 1,}', "line 1 column 8" if sys.version_info >= (3, 13) else "line 1 column 9"),
    ('{"a": "two\nlines"}', "line 1 column 11"),
    ('{"é😀": \\}', "line 1 column 8"),
])  # fmt: skip
def test_what_is_not_json_is_located(text: str, place: str) -> None:
    problem = only(text)
    assert (problem.place, problem.expected) == (place, "valid JSON")
    assert problem.found
    assert "cut off" not in problem.advice


@pytest.mark.parametrize(("text", "place"), [
    ('{"a": 1,\n "b": ', "line 2 column 7"),
    ('{"a": [1, 2', "line 1 column 12"),
    ('{"a"', "line 1 column 5"),
    ("{", "line 1 column 2"),
    ('{"a": 1,\n "b": "never clo', "line 2 column 7"),  # the text that was begun there has no end
])  # fmt: skip
def test_a_file_that_was_cut_off_is_said_to_be(text: str, place: str) -> None:
    problem = only(text)
    assert (problem.place, problem.expected) == (place, "valid JSON")
    assert problem.advice == "it is cut off: fetch it or make it again"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 400 + ".0"])
def test_numbers_that_are_not_finite_are_refused_with_their_place(number: str) -> None:
    problem = only('{"metadata":\n {"scores": [1,\n ' + number + "]}}")
    assert "metadata.scores[1]" in problem.place or "line 3" in problem.place
    assert "finite" in problem.expected


def test_a_number_of_thousands_of_digits_is_refused_with_its_place() -> None:
    problem = only('{"metadata":\n {"scores": [1,\n ' + "7" * 5000 + "]}}")
    assert "digits" in problem.found
    assert "metadata.scores[1]" in problem.place or "line 3" in problem.place


def test_duplicate_keys_are_each_named_with_their_place() -> None:
    text = '{"turns": [{"n": 1},\n {"n": 1, "n": 1}], "a": 1,\n "é": {"b": 1, "b": 2}, "a": 3}'
    found = problems_of(lambda: parse_json(text, "f.json"))
    assert sorted(p.found for p in found) == [f'key "{key}" twice in one object' for key in "abn"]
    wheres = {p.found[5]: p.place for p in found}
    assert "turns[1]" in wheres["n"] or "line 2" in wheres["n"]
    assert "é" in wheres["b"] or "line 3" in wheres["b"]


@pytest.mark.parametrize(("text", "place"), [
    (r'{"a": [1, "\ud800"]}', "a[1]"),
    (r'{"a": {"b": "x\udfffy"}}', "a.b"),
    (r'["ok", "\ude00\ud83d"]', "[1]"),  # the two halves in the wrong order
    (r'{"x\ud800": 1}', "x\ud800"),
    (r'"\ud83d"', ""),
])  # fmt: skip
def test_a_lone_surrogate_is_located(text: str, place: str) -> None:
    problem = only(text)
    assert problem.place == place
    assert problem.found.startswith("a lone surrogate")
    assert str(problem).isprintable()
    str(problem).encode("utf-8")


def nested(depth: int) -> str:
    return '{"a":[' * (depth // 2) + '"x"' + "]}" * (depth // 2)


def test_nesting_is_read_down_to_the_limit() -> None:
    assert parse_json(nested(MAX_DEPTH), "f.json")
    problem = only(nested(MAX_DEPTH + 2))
    assert problem.place.startswith("a[0].a[0]")
    assert str(MAX_DEPTH) in problem.found


# files


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


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_what_cannot_be_opened_is_bad_data(tmp_path: Path, kind: str) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "nothing.json"
    problem = only_problem(lambda: read_json(path))
    assert (problem.file, problem.expected) == (str(path), "a readable file")


# properties


def attempt(read: Callable[[], object]) -> tuple[object, tuple[Problem, ...]]:
    """The value, or the problems; any other error than DataError goes through."""
    try:
        return read(), ()
    except DataError as error:
        return None, error.problems or (Problem("", "", "", ""),)


def read_or_refuse(text: str) -> None:
    """Reads, or raises DataError; what was read can be written as UTF-8 JSON again."""
    value, problems = attempt(lambda: parse_json(text, "f.json"))
    assert all(problem.file == "f.json" and str(problem).isprintable() for problem in problems)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refuse(text)
