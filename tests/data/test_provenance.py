"""Who may be trained on: the mark of a record, of a set, and what keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from attune_data import Conversations, load
from attune_data.format.constants import PROVENANCES, Provenance
from tests.data.builders import Json, conversation, folder, record, write

MARKS = [None, *PROVENANCES]


def marked(mark: str | None) -> Json:
    return record() if mark is None else record(provenance=mark)


@pytest.mark.parametrize(("in_file", "said", "want"), [
    (None, None, "benchmark"), (None, "own", "own"), (None, "imported", "imported"),
    # what the file says stands: the caller speaks only for records without a mark
    ("filler", None, "filler"), ("filler", "own", "filler"), ("own", "imported", "own"),
    ("benchmark", None, "benchmark"), ("benchmark", "own", "benchmark"),
])  # fmt: skip
def test_a_records_mark(tmp_path: Path, in_file: str | None, said: Provenance | None, want: str) -> None:
    found = load(write(tmp_path / "one.json", marked(in_file)), provenance=said)
    assert (found[0].origin, found.provenance) == (want, want)
    assert found[0].to_record()["provenance"] == want


@pytest.mark.parametrize("in_file", [None, "own"])
def test_what_lies_under_test_samples_is_benchmark_whatever_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_file: str | None
) -> None:
    path = folder(tmp_path / "Test Samples" / "Sample200", {1: marked(in_file)})
    write(path / "all.jsonl", json.dumps(marked(in_file)))
    datasets.Dataset.from_list([marked(in_file)]).save_to_disk(str(path / "saved"))
    (tmp_path / "mine").symlink_to(path, target_is_directory=True)
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "conversation_1.json").symlink_to(path / "conversation_1.json")
    monkeypatch.chdir(path)  # known from inside too, and through links
    inside = ("conversation_1.json", "all.jsonl", "saved")
    links = (tmp_path / "mine", tmp_path / "ours")
    for source in (path, *(path / name for name in inside), *map(Path, inside), *links):
        for said in PROVENANCES:
            found = load(source, provenance=said)
            assert found.provenance == found[0].to_record()["provenance"] == "benchmark"


@pytest.mark.parametrize(("marks", "want"), [
    (["own", "own"], "own"), (["filler"], "filler"), (["imported", "imported"], "imported"),
    (["own", "imported"], "imported"), (["filler", "own", "imported"], "filler"),
    (["own", "benchmark"], "benchmark"), (["filler", None, "own"], "benchmark"), ([None], "benchmark"),
    ([], "benchmark"),
])  # fmt: skip
def test_the_mark_of_a_mix(marks: list[str | None], want: str) -> None:
    items = [conversation(conversationId=f"c{i}", provenance=mark) for i, mark in enumerate(marks)]
    assert Conversations(items).provenance == Conversations(reversed(items)).provenance == want
    merged = Conversations(items[:1]) + Conversations(items[1:])
    assert (merged.provenance, merged[:1].provenance) == (want, Conversations(items[:1]).provenance)


@pytest.mark.parametrize("mark", MARKS)
def test_marks_survive_every_way_of_saving(tmp_path: Path, mark: str | None) -> None:
    want = mark or "benchmark"
    row = load(write(tmp_path / "one.json", marked(mark)))[0].to_record()
    text = json.dumps(row, ensure_ascii=False)
    write(tmp_path / "again.json", text)
    write(tmp_path / "again.jsonl", text)
    datasets.Dataset.from_list([row]).save_to_disk(str(tmp_path / "columns"))
    datasets.Dataset.from_list([{"record": text}]).save_to_disk(str(tmp_path / "texts"))
    # once written the mark stands, so that saying "own" no longer helps
    for name in ("again.json", "again.jsonl", "columns", "texts"):
        assert load(tmp_path / name, provenance="own").provenance == want


def test_marking_copies_and_leaves_the_rest() -> None:
    first = conversation(provenance="own")
    copy = first.marked("filler")
    assert (first.origin, copy.origin) == ("own", "filler")
    assert copy.to_record() | {"provenance": "own"} == first.to_record()
    assert first.marked("own") is first
