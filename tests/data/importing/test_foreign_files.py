"""Files that are not of the format: the first place that differs is named, with what was expected there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attune_data.importing import import_esconv, import_prism
from tests.data.builders import Place, only_problem, record, replaced, without
from tests.data.importing.exports import (
    chat,
    first_turn,
    real_prism,
    real_survey,
    replied,
    said,
    tree,
    write_json,
    write_prism,
)

GONE = object()
"""Stands for taking a field away."""

CHATS = [chat(), chat(said("a"), replied("b", "Question"))]
TREES = [tree("c0", *first_turn(3, 4)), tree("c1", *first_turn(5))]


def changed(value: Any, place: Place, new: Any) -> Any:
    return without(value, place) if new is GONE else replaced(value, place, new)


@pytest.mark.parametrize(("place", "new", "named", "found", "expected"), [
    ((1,), 3, "[1]", "3", "a conversation with dialog, a list of messages"),
    ((1,), ["a"], "[1]", "a list of 1", "a conversation with dialog"),
    ((1, "dialog"), GONE, "[1].dialog", "nothing", "a list of messages {speaker, annotation, content}"),
    ((1, "dialog"), "hello", "[1].dialog", '"hello"', "a list of messages"),
    ((1, "dialog", 0), "hello", "[1].dialog[0]", '"hello"', "an object"),
    ((1, "dialog", 1, "speaker"), "usr", "[1].dialog[1].speaker", '"usr"', '"seeker" or "supporter"'),
    ((1, "dialog", 1, "speaker"), GONE, "[1].dialog[1].speaker", "nothing", '"seeker" or "supporter"'),
    ((1, "dialog", 1, "speaker"), ["seeker"], "[1].dialog[1].speaker", "a list of 1", '"seeker"'),
    ((1, "dialog", 0, "content"), GONE, "[1].dialog[0].content", "nothing", "text"),
    ((1, "dialog", 0, "content"), None, "[1].dialog[0].content", "null", "text"),
    ((1, "dialog", 0, "content"), {"text": "a"}, "[1].dialog[0].content", "an object", "text"),
    ((1, "dialog", 1, "annotation"), "Question", "[1].dialog[1].annotation", '"Question"', "an object"),
    ((1, "dialog", 1, "annotation", "strategy"), 7, "[1].dialog[1].annotation.strategy", "7", "text"),
    ((1, "survey_score"), [], "[1].survey_score", "an empty list", "an object"),
    ((1, "survey_score", "seeker", "initial_emotion_intensity"), "6",
     "[1].survey_score.seeker.initial_emotion_intensity", '"6"', "a number from 1 to 5"),
    ((1, "survey_score", "seeker", "final_emotion_intensity"), "high",
     "[1].survey_score.seeker.final_emotion_intensity", '"high"', "a number from 1 to 5"),
    ((1, "survey_score", "seeker", "final_emotion_intensity"), 2.5,
     "[1].survey_score.seeker.final_emotion_intensity", "2.5", "a whole number from 1 to 5"),
    ((1, "survey_score", "seeker", "final_emotion_intensity"), True,
     "[1].survey_score.seeker.final_emotion_intensity", "true", "a number from 1 to 5"),
    ((1, "emotion_type"), 4, "[1].emotion_type", "4", "text"),
])  # fmt: skip
def test_the_place_in_an_esconv_file_that_differs_is_named(
    tmp_path: Path, place: Place, new: Any, named: str, found: str, expected: str
) -> None:
    # below a field that can be looked up by `replaced`
    path = write_json(tmp_path / "e.json", changed({"all": CHATS}, ("all", *place), new)["all"])
    problem = only_problem(lambda: import_esconv(path))
    assert (problem.file, problem.place, problem.found) == (str(path), named, found)
    assert problem.expected.startswith(expected)
    assert "docs/importing.md" in problem.advice
    kept = import_esconv(path, skip_invalid=True)
    assert [c.conversation_id for c in kept.conversations] == ["e-0"]
    assert kept.conversations.left_out == (problem,)
    (left,) = [c for c in kept.left if c.what == "conversations that differ from the format"]
    assert left.count == 1


@pytest.mark.parametrize(("value", "found", "advice"), [
    ([], "an empty list", "is this an ESConv export"),
    ({"dialog": []}, "an object", "is this an ESConv export"),
    ("7", "no list", "is this an ESConv export"),
    (record(), "an object", "this is in the package's own format already"),
])  # fmt: skip
def test_a_file_that_holds_no_list_of_chats_is_refused(
    tmp_path: Path, value: Any, found: str, advice: str
) -> None:
    problem = only_problem(lambda: import_esconv(write_json(tmp_path / "e.json", value)))
    assert problem.found == found
    assert problem.expected.startswith("a list of conversations, each with dialog")
    assert problem.advice.startswith(advice)


def test_a_file_without_any_exchange_says_why_nothing_is_left(tmp_path: Path) -> None:
    path = write_json(tmp_path / "e.json", [chat(said("a")), chat(replied("b"))])
    with pytest.raises(ValueError, match=r"\[0\].dialog.*\n.*\[1\].dialog"):
        import_esconv(path)


@pytest.mark.parametrize("load", [import_esconv, import_prism])
@pytest.mark.parametrize(("text", "found"), [
    ("", "an empty file"),
    ('[{"dialog": [', "the end of the file"),
    ("<html>", "broken JSON"),
])  # fmt: skip
def test_what_is_no_json_is_named_with_line_and_column(
    tmp_path: Path, load: Callable[[Path], Any], text: str, found: str
) -> None:
    path = tmp_path / "conversations.jsonl"
    path.write_text(text, encoding="utf-8")
    problem = only_problem(lambda: load(path))
    assert problem.found.startswith(found)
    assert problem.file.startswith(str(path))


@pytest.mark.parametrize("load", [import_esconv, import_prism])
def test_a_path_that_is_not_there_is_named(tmp_path: Path, load: Callable[[Path], Any]) -> None:
    problem = only_problem(lambda: load(tmp_path / "nowhere"))
    assert (problem.file, problem.found) == (str(tmp_path / "nowhere"), "no such file or folder")


def test_a_folder_in_the_place_of_an_esconv_file_says_what_it_holds(tmp_path: Path) -> None:
    write_json(tmp_path / "ESConv.json", [])
    problem = only_problem(lambda: import_esconv(tmp_path))
    assert (problem.found, problem.advice) == ("a folder", "the folder holds ESConv.json")


@pytest.mark.parametrize(("inside", "advice"), [
    ([], "the folder is empty"),
    (["survey.jsonl"], "the folder holds survey.jsonl"),
    (["a", "b", "c", "d"], "the folder holds a, b, c …"),
    (["data/conversations.jsonl"], "did you mean {}/data?"),
])  # fmt: skip
def test_a_folder_without_prisms_conversations_says_what_was_looked_for(
    tmp_path: Path, inside: list[str], advice: str
) -> None:
    for name in inside:
        write_json(tmp_path / name, "")
    problem = only_problem(lambda: import_prism(tmp_path))
    assert problem.found == "no conversations.jsonl"
    assert problem.expected == "conversations.jsonl, and survey.jsonl beside it"
    assert problem.advice == advice.format(tmp_path)


HISTORY: Place = ("conversation_history",)


@pytest.mark.parametrize(("place", "new", "named", "found", "expected"), [
    ((), 3, "", "3", "a conversation with conversation_history"),
    (("conversation_id",), GONE, "conversation_id", "nothing", "text"),
    (("conversation_id",), 12, "conversation_id", "12", "text"),
    (("user_id",), 12, "user_id", "12", "text"),
    (HISTORY, GONE, "conversation_history", "nothing", "a list of messages {turn, role, content, …}"),
    ((*HISTORY, 0), None, "conversation_history[0]", "null", "an object"),
    ((*HISTORY, 0, "role"), "human", "conversation_history[0].role", '"human"', '"user" or "model"'),
    ((*HISTORY, 0, "turn"), GONE, "conversation_history[0].turn", "nothing", "the number of the turn"),
    ((*HISTORY, 0, "turn"), -1, "conversation_history[0].turn", "-1", "the number of the turn"),
    ((*HISTORY, 0, "turn"), 1, "conversation_history", "replies in turn 0 and no message",
     "a message of the user in each turn"),
    ((*HISTORY, 1, "role"), "user", "conversation_history[1].turn", "0", "one message of the user a turn"),
    ((*HISTORY, 1, "content"), 5, "conversation_history[1].content", "5", "text"),
    ((*HISTORY, 1, "score"), 101, "conversation_history[1].score", "101", "a number from 0 to 100"),
    ((*HISTORY, 1, "score"), "good", "conversation_history[1].score", '"good"', "a number from 0 to 100"),
    ((*HISTORY, 1, "if_chosen"), "yes", "conversation_history[1].if_chosen", '"yes"', "true or false"),
    ((*HISTORY, 1, "if_chosen"), 1, "conversation_history[1].if_chosen", "1", "true or false"),
    ((*HISTORY, 1, "within_turn_id"), GONE, "conversation_history[1].within_turn_id", "nothing",
     "the number of the reply"),
    ((*HISTORY, 1, "within_turn_id"), 0.5, "conversation_history[1].within_turn_id", "0.5",
     "the number of the reply"),
    ((*HISTORY, 1, "model_name"), 4, "conversation_history[1].model_name", "4", "text"),
])  # fmt: skip
def test_the_place_in_a_prism_file_that_differs_is_named(
    tmp_path: Path, place: Place, new: Any, named: str, found: str, expected: str
) -> None:
    bad = changed({"all": TREES[0]}, ("all", *place), new)["all"]
    folder = write_prism(tmp_path, [TREES[1], bad])
    problem = only_problem(lambda: import_prism(folder))
    assert problem.file == f"{folder / 'conversations.jsonl'}:2"
    assert (problem.place, problem.found) == (named, found)
    assert problem.expected.startswith(expected)
    assert "docs/importing.md" in problem.advice
    kept = import_prism(folder, skip_invalid=True).conversations
    assert [c.conversation_id for c in kept] == ["prism-c1"]
    assert kept.left_out == (problem,)


def test_one_bad_line_of_json_is_named_and_can_be_skipped(tmp_path: Path) -> None:
    folder = write_prism(tmp_path, [json.dumps(TREES[0]), '{"conversation_id": ', json.dumps(TREES[1])])
    assert only_problem(lambda: import_prism(folder)).file == f"{folder / 'conversations.jsonl'}:2"
    assert len(import_prism(folder, skip_invalid=True).conversations) == 2


def test_an_id_given_twice_names_both_lines(tmp_path: Path) -> None:
    folder = write_prism(tmp_path, [TREES[0], TREES[0]])
    problem = only_problem(lambda: import_prism(folder))
    file = folder / "conversations.jsonl"
    assert (problem.file, problem.found) == (f"{file}:2", f'"prism-c0", which {file}:1 has too')


@pytest.mark.parametrize(("rows", "line", "place", "found"), [
    ([{"age": "18-24 years old"}], 1, "user_id", "nothing"),
    ([*real_survey(), *real_survey()], 2, "user_id", '"user0" again'),
    ([real_survey()[0] | {"age": 31}], 1, "age", "31"),
    ([real_survey()[0] | {"location": "Peru"}], 1, "location", '"Peru"'),
    ([*real_survey(), "", "[1]"], 3, "", "a list of 1"),
    (["{"], 1, "line 1 column 2", "the end of the file"),
])  # fmt: skip
def test_a_survey_that_differs_is_named_by_line(
    tmp_path: Path, rows: list[Any], line: int, place: str, found: str
) -> None:
    folder = write_prism(tmp_path, real_prism(), rows)
    problem = only_problem(lambda: import_prism(folder, skip_invalid=True))
    assert problem.file == f"{folder / 'survey.jsonl'}:{line}"
    assert (problem.place, problem.found) == (place, found)
