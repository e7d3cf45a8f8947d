"""Conversations come from folders, files, JSONL and saved datasets, always the same ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from attune_data import AttuneError, Conversations, DataError, fingerprint, load
from attune_data.validate import conversation_from
from tests.data.builders import Json, folder, record, replaced, turn, with_annotations, without, write

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


def ids(found: Conversations) -> list[str]:
    return [one.conversation_id for one in found]


def as_records(found: Conversations) -> list[Json]:
    return [one.to_record() for one in found]


def lines(*records: Json) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


# folders and files


def test_a_folder_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    folder(tmp_path, {n: record(conversationId=f"c{n}") for n in (10, 2, 1, 100, 9)})
    assert ids(load(tmp_path)) == ["c1", "c2", "c9", "c10", "c100"]


def test_other_files_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    folder(tmp_path, {1: record()})
    for name in ("annotation_codebook.json", "conversation_x.json", "conversation_1.json.bak", "notes.txt"):
        write(tmp_path / name, "not json")
    assert ids(load(tmp_path)) == ["c-1"]


# JSONL


def test_jsonl_holds_one_record_a_line_in_its_own_order(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", "\n" + lines(FULL, SPARSE).replace("\n", "\r\n") + "  \n")
    assert as_records(load(path)) == [FULL, SPARSE]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u001c", "\u001e"])
def test_only_line_ends_end_a_line_of_jsonl(tmp_path: Path, mark: str) -> None:
    # JSON writes the first three as they are; the others, escaped, are here for the escapes' sake
    one = replaced(FULL, ("turns", 0, "userMessage"), f"one{mark}two")
    assert as_records(load(write(tmp_path / "marks.jsonl", lines(one, SPARSE)))) == [one, SPARSE]


def test_a_problem_in_jsonl_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", lines(FULL) + "\n{]\n" + lines(without(SPARSE, ("turns",))))
    with pytest.raises(DataError) as caught:
        load(path)
    assert [(p.file, p.place) for p in caught.value.problems] == [
        (f"{path}:3", "line 1 column 2"),
        (f"{path}:4", "turns"),
    ]
    left = load(path, skip_invalid=True)
    assert ids(left) == ["full"]
    assert left.left_out == caught.value.problems


# datasets


def save(path: Path, rows: list[Json]) -> str:
    datasets.Dataset.from_list(rows).save_to_disk(str(path))
    return str(path)


def as_text(*records: Json) -> list[Json]:
    return [{"record": json.dumps(one, ensure_ascii=False)} for one in records]


def test_a_saved_dataset_with_the_records_own_columns(tmp_path: Path) -> None:
    found = load(save(tmp_path / "saved", [FULL, SPARSE]))
    assert as_records(found) == [FULL, SPARSE]  # absent stays absent, empty stays empty
    assert [fingerprint(one) for one in found] == [
        fingerprint(conversation_from(one, "")) for one in (FULL, SPARSE)
    ]


def test_a_saved_dataset_with_a_column_of_texts(tmp_path: Path) -> None:
    assert as_records(load(save(tmp_path / "saved", as_text(FULL, SPARSE)))) == [FULL, SPARSE]


def test_a_dict_of_several_splits_wants_a_name(tmp_path: Path) -> None:
    parts = {"train": [FULL], "test": [SPARSE]}
    both = datasets.DatasetDict({k: datasets.Dataset.from_list(as_text(*v)) for k, v in parts.items()})
    both.save_to_disk(str(tmp_path / "dict"))
    assert ids(load(tmp_path / "dict", split="train")) == ["full"]
    assert ids(load(tmp_path / "dict", split="test")) == ["sparse"]
    with pytest.raises(AttuneError, match=r"splits train, test; say which"):
        load(tmp_path / "dict")
    with pytest.raises(AttuneError, match=r'no split named "dev"; known: train, test'):
        load(tmp_path / "dict", split="dev")


def test_a_problem_in_a_dataset_names_the_row(tmp_path: Path) -> None:
    path = save(tmp_path / "saved", as_text(FULL, without(SPARSE, ("turns",))))
    with pytest.raises(DataError) as caught:
        load(path)
    assert [(p.file, p.place) for p in caught.value.problems] == [(f"{path}[1]", "turns")]
    assert ids(load(path, skip_invalid=True)) == ["full"]


@pytest.mark.parametrize("name", ["state.json", "dataset_dict.json"])
def test_a_broken_saved_dataset_is_bad_data(tmp_path: Path, name: str) -> None:
    write(tmp_path / "saved" / name, {"splits": ["train"]})
    with pytest.raises(DataError, match="saved"):
        load(tmp_path / "saved")


def test_a_dataset_is_loaded_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fetch(name: str) -> Any:
        asked.append(name)
        return datasets.DatasetDict({"test": datasets.Dataset.from_list([FULL, SPARSE])})

    monkeypatch.setattr(datasets, "load_dataset", fetch)
    assert as_records(load("someone/attune-like")) == [FULL, SPARSE]
    assert asked == ["someone/attune-like"]


def test_an_existing_path_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path / "some" / "where", {1: record()})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(datasets, "load_dataset")
    assert ids(load("some/where")) == ["c-1"]


# the sequence


def test_conversations_are_an_immutable_sequence() -> None:
    items = [conversation_from(record(conversationId=name), "") for name in "abc"]
    found = Conversations(items, source="here")
    assert (len(found), found[0], found[-1], list(found)) == (3, items[0], items[2], items)
    part = found[1:]
    assert isinstance(part, Conversations)
    assert (ids(part), part.source) == (["b", "c"], "here")
    assert found.by_id["b"] is items[1]
    assert items[0] in found


def test_the_fingerprint_of_a_set_does_not_depend_on_order() -> None:
    first, second = (conversation_from(one, "") for one in (FULL, SPARSE))
    both = Conversations([first, second]).fingerprint
    assert Conversations([second, first]).fingerprint == both
    assert Conversations([first]).fingerprint != both
    changed = conversation_from(with_annotations(binaryJudgements=[]) | {"conversationId": "sparse"}, "")
    assert Conversations([first, changed]).fingerprint != both


def test_every_source_gives_the_same_fingerprint(tmp_path: Path) -> None:
    sources: list[Path | str] = [
        folder(tmp_path / "folder", {1: FULL, 2: SPARSE}),
        write(tmp_path / "lines.jsonl", lines(SPARSE, FULL)),
        save(tmp_path / "columns", [FULL, SPARSE]),
        save(tmp_path / "texts", as_text(FULL, SPARSE)),
    ]
    assert len({load(source).fingerprint for source in sources}) == 1


# sets that stay in their files
