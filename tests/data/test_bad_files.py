"""Bad files and folders: what is missing, empty, given twice, or bad among good ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from tests.data.builders import folder, only_problem, problems_of, record, replaced, without, write


@pytest.mark.parametrize(("files", "advice"), [
    ({}, "the folder is empty"),
    ({"readme.md": ""}, "the folder holds readme.md"),
    ({"d.txt": "", "b.txt": "", "a.txt": "", "c.txt": ""}, "the folder holds a.txt, b.txt, c.txt …"),
    ({"Test Samples/Sample200/conversation_1.json": "", "x/a": ""}, "the folder holds Test Samples, x"),
    ({"Sample 200/conversation_1.json": "", "a.txt": ""}, "did you mean {path}/Sample 200?"),
])  # fmt: skip
def test_a_folder_without_conversations_says_what_it_holds(
    tmp_path: Path, files: dict[str, str], advice: str
) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    problem = only_problem(lambda: load(tmp_path))
    assert (problem.file, problem.found) == (str(tmp_path), "no conversation_N.json file")
    assert problem.advice == advice.format(path=tmp_path)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no such" / "folder"
    problem = only_problem(lambda: load(path))
    assert (problem.file, problem.found) == (str(path), "no such file or folder")
    assert "conversation_N.json" in problem.expected


def test_an_id_given_twice_names_both_files(tmp_path: Path) -> None:
    folder(tmp_path, {1: record(), 2: record(conversationId="other"), 10: record()})
    problem = only_problem(lambda: load(tmp_path))
    assert (problem.file, problem.place) == (str(tmp_path / "conversation_10.json"), "conversationId")
    assert problem.found == f'"c-1", which {tmp_path / "conversation_1.json"} has too'
    found = load(tmp_path, skip_invalid=True)
    assert ([one.conversation_id for one in found], len(found.left_out)) == (["c-1", "other"], 1)


def many(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """A folder of 12 files, four of them bad in five ways; the good ids, and the files and places."""
    good = {n: record(conversationId=f"c{n}") for n in range(1, 13)}
    bad: dict[int, Any] = {
        2: '{"conversationId": ',
        5: replaced(
            without(good[5], ("turns", 0, "llmResponse")),
            ("turns", 0, "annotations", "pairwiseComparisons", 1, "winner"),
            "C",
        ),
        11: b'{"a": "\xff"}',
    }
    folder(path, good | bad)
    (path / "conversation_12.json").unlink()
    (path / "conversation_12.json").mkdir()
    listed = [
        ("conversation_2.json", "line 1 column 20"),
        ("conversation_5.json", "turns[0].llmResponse"),
        ("conversation_5.json", "turns[0].annotations.pairwiseComparisons[1].winner"),
        ("conversation_11.json", "byte 7"),
        ("conversation_12.json", ""),
    ]
    return [f"c{n}" for n in (1, 3, 4, 6, 7, 8, 9, 10)], [(str(path / name), at) for name, at in listed]


def test_all_bad_files_of_a_folder_are_listed_in_order(tmp_path: Path) -> None:
    _, listed = many(tmp_path)
    assert [(p.file, p.place) for p in problems_of(lambda: load(tmp_path))] == listed


def test_skip_invalid_leaves_out_exactly_the_bad_files(tmp_path: Path) -> None:
    good, listed = many(tmp_path)
    found = load(tmp_path, skip_invalid=True)
    assert [one.conversation_id for one in found] == good
    assert [(p.file, p.place) for p in found.left_out] == listed


def test_skip_invalid_with_nothing_good_left_is_an_error(tmp_path: Path) -> None:
    folder(tmp_path, {1: "{", 2: "[]"})
    assert len(problems_of(lambda: load(tmp_path, skip_invalid=True))) == 2


def test_a_line_of_more_than_20_megabytes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", json.dumps(record()) + "\n" + '"' + "x" * 21_000_000 + '"\n')
    assert only_problem(lambda: load(path)).file == f"{path}:2"
