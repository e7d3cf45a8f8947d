"""The wording that `attune run` asks in, and how it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data.format.constants import BINARY_IDS
from tests.command import OWN_WORDING, attune_here, data_folder, names, read
from tests.data.builders import write

OFFICIAL = {
    "binaryQuestions": [
        {"id": "B1", "text": "Did it see you? 🤍", "observerText": "Did it see the person? 🤍"},
    ],
    "pairwise": {"general": "Which one was better?"},
}
"""A small official codebook: one yes/no question and one comparison question."""
NAME = "annotation_codebook.json"
MINE = "elsewhere/mine.json"


def run(cwd: Path, data: str, *options: str, code: int = 0) -> list[str]:
    _, err = attune_here(["run", "builtin", "empty", data, "-o", "out", *options], cwd, code)
    return err.splitlines()


@pytest.mark.parametrize(("data", "place", "options"), [
    ("data", f"data/{NAME}", ()),
    ("data", NAME, ()),
    ("Test Samples/Subsample20", NAME, ()),
    ("data", MINE, ("--codebook", MINE)),  # wins over the one beside the data
])  # fmt: skip
def test_an_official_codebook_is_used_named_and_its_gaps_told(
    tmp_path: Path, data: str, place: str, options: tuple[str, ...]
) -> None:
    data_folder(tmp_path / data, ["c-1"])
    if options:
        write(tmp_path / data / NAME, {"B2": "Did it understand you?"})
    name = write(tmp_path / place, OFFICIAL).name
    wording, missing = run(tmp_path, data, *options)
    assert wording == f"the questions are in the wording of official ({name})"
    told, _, text = missing.partition(", so in attune-env's wording: ")
    gaps = set(text.split(", "))
    assert told.startswith("missing from ")
    assert Path(told.removeprefix("missing from ")).name == name
    assert set(BINARY_IDS) - gaps == {"B1"}
    assert gaps >= {"PW1", "q1_lookingFor", "q1_lookingFor.options", "perceiving"}
    assert "general" not in gaps
    record = read(tmp_path / "out" / "c-1_builtin_empty_default.json")
    assert record["attune"]["settings"]["codebook"]["name"] == f"official ({name})"


def test_another_wording_is_another_run(tmp_path: Path) -> None:
    data_folder(tmp_path / "data")
    assert run(tmp_path, "data") == [OWN_WORDING]
    write(tmp_path / NAME, OFFICIAL)
    line = run(tmp_path, "data", code=2)[-1]
    assert line.startswith("error: ")
    assert "codebook" in line
    assert f"official ({NAME})" in line


@pytest.mark.parametrize(("content", "found"), [
    (None, "no such file"),
    ("{", "expected valid json"),
    ({"hello": "world"}, "found none of the question ids"),
])  # fmt: skip
def test_a_codebook_that_cannot_be_read_stops_the_run(tmp_path: Path, content: object, found: str) -> None:
    data_folder(tmp_path / "data")
    if content is not None:
        write(tmp_path / "mine.json", content)
    (line,) = run(tmp_path, "data", "--codebook", "mine.json", code=1)
    assert line.startswith("error: mine.json: ")
    assert found in line.lower()
    assert "out" not in names(tmp_path)
