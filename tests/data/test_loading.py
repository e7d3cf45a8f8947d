"""Conversations come from folders, files, JSONL and saved datasets, always the same; bad ones are told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import AttuneError, Conversation, Conversations, DataError, fingerprint, load
from attune_data.jsonio import MAX_LISTED
from tests.data.builders import (
    Json,
    conversation,
    folder,
    only_problem,
    problems_of,
    record,
    replaced,
    turn,
    without,
    write,
)

# two records that Arrow has to fill up with nulls: what one has, the other lacks or has empty
FULL: Json = record(conversationId="full", provenance="own")
SPARSE: Json = {
    "conversationId": "sparse",
    "provenance": "own",
    "turns": [
        turn(1, moodShiftTags=[], annotations={"binaryJudgements": [], "pairwiseComparisons": []}),
        without(turn(2), ("annotations",)),
        without(turn(3), ("moodShiftTags",)),
    ],
}
WINNER = ("turns", 0, "annotations", "pairwiseComparisons", 1, "winner")


def ids(found: Iterable[Conversation]) -> list[str]:
    return [one.conversation_id for one in found]


def as_records(found: Conversations) -> list[Json]:
    return [one.to_record() for one in found]


def lines(*records: Json) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def save(path: Path, rows: list[Json]) -> str:
    datasets.Dataset.from_list(rows).save_to_disk(str(path))
    return str(path)


def as_text(*records: Json) -> list[Json]:
    return [{"record": json.dumps(one, ensure_ascii=False)} for one in records]


# sources


def test_every_source_gives_the_same_conversations(tmp_path: Path) -> None:
    sources: list[Path | str] = [
        folder(tmp_path / "folder", {1: FULL, 2: SPARSE}),
        # one record a line, blank lines and other line ends between
        write(tmp_path / "many.jsonl", "\n" + lines(FULL, SPARSE).replace("\n", "\r\n") + "  \n"),
        save(tmp_path / "columns", [FULL, SPARSE]),  # absent stays absent, empty stays empty
        save(tmp_path / "texts", as_text(FULL, SPARSE)),
    ]
    for source in sources:
        assert as_records(load(source)) == [FULL, SPARSE]
    assert len({load(source).fingerprint for source in sources}) == 1


def test_a_folder_is_read_in_the_order_of_its_numbers_and_other_files_are_left_alone(tmp_path: Path) -> None:
    folder(tmp_path, {n: record(conversationId=f"c{n}") for n in (10, 2, 1, 100, 9)})
    for name in ("annotation_codebook.json", "conversation_x.json", "conversation_1.json.bak", "notes.txt"):
        write(tmp_path / name, "not json")
    assert ids(load(tmp_path)) == ["c1", "c2", "c9", "c10", "c100"]


@pytest.mark.parametrize("name", [
    "conversation_2.JSON", "Conversation_2.json", "conversation-2.json", "conversation2.json",
    "conversation_2 (1).json", "conversation_2_final.json", "conversation_2.json.json",
    "conversation_2.jsonl",
    "CONVERSATION_2.JSON", "conversation_2\x1b[31m.json",
])  # fmt: skip
def test_a_name_that_is_nearly_right_is_said(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder(tmp_path, {1: record(conversationId="c1")})
    write(tmp_path / name, json.dumps(record(conversationId="c2")))
    assert ids(load(tmp_path)) == ["c1"]
    shown = name.replace("\x1b", r"\x1b")
    (line,) = caplog.messages
    assert line == f"warning: {tmp_path}: {shown}: not read; expected names like conversation_1.json"


def test_a_number_that_occurs_twice_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder(tmp_path, {7: record(conversationId="c7"), 1: record(conversationId="c1")})
    for zeros in ("0", "00"):
        write(tmp_path / f"conversation_{zeros}1.json", json.dumps(record(conversationId=f"c{zeros}1")))
    assert ids(load(tmp_path)) == ["c001", "c01", "c1", "c7"]
    names = "conversation_001.json, conversation_01.json, conversation_1.json"
    assert caplog.messages == [
        f"warning: {tmp_path}: {names}: read as 3 conversations, though all are number 1"
    ]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u001c", "\u001e"])
def test_only_line_ends_end_a_line_of_jsonl(tmp_path: Path, mark: str) -> None:
    # JSON writes the first three as they are; the others, escaped, are here for the escapes' sake
    one = replaced(FULL, ("turns", 0, "userMessage"), f"one{mark}two")
    assert as_records(load(write(tmp_path / "marks.jsonl", lines(one, SPARSE)))) == [one, SPARSE]


def test_a_dict_of_several_splits_wants_a_name(tmp_path: Path) -> None:
    parts = {"train": [FULL], "test": [SPARSE]}
    both = datasets.DatasetDict({k: datasets.Dataset.from_list(as_text(*v)) for k, v in parts.items()})
    both.save_to_disk(str(tmp_path / "dict"))
    assert ids(load(tmp_path / "dict", split="train")) == ["full"]
    assert ids(load(tmp_path / "dict", split="test")) == ["sparse"]
    with pytest.raises(AttuneError, match=r"splits train, test; choose one"):
        load(tmp_path / "dict")
    with pytest.raises(AttuneError, match=r'no split named "dev"; known: train, test'):
        load(tmp_path / "dict", split="dev")


def test_a_dataset_is_loaded_by_its_name_unless_a_path_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "some" / "where", {1: record()})
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def fetch(name: str) -> Any:
        asked.append(name)
        return datasets.DatasetDict({"test": datasets.Dataset.from_list([FULL, SPARSE])})

    monkeypatch.setattr(datasets, "load_dataset", fetch)
    assert as_records(load("someone/attune-like")) == [FULL, SPARSE]
    assert ids(load("some/where")) == ["c-1"]
    assert asked == ["someone/attune-like"]


# bad ones


@pytest.mark.parametrize(("files", "advice"), [
    ({}, "the folder is empty"),
    ({"readme.md": ""}, "the folder contains readme.md"),
    ({"d.txt": "", "b.txt": "", "a.txt": "", "c.txt": ""}, "the folder contains a.txt, b.txt, c.txt …"),
    ({"Test Samples/Sample200/conversation_1.json": "", "x/a": ""}, "the folder contains Test Samples, x"),
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


@pytest.mark.parametrize("name", [
    "a\0b", "\0", "a\0/conversation_1.json", "written:\0", "Test Samples/\0", "\ud800", "x/\udfff",
])  # fmt: skip
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_that_no_file_can_have_is_a_sentence(name: str, kind: type) -> None:
    assert only_problem(lambda: load(kind(name))).found == "a character that no file name can have"


@pytest.mark.parametrize("name", ["state.json", "dataset_dict.json"])
def test_a_broken_saved_dataset_is_bad_data(tmp_path: Path, name: str) -> None:
    write(tmp_path / "saved" / name, {"splits": ["train"]})
    with pytest.raises(DataError, match="saved"):
        load(tmp_path / "saved")


def test_an_id_given_twice_names_both_files(tmp_path: Path) -> None:
    folder(tmp_path, {1: record(), 2: record(conversationId="other"), 10: record()})
    problem = only_problem(lambda: load(tmp_path))
    assert (problem.file, problem.place) == (str(tmp_path / "conversation_10.json"), "conversationId")
    assert problem.found == f'"c-1", which is also in {tmp_path / "conversation_1.json"}'
    found = load(tmp_path, skip_invalid=True)
    assert (ids(found), len(found.left_out)) == (["c-1", "other"], 1)


def test_all_bad_files_of_a_folder_are_listed_in_order_and_only_they_are_left_out(tmp_path: Path) -> None:
    good = {n: record(conversationId=f"c{n}") for n in range(1, 13)}
    bad: dict[int, Any] = {
        2: '{"conversationId": ',
        5: replaced(without(good[5], ("turns", 0, "llmResponse")), WINNER, "C"),
        11: b'{"a": "\xff"}',
    }
    folder(tmp_path, good | bad)
    (tmp_path / "conversation_12.json").unlink()
    (tmp_path / "conversation_12.json").mkdir()
    listed = [
        (str(tmp_path / f"conversation_{n}.json"), at)
        for n, at in (
            (2, "line 1 column 20"), (5, "turns[0].llmResponse"),
            (5, "turns[0].annotations.pairwiseComparisons[1].winner"), (11, "byte 7"), (12, ""),
        )
    ]  # fmt: skip
    assert [(p.file, p.place) for p in problems_of(lambda: load(tmp_path))] == listed
    found = load(tmp_path, skip_invalid=True)
    assert ids(found) == [f"c{n}" for n in (1, 3, 4, 6, 7, 8, 9, 10)]
    assert [(p.file, p.place) for p in found.left_out] == listed


def test_a_problem_in_jsonl_names_the_line_and_in_a_dataset_the_row(tmp_path: Path) -> None:
    bad = without(SPARSE, ("turns",))
    many = write(tmp_path / "many.jsonl", lines(FULL) + "\n{]\n" + lines(bad))
    saved = save(tmp_path / "saved", as_text(FULL, bad))
    at_line = [(f"{many}:3", "line 1 column 2"), (f"{many}:4", "turns")]
    for source, places in ((many, at_line), (saved, [(f"{saved}[1]", "turns")])):
        found = problems_of(lambda: load(source))  # noqa: B023
        assert [(p.file, p.place) for p in found] == places
        left = load(source, skip_invalid=True)
        assert (ids(left), left.left_out) == (["full"], found)


@pytest.mark.parametrize("skip_invalid", [False, True])
def test_a_table_is_named_as_one_with_what_converts_it(tmp_path: Path, skip_invalid: bool) -> None:
    rows = [{"text": f"t{n}", "felt": "joy", "conversation_id": 3} for n in range(700)]
    saved = save(tmp_path / "saved", rows[:2])
    line = write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, rows)))
    for source in (write(tmp_path / "rows.csv", "text,felt\nt1,joy\n"), line, saved):
        problem = only_problem(lambda: load(source, skip_invalid=skip_invalid))  # noqa: B023
        assert (problem.file, problem.place, problem.expected) == (str(source), "", "conversations")
        assert problem.found.startswith("a table")
        assert "`attune data import feelings` or" in problem.advice
    mixed = write(tmp_path / "mixed.jsonl", lines(FULL) + json.dumps(rows[0]))
    assert {p.file for p in problems_of(lambda: load(mixed))} == {f"{mixed}:2"}


def test_skip_invalid_with_nothing_good_left_is_an_error(tmp_path: Path) -> None:
    folder(tmp_path, {1: "{", 2: "[]"})
    assert len(problems_of(lambda: load(tmp_path, skip_invalid=True))) == 2


def test_a_line_of_more_than_20_megabytes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", json.dumps(record()) + "\n" + '"' + "x" * 21_000_000 + '"\n')
    assert only_problem(lambda: load(path)).file == f"{path}:2"


def test_of_thousands_of_bad_records_the_first_thousand_problems_are_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", "12\n" * 1_100 + json.dumps(record()))
    found = load(path, skip_invalid=True).left_out
    assert (len(found), found[-1].found) == (MAX_LISTED + 1, "further problems")
    with pytest.raises(DataError):
        load(path)


# the sequence


def named(*names: str, source: str = "memory") -> Conversations:
    return Conversations([conversation(conversationId=name) for name in names], source=source)


def test_conversations_are_an_immutable_sequence() -> None:
    found = named("a", "b", "c", source="here")
    items = list(found)
    assert (len(found), found[0], found[-1]) == (3, items[0], items[2])
    part = found[1:]
    assert isinstance(part, Conversations)
    assert (ids(part), part.source) == (["b", "c"], "here")
    assert found.by_id["b"] is items[1]
    assert items[0] in found


def test_the_fingerprint_of_a_set_is_of_its_content_whatever_its_order() -> None:
    first, second = conversation(conversationId="a"), conversation(conversationId="b")
    both = Conversations([first, second]).fingerprint
    assert Conversations([second, first]).fingerprint == both
    changed = conversation(conversationId="b", metadata=None)
    assert fingerprint(changed) != fingerprint(second)
    assert both not in (Conversations([first]).fingerprint, Conversations([first, changed]).fingerprint)


def test_a_merge_keeps_order_marks_and_the_files_of_both(tmp_path: Path) -> None:
    one = load(folder(tmp_path / "one", {1: record(conversationId="a"), 2: record(conversationId="b")}))
    two = load(folder(tmp_path / "two", {7: record(conversationId="b", provenance="own")}))
    both = one[:1] + two  # the slice no longer holds "b", so its file of that name is not meant
    assert [(c.conversation_id, c.origin) for c in both] == [("a", "benchmark"), ("b", "own")]
    assert (both.source, list(both.by_id)) == (f"{one.source} + {two.source}", ["a", "b"])
    assert both.files["a"] == str(tmp_path / "one" / "conversation_1.json")
    assert both.files["b"] == str(tmp_path / "two" / "conversation_7.json")
    problem = only_problem(lambda: one + two)
    assert problem.file == both.files["b"]
    assert problem.found == f'"b", which is also in {tmp_path / "one" / "conversation_2.json"}'
    assert len(problems_of(lambda: one + one)) == 2
