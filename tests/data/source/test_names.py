"""What a data name means, what wins, and the error for a name that means nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import DataError, SettingsError, UnknownNameError, load
from attune_data.source.names import is_dataset_name, part_named, path_named, terms
from attune_data.source.source import Source
from tests.data.builders import folder, record


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("written", []),
        ("written:train", []),
        (Path("a+b"), []),
        ("written + sample", [("written", 1), ("sample", 1)]),
        ("3*written:train+sample", [("written:train", 3), ("sample", 1)]),
        ("written:train+sample", [("written:train", 1), ("sample", 1)]),
        ("2 * a/b.jsonl+10*c", [("a/b.jsonl", 2), ("c", 10)]),
    ],
)
def test_terms(name: Any, expected: list[tuple[str, int]]) -> None:
    assert terms(name) == expected


@pytest.mark.parametrize("name", ["a+", "+", "0*a+b"])
def test_terms_that_name_nothing(name: str) -> None:
    with pytest.raises(SettingsError, match="sources joined by"):
        terms(name)


def test_a_corpus_wins_over_a_path_and_a_path_over_a_mixture_and_a_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("sample", "written:test", "sample+written", "owner/name"):
        folder(tmp_path / name, {1: record()})
    assert len(load("sample")) == 20
    assert len(load(Path("sample"))) == 20
    assert len(load("./sample")) == 1
    assert len(load("written:test")) == 28
    assert len(load("./written:test")) == 1
    assert len(Source("sample+written")) == 1
    assert len(load("owner/name")) == 1


def test_a_name_of_a_dataset_has_an_owner_that_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    names = ("owner/name", "owner/name.json", "here/name", "owner", "a/b/c")
    assert [is_dataset_name(name) for name in names] == [True, False, False, False, False]
    assert not any((path_named("owner/name"), path_named(" "), part_named("owner/name")))


def test_what_means_nothing_is_told_with_what_is_accepted_and_the_closest_name() -> None:
    accepted = (
        "expected a folder of conversation_N.json, a .json, .jsonl or .parquet file, a dataset name, "
        "sample or written"
    )
    for name, told in {
        "smaple": f'smaple: found no such file or folder, {accepted}; did you mean "sample"?',
        "writen:dev": f'writen:dev: found no such file or folder, {accepted}; did you mean "written:dev"?',
        "nowhere": f"nowhere: found no such file or folder, {accepted}; "
                   "check the path (quote it if it contains spaces)",
        " ": f'"": found an empty path, {accepted}; check the path',
    }.items():  # fmt: skip
        with pytest.raises(DataError) as caught:
            load(name)
        assert str(caught.value) == told


@pytest.mark.parametrize(
    ("name", "split", "error", "told"),
    [
        ("written:validation", None, UnknownNameError, "no split of the written corpus named"),
        ("written:test", "train", SettingsError, "already names a split"),
        ("sample:train", None, SettingsError, 'split "train": sample has no splits'),
        ("sample", "train", SettingsError, 'split "train": sample has no splits'),
    ],
)
def test_no_such_split(name: str, split: str | None, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        load(name, split=split)
