"""Hostile files of conversations and of results: read or refused as bad data, in bounded room."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversations, DataError, Problem, load
from attune_data.jsonio import CHARS_PER_VALUE, MAX_BYTES, MAX_LISTED, parse_json, read_json
from attune_data.loading import MAX_TURNS
from attune_env.results.files import read_results
from attune_rewards import Assess, Tag, read_record
from tests.data.builders import (
    Json,
    Place,
    conversation,
    only_problem,
    problems_of,
    record,
    replaced,
    turn,
    write,
)
from tests.soak.documents import Base, document, lines

RESULT: Json = {
    "conversationId": "c-1",
    "em_model": "a/b",
    "mode": "default",
    "turns": [
        {
            "turnNumber": 1,
            "em_emotion_tags": [{"emotion": "Upset", "intensity": 5}],
            "em_drafted_response": "Oh no.",
            "em_binary_om_assessment": {"B1": "yes"},
            "em_pairwise_selections": {"0": "A"},
            "em_draft_judge_scores": {"overall_score": 6},
        }
    ],
    "post_conversation": {
        "predicted_post_panas": {"totalPositiveAffect": 33, "items": {"Proud": 4}},
        "predicted_conversation_wide": {"q1_lookingFor": ["x"], "fourBranchScores": {"managing": 7}},
    },
}


NAMES = [f"n{number}" for number in range(3_000)]


def peak_of(action: Callable[[], object]) -> int:
    """Bytes that it takes at most."""
    action()
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(action: Callable[[], object]) -> tuple[Problem, ...]:
    """The problems, () where there are none; any other error goes through."""
    try:
        action()
    except DataError as error:
        return error.problems
    return ()


# --- many short values ----------------------------------------------------------------------------


def dense(values: int, length: int) -> str:
    """A list of so many numbers in a text of that length."""
    text = "[" + ",".join(["1"] * values) + "]"
    return text + " " * (length - len(text))


def test_a_long_text_of_very_many_short_values_is_refused_before_it_is_decoded() -> None:
    length = 1_000_000
    most = 10_000 + length // CHARS_PER_VALUE
    assert len(parse_json(dense(most, length), "f.json")) == most
    problem = only_problem(lambda: parse_json(dense(most + 1, length), "f.json"))
    assert (problem.file, problem.place) == ("f.json", "")
    assert problem.found == "more than 50000 values in 1.0 million characters"


def test_short_texts_and_commas_inside_strings_are_not_refused() -> None:
    assert len(parse_json(dense(40_000, 100_000), "f.json")) == 40_000
    assert parse_json(json.dumps({"a": "so, so, [so], {so} " * 50_000}), "f.json")


def test_files_that_grow_with_their_runs_may_be_dense(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.json", dense(200_000, 400_000))
    only_problem(lambda: read_json(path))
    assert len(read_json(path, max_bytes=None)) == 200_000


def test_honest_records_are_far_from_the_limit_even_without_any_spaces() -> None:
    for item in load("sample"):
        text = json.dumps(item.to_record(), ensure_ascii=False, separators=(",", ":"))
        values = sum(map(text.count, ",[{"))
        assert values < 4_000
        assert 10_000 + len(text) // CHARS_PER_VALUE > 4 * values


# --- many problems --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    "[" + "NaN," * 1_500 + "1]",
    "[" + '"\\ud800",' * 1_500 + "1]",
    "[" + '{"a":1,"a":2},' * 1_500 + "1]",
    "[" + ("9" * 1_000 + ",") * 1_500 + "1]",
    "{" + "".join(f'"{n}":1,"{n}":2,' for n in range(1_500)) + '"a":1}',
], ids=["NaN", "halves", "objects with keys twice", "digits", "keys twice in one object"])  # fmt: skip
def test_of_thousands_of_problems_the_first_thousand_are_listed(text: str) -> None:
    found = problems_of(lambda: parse_json(text, "f.json"))
    assert len(found) == MAX_LISTED + 1
    assert len(set(found)) == len(found)
    assert found[-1].found == "more than 1000 such problems"


@pytest.mark.parametrize("kind", ["one list", "every turn"])
def test_of_thousands_of_values_that_do_not_fit_some_are_named_and_the_rest_counted(
    tmp_path: Path, kind: str
) -> None:
    bad = [0] * 5_000 if kind == "one list" else [0] * 20
    count = 1 if kind == "one list" else 300
    here = [turn(n + 1, annotations={"binaryJudgements": bad}) for n in range(count)]
    path = write(tmp_path / "one.json", record(turns=here))
    found = problems_of(lambda: load(path))
    assert len(found) < MAX_LISTED
    assert [p.place for p in found[:2]] == [f"turns[0].annotations.binaryJudgements[{n}]" for n in (0, 1)]
    # and the list of turns itself, in which none is left
    assert found[-1].found == f"{count * len(bad) + 1} values that do not fit"
    assert f"{len(found) - 1} of them are listed" == found[-1].advice


def test_values_that_do_not_fit_deep_in_a_list_are_counted_too(tmp_path: Path) -> None:
    tags = [{"emotion": "Upset"}] * 10 + [{"emotion": "none"}] * 2_000
    path = write(tmp_path / "one.json", record(turns=[turn(1, moodShiftTags=tags)]))
    problem = only_problem(lambda: load(path))
    assert (problem.found, problem.expected) == ("2001 values that do not fit", "the conversation format")


@pytest.mark.parametrize("turns", [[turn()], {}, None])
def test_thousands_of_bad_names_are_counted_whatever_the_turns_are(tmp_path: Path, turns: object) -> None:
    path = write(tmp_path / "one.json", record(turns=turns, prePanas={"responses": dict.fromkeys(NAMES, 9)}))
    found = problems_of(lambda: load(path))
    assert [p.place for p in found[:40]] == [f"prePanas.responses.{name}" for name in NAMES[:40]]
    assert len(found) <= 42
    assert found[-1].found == f"{len(NAMES) + (turns != [turn()])} values that do not fit"


def test_hundreds_of_problems_of_a_record_are_all_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "one.json", record(turns=[turn(1, moodShiftTags=[0] * 999)]))
    assert len(problems_of(lambda: load(path))) == 999


def test_once_a_thousand_problems_are_listed_further_records_get_one_each(tmp_path: Path) -> None:
    bad = json.dumps(record(turns=[turn(1, moodShiftTags=[0] * 990)]))
    path = write(tmp_path / "many.jsonl", f"{bad}\n" * 4)
    found = load_left_out(path, json.dumps(record()))
    by_line = [sum(p.file.endswith(f":{n}") for p in found) for n in (1, 2, 3, 4)]
    assert by_line == [990, 9, 2, 1]


def load_left_out(path: Path, good: str) -> tuple[Problem, ...]:
    """What is left out of the file once a good line stands at its end."""
    with path.open("a", encoding="utf-8") as file:
        file.write(good)
    return load(path, skip_invalid=True).left_out


def test_a_record_of_very_many_turns_is_refused(tmp_path: Path) -> None:
    def of(count: int) -> Json:
        return record(
            turns=[{"turnNumber": n + 1, "userMessage": "", "llmResponse": ""} for n in range(count)]
        )

    assert len(load(write(tmp_path / "a.json", of(MAX_TURNS)))[0].turns) == MAX_TURNS
    problem = only_problem(lambda: load(write(tmp_path / "b.json", of(MAX_TURNS + 1))))
    assert (problem.place, problem.found) == ("turns", f"a list of {MAX_TURNS + 1}")


def test_a_long_key_above_many_problems_is_shown_short() -> None:
    text = json.dumps({"k" * 100_000: ["\ud800"] * 500})
    found = problems_of(lambda: parse_json(text, "f.json"))
    assert [p.place for p in found[:2]] == [f"{'k' * 100}…[{n}]" for n in (0, 1)]
    assert peak_of(lambda: refused(lambda: parse_json(text, "f.json"))) < 2_000_000


# --- lines ----------------------------------------------------------------------------------------


def test_a_bad_byte_spoils_its_line_only(tmp_path: Path) -> None:
    good = json.dumps(record()).encode()
    content = b'{"a": "\xff"}\n' + good + b'\n{"b": "caf\xe9"}\r\n'
    path = write(tmp_path / "many.jsonl", content)
    found = load(path, skip_invalid=True)
    assert len(found) == 1
    assert [(p.file, p.place, p.found) for p in found.left_out] == [
        (f"{path}:1", "byte 7", "0xff"), (f"{path}:3", f"byte {content.index(0xE9)}", "0xe9"),
    ]  # fmt: skip


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n \n"])
def test_lines_are_read_with_any_line_end_and_byte_order_mark(
    tmp_path: Path, mark: bytes, end: bytes
) -> None:
    records = [record(conversationId=name, extra="two\u2028lines") for name in "ab"]
    content = mark + end.join(json.dumps(one, ensure_ascii=False).encode() for one in records) + end
    path = write(tmp_path / "many.jsonl", content)
    found = load(path)
    assert [one.conversation_id for one in found] == ["a", "b"]
    assert found.files["b"] == f"{path}:{1 + len(end.splitlines())}"


def test_a_line_beyond_the_limit_is_refused_with_its_length_and_the_next_one_read(tmp_path: Path) -> None:
    long = b'"' + b"x" * (2 * MAX_BYTES + 500_000) + b'"\n'
    path = write(tmp_path / "many.jsonl", long + json.dumps(record()).encode())
    found = load(path, skip_invalid=True)
    assert [(p.file, p.found) for p in found.left_out] == [(f"{path}:1", "40.5 MB in one line")]
    assert found.files["c-1"] == f"{path}:2"
    with path.open("ab") as file:
        file.write(b"\n\xff")
    bad = load(path, skip_invalid=True).left_out[1]
    assert bad.place == f"byte {path.stat().st_size - 1}"


def test_a_file_of_very_many_short_lines_is_no_file_of_conversations(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", "12\n" * 5_000)
    problem = only_problem(lambda: load(path, skip_invalid=True))
    assert (problem.file, problem.found) == (
        f"{path}:{MAX_LISTED + 1}", f"{MAX_LISTED + 1} lines of under 80 characters",
    )  # fmt: skip
    assert len(problems_of(lambda: load(write(tmp_path / "few.jsonl", "12\n" * 50)))) == 50


def test_a_file_of_lines_that_cannot_be_opened_is_bad_data(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", "x")
    path.chmod(0)
    problem = problems_of(lambda: load(path))[0]
    assert (problem.file, problem.expected) in ((str(path), "a readable file"), (f"{path}:1", "valid JSON"))


# --- results --------------------------------------------------------------------------------------


def test_of_thousands_of_warnings_the_first_thousand_are_listed() -> None:
    many = {
        "turns": [{"turnNumber": 1, "em_emotion_tags": [0] * 3_000, "em_binary_om_assessment": {"B1": 3}}]
    }
    said, warnings = read_record(many, conversation(), "r.json")
    assert len(warnings) == MAX_LISTED + 1
    assert [w.place for w in warnings[:2]] == [f"turns[0].em_emotion_tags[{n}]" for n in (0, 1)]
    assert (warnings[-1].found, warnings[-1].severity) == ("2001 more such values", "warning")
    assert said.turns[1].assess is not None


@pytest.mark.parametrize(("value", "found"), [
    ([[0] * 100_000], "a list of 1"), ([], "an empty list"), ({"a": 1}, "an object"), ({}, "an empty object"),
    ("x" * 100_000, '"' + "x" * 78 + "…"), (5, "5"),
])  # fmt: skip
def test_a_warning_shows_its_value_short(value: object, found: str) -> None:
    said = {"turns": [{"turnNumber": 1, "em_binary_om_assessment": {"B1": value}}]}
    (warning,) = read_record(said, conversation())[1]
    assert (warning.place, warning.found) == ("turns[0].em_binary_om_assessment.B1", found)


def test_a_warning_shows_a_long_name_short() -> None:
    said = {"turns": [{"turnNumber": 1, "em_binary_om_assessment": {"B" * 100_000: 5}}]}
    (warning,) = read_record(said, conversation())[1]
    assert warning.place.startswith("turns[0].em_binary_om_assessment.BBB")
    assert len(warning.place) == 201


# --- room -----------------------------------------------------------------------------------------

N = 400_000
SHAPES: dict[str, Any] = {
    "lists": [[]] * (N // 4),
    "objects": [{}] * (N // 4),
    "keys": {f"{n:x}": 1 for n in range(N // 11)},
    "numbers": [0] * (N // 3),
    "texts": [""] * (N // 4),
    "tags": [{"emotion": "Upset"}] * (N // 22),
    "a long text": "x" * N,
    "a wide text": "x" * N + "😀",
}
PLACES = {
    "unknown": ("extra",),
    "turns": ("turns",),
    "tags": ("turns", 0, "moodShiftTags"),
    "judgements": ("turns", 0, "annotations", "binaryJudgements"),
    "items": ("prePanas", "responses"),
    "answer": ("turns", 0, "annotations", "binaryJudgements", 0, "observedBehavior"),
    "id": ("conversationId",),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_of_json_takes_ten_times_its_room(shape: str) -> None:
    text = json.dumps(SHAPES[shape], ensure_ascii=False)
    peak = peak_of(lambda: refused(lambda: parse_json(text, "f.json")))
    assert peak < 10 * len(text.encode("utf-8")), f"{peak / len(text):.1f} times"


@pytest.mark.parametrize("length", [100_000, 300_000, 1_000_000])
def test_the_densest_json_that_is_read_takes_twelve_times_its_room_and_3_mb(length: int) -> None:
    count = min(10_000 + length // CHARS_PER_VALUE, length // 10) - 1
    text = "{" + ",".join(f'"{n:05x}":1' for n in range(count)) + " " * (length - 10 * count) + "}"
    assert len(parse_json(text, "f.json")) == count
    assert peak_of(lambda: parse_json(text, "f.json")) < 3_000_000 + 12 * length


def test_no_number_of_keys_given_twice_takes_ten_times_its_room() -> None:
    text = "[" + ('{"a":1,"a":1},' + " " * 50) * (N // 64) + "0]"
    assert len(problems_of(lambda: parse_json(text, "f.json"))) == MAX_LISTED + 1
    assert peak_of(lambda: refused(lambda: parse_json(text, "f.json"))) < 10 * len(text)


@pytest.mark.parametrize("place", [
    ("turns", 0, "em_emotion_tags", 0, "emotion"), ("turns", 0, "em_emotion_tags", 0, "intensity"),
    ("turns", 0, "em_binary_om_assessment", "B1"), ("turns", 0, "em_pairwise_selections", "0"),
    ("turns", 0, "em_drafted_response"), ("turns", 0, "em_draft_judge_scores", "overall_score"),
    ("post_conversation", "predicted_conversation_wide", "q1_lookingFor", 0), ("mode",),
])  # fmt: skip
def test_no_wide_text_in_a_result_takes_ten_times_its_room(tmp_path: Path, place: Place) -> None:
    path = write(tmp_path / "r.json", replaced(RESULT, place, "é" * N + "😀"))
    peak = peak_of(lambda: read_results(tmp_path, Conversations([conversation()])))
    assert peak < 10 * path.stat().st_size, f"{peak / path.stat().st_size:.1f} times"


def test_a_text_too_long_for_any_spelling_is_none_of_them() -> None:
    yes, name = " " * 100 + "yes", " " * 100 + "Upset"
    turn_ = {
        "turnNumber": 1,
        "em_binary_om_assessment": {"B1": yes, "B2": yes[-50:]},
        "em_emotion_tags": [name],
    }
    said, warnings = read_record({"turns": [turn_]}, conversation())
    assert said.turns[1].assess == Assess((Tag(name),), {"B2": "yes"})
    assert [w.place for w in warnings] == ["turns[0].em_binary_om_assessment.B1"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", PLACES)
def test_no_conversation_file_takes_25_times_its_room(tmp_path: Path, shape: str, place: str) -> None:
    path = write(tmp_path / "one.json", replaced(record(extra=0), PLACES[place], SHAPES[shape]))
    peak = peak_of(lambda: refused(lambda: load(path)))
    assert peak < 25 * path.stat().st_size, f"{peak / path.stat().st_size:.1f} times"


# --- many -----------------------------------------------------------------------------------------

SEEDS = st.integers(0, 2**40)
WHOLE, FLAT = Base(json.dumps(record(), indent=1, ensure_ascii=False)), Base(json.dumps(record()))
RESULTS = Base(json.dumps(RESULT, indent=1))


def assert_said_well(problems: tuple[Problem, ...] | list[Problem]) -> None:
    assert all(problem.file and str(problem).isprintable() for problem in problems)


@settings(max_examples=300, deadline=None)
@given(SEEDS, st.booleans())
def test_any_hostile_conversation_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, seed: int, as_lines: bool
) -> None:
    draw = random.Random(seed)
    folder = tmp_path_factory.getbasetemp()
    content = lines(draw, [FLAT], largest=3_000) if as_lines else document(draw, WHOLE, largest=3_000)
    path = write(folder / ("fire.jsonl" if as_lines else "fire.json"), content)
    assert_said_well(refused(lambda: load(path)))
    assert_said_well(refused(lambda: load(path, skip_invalid=True)))


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_any_hostile_result_file_is_read_or_listed(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fire"
    write(folder / "result.json", document(random.Random(seed), RESULTS, largest=3_000))
    results, problems, warnings = read_results(folder, Conversations([conversation()]))
    assert len(results) + bool(problems) == 1
    assert_said_well(problems)
    assert_said_well(warnings)


def test_the_generators_make_files_that_are_read_and_files_that_are_refused(tmp_path: Path) -> None:
    read = 0
    for seed in range(200):
        made = document(random.Random(seed), WHOLE, largest=3_000)
        assert made == document(random.Random(seed), WHOLE, largest=3_000)
        read += not refused(lambda made=made: load(write(tmp_path / "one.json", made)))  # type: ignore[misc]
    assert 20 < read < 180
