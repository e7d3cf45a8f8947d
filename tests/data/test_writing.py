"""Conversations to disk: what is written is read back, the same each time, and nothing else is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation, Conversations, DataError, SettingsError, load
from attune_data.files.write import write_dataset, write_folder, write_jsonl, write_parts
from tests.command import names, snapshot
from tests.data.builders import conversation, only_problem, write

Writer = Callable[..., int]
WRITERS: dict[str, Writer] = {"folder": write_folder, "data.jsonl": write_jsonl, "dataset": write_dataset}
SAMPLE = load("sample")
ODD = Conversations(
    [
        conversation(conversationId="שיחה 😀/…\u2028", metadata={"category": None, "extra": {"é": [1, 2.5]}}),
        conversation(conversationId="b", provenance="own", participant_profile=None),
        conversation(conversationId="c", provenance="imported"),
    ]
)


def made(mark: str) -> Conversation:
    return conversation(conversationId=mark, provenance="own")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("data", [SAMPLE, ODD], ids=["sample", "odd"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str, data: Conversations) -> None:
    path = tmp_path / "new" / name
    assert WRITERS[name](data, path) == len(data)
    back = load(path)
    assert [c.to_record() for c in back] == [c.to_record() for c in data]
    assert (back.fingerprint, back.provenance) == (data.fingerprint, data.provenance)
    assert names(path.parent) == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_conversations_are_the_same_bytes(tmp_path: Path, name: str) -> None:
    for place in ("1", "2"):
        WRITERS[name](iter(SAMPLE), tmp_path / place / name)
    assert snapshot(tmp_path / "1") == snapshot(tmp_path / "2")


def test_numbers_can_be_given(tmp_path: Path) -> None:
    write_folder(SAMPLE[:3], tmp_path / "out", numbers=[248, 0, 7])
    assert load(tmp_path / "out").files["sample-02"].endswith("conversation_0.json")
    assert [c.conversation_id for c in load(tmp_path / "out")] == ["sample-02", "sample-03", "sample-01"]


def failing() -> Iterator[Conversation]:
    yield made("1")
    raise RuntimeError("stopped")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("before", [False, True])
def test_a_failure_leaves_all_as_it_was(tmp_path: Path, name: str, before: bool) -> None:
    if before:
        WRITERS[name](SAMPLE[:2], tmp_path / name)
    there = snapshot(tmp_path)
    attempts: list[tuple[Iterable[Conversation], type[Exception]]] = [
        (failing(), RuntimeError), ([], SettingsError), ([made("1"), made("1")], DataError),
    ]  # fmt: skip
    for data, error in attempts:
        with pytest.raises(error):
            WRITERS[name](data, tmp_path / name, overwrite=True)
        assert snapshot(tmp_path) == there
        assert names(tmp_path) == ([name] if before else [])


@pytest.mark.parametrize("name", WRITERS)
def test_data_is_replaced_only_when_asked(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](SAMPLE, path)
    there = snapshot(tmp_path)
    problem = only_problem(lambda: WRITERS[name](SAMPLE[:2], path))
    assert problem.advice.endswith("with --overwrite")
    assert snapshot(tmp_path) == there
    assert WRITERS[name](SAMPLE[:2], path, overwrite=True) == 2
    assert len(load(path)) == 2
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("writer", [write_folder, write_dataset])
def test_other_files_are_never_removed(tmp_path: Path, writer: Writer, overwrite: bool) -> None:
    write_folder(SAMPLE[:1], tmp_path / "x")
    write(tmp_path / "x" / "notes.txt", "mine")
    there = snapshot(tmp_path)
    problem = only_problem(lambda: writer(SAMPLE, tmp_path / "x", overwrite=overwrite))
    assert (problem.found, problem.advice) == ("notes.txt", "choose another -o, or move them away")
    assert snapshot(tmp_path) == there


@pytest.mark.parametrize("content", ["a,b\n1,2\n", '{"rows": 3}\n', "[1]\n", b"\xff\xfe", "[" * 100_000])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_of_something_else_is_never_replaced(tmp_path: Path, content: Any, overwrite: bool) -> None:
    path = write(tmp_path / "x.jsonl", content)
    there = snapshot(tmp_path)
    problem = only_problem(lambda: write_jsonl(SAMPLE, path, overwrite=overwrite))
    assert problem.found == "a file that does not start with a conversation"
    assert snapshot(tmp_path) == there


NUMBERS = {c.conversation_id: n for n, c in enumerate(SAMPLE, 1)}


def test_parts_replace_all_earlier_parts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_parts({"train": SAMPLE[:3], "old": SAMPLE[3:5]}, out, numbers=NUMBERS)
    assert names(out) == ["old", "train"]
    problem = only_problem(lambda: write_parts({"train": SAMPLE[:1]}, out, numbers=NUMBERS))
    assert (problem.found, problem.file) == ("old, train", str(out))
    write(out / "train" / ".keep", "")
    write_parts({"train": SAMPLE[5:6], "test": SAMPLE[:2]}, out, numbers=NUMBERS, overwrite=True)
    assert names(out) == ["test", "train"]  # what was in another split cannot leak into this one
    assert names(out / "train") == [".keep", "conversation_6.json"]
    assert names(out / "test") == ["conversation_1.json", "conversation_2.json"]


@pytest.mark.parametrize("other", ["notes.txt", "train/notes.txt", "runs/a/b.txt", None])
def test_parts_are_written_all_or_none_and_leave_other_things_alone(
    tmp_path: Path, other: str | None
) -> None:
    out = tmp_path / "out"
    write_parts({"train": SAMPLE[:3]}, out, numbers=NUMBERS)
    if other:
        write(out / other, "mine")
    there = snapshot(tmp_path)
    parts = {"train": SAMPLE[5:6], "test": SAMPLE[:1] if other else []}
    with pytest.raises(DataError if other else SettingsError):
        write_parts(parts, out, numbers=NUMBERS, overwrite=True)
    assert snapshot(tmp_path) == there
