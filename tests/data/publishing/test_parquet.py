"""Parquet files and their card: what is written is read back, and the card says what the data states."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import DatasetCard

from attune_data import Conversations, DataError, SettingsError, load
from attune_data.files.write import write_folder, write_parts
from attune_data.format.constants import PROVENANCES
from attune_data.publishing import parquet
from attune_data.publishing.card import MARKS, licence_id
from attune_data.publishing.parquet import to_parquet
from attune_data.publishing.splits import splits_of
from attune_env.testing import filler
from tests.command import names, snapshot
from tests.data.builders import conversation, only_problem, write
from tests.data.test_writing import ODD

SAMPLE = load("sample")
MINE = Conversations(c.marked("own") for c in ODD)


def test_texts_of_every_kind_come_back_in_every_row_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROWS", 2)
    data = MINE + SAMPLE[:3]
    assert to_parquet(data, tmp_path / "a [1]*") == {"train": 6}
    for path in (tmp_path / "a [1]*", tmp_path / "a [1]*" / "data" / "train.parquet"):
        back = load(path)
        assert [c.to_record() for c in back] == [c.to_record() for c in data]
        stored = load(path, in_memory=False)
        assert stored[5] == data[5]
        assert stored[0] == data[0]
    to_parquet(data, tmp_path / "again")
    assert (tmp_path / "again/data/train.parquet").read_bytes() == path.read_bytes()
    to_parquet(SAMPLE[3:4], tmp_path / "a [1]*", overwrite=True)  # nothing of the old file is remembered
    assert [c.conversation_id for c in load(tmp_path / "a [1]*")] == ["sample-04"]


def test_half_a_character_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    odd = Conversations([conversation(conversationId="c", provenance="own", extra={"x": "\ud83d"})])
    problem = only_problem(lambda: to_parquet(odd, tmp_path / "out"))
    assert (problem.place, problem.found) == ('"c"', "a lone surrogate (half of a character)")
    assert names(tmp_path) == []


def test_split_folders_stay_splits_and_the_card_counts_them(tmp_path: Path) -> None:
    numbers = {c.conversation_id: n for n, c in enumerate(SAMPLE, 1)}
    write_parts({"train": SAMPLE[:12], "test": SAMPLE[12:]}, tmp_path / "in", numbers=numbers)
    assert to_parquet(tmp_path / "in", tmp_path / "out", licence="CC BY-NC 4.0") == {"test": 8, "train": 12}
    assert load(tmp_path / "out", split="test").fingerprint == SAMPLE[12:].fingerprint
    assert {name: len(part) for name, part in splits_of(tmp_path / "out").items()} == {"test": 8, "train": 12}
    card = DatasetCard.load(tmp_path / "out" / "README.md")
    (config,) = card.data.configs
    assert config["data_files"] == [
        {"split": "test", "path": "data/test.parquet"}, {"split": "train", "path": "data/train.parquet"},
    ]  # fmt: skip
    assert (card.data.license, card.data.size_categories) == ("cc-by-nc-4.0", ["n<1K"])
    assert "non-commercial" in card.data.tags
    assert "| `train` | 12 | " in card.text
    assert "**Non-commercial:** `CC BY-NC 4.0`" in card.text


def test_licences_come_from_the_records_and_training_from_the_guard(tmp_path: Path) -> None:
    told = {"dataset": "ESConv", "licence": "CC BY-NC 4.0"}
    data = Conversations(
        [
            conversation(conversationId="a", provenance="imported", metadata=told),
            conversation(conversationId="b", provenance="own", metadata={}),
            *(c for c in filler(1)),
        ]
    )
    to_parquet(data, tmp_path / "out", licence="CC BY 4.0")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| ESConv | CC BY-NC 4.0 | 1 |" in text
    assert "| not stated | CC BY 4.0 | 2 |" in text
    assert "license: other" in text
    row = next(line for line in text.splitlines() if line.startswith("| `train` |"))
    assert row.endswith("| 2 |")  # filler is not trained on


@pytest.mark.parametrize(
    ("licences", "identifier"),
    [
        ({"CC BY 4.0"}, "cc-by-4.0"), ({"cc-by-nc-sa-4.0"}, "cc-by-nc-sa-4.0"), ({"MIT"}, "mit"),
        ({"not stated"}, "unknown"), ({"CC BY 4.0", "not stated"}, "other"), ({"CC BY 4.0 (texts)"}, "other"),
    ],
)  # fmt: skip
def test_only_a_licence_that_the_hub_knows_gets_its_name(licences: set[str], identifier: str) -> None:
    assert licence_id(licences) == identifier


def test_every_mark_that_may_be_published_is_explained() -> None:
    assert {*MARKS} == {*PROVENANCES} - {"benchmark"}


def test_a_card_or_file_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    for number, name in enumerate(("README.md", "data/notes.txt", "x.parquet")):
        out = tmp_path / str(number)
        to_parquet(SAMPLE[:1], out)
        write(out / name, "mine")
        before = snapshot(out)
        with pytest.raises(DataError, match="found"):
            to_parquet(SAMPLE, out, overwrite=True)
        assert snapshot(out) == before


def test_what_is_no_parquet_file_and_what_names_no_split_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", "PAR1 not")
    assert only_problem(lambda: load(path)).found.startswith("a file that cannot be read: ")
    with pytest.raises(SettingsError, match='a split named "a-b": expected letters'):
        to_parquet({"a-b": SAMPLE}, tmp_path / "out")


def test_a_folder_of_conversations_stays_one_whatever_else_is_in_it(tmp_path: Path) -> None:
    to_parquet(SAMPLE[:1], tmp_path / "out")
    write_folder(SAMPLE[1:3], tmp_path / "in")
    (tmp_path / "out" / "data").rename(tmp_path / "in" / "data")
    assert len(load(tmp_path / "in")) == 2
