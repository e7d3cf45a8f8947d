"""Which wording `attune run` asks in, and how it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data.constants import BINARY_IDS
from tests.data.builders import write
from tests.front.command import attune, data_folder, names, read

OFFICIAL = {
    "binaryQuestions": [
        {"id": "B1", "text": "Did it see you? 🤍", "observerText": "Did it see the person? 🤍"},
    ],
    "pairwise": {"general": "Which one was better?"},
}
"""A small official codebook: one yes/no question and one comparison question."""
NAME = "annotation_codebook.json"


def wording_of(folder: Path) -> str:
    return str(read(folder / "c-1_builtin_empty_default.json")["attune"]["settings"]["codebook"]["name"])


def run(cwd: Path, data: Path, *options: str | Path, code: int = 0) -> list[str]:
    done = attune("run", "builtin", "empty", data, "-o", "out", *options, cwd=cwd, code=code)
    return done.stderr.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["data", ".", "elsewhere"])
def test_an_official_codebook_is_used_named_and_its_gaps_told(tmp_path: Path, where: str) -> None:
    data = data_folder(tmp_path / "data")
    path = write(tmp_path / where / NAME, OFFICIAL)
    given = ("--codebook", str(path)) if where == "elsewhere" else ()
    wording, missing = run(tmp_path, data, *given)
    assert wording == f"questions in the wording of official ({NAME})"
    found, _, gaps = missing.partition(", so in our own wording: ")
    assert (Path(found.removeprefix("not in ")).name, found.startswith("not in ")) == (NAME, True)
    assert set(BINARY_IDS) - set(gaps.split(", ")) == {"B1"}
    assert {"PW1", "q1_lookingFor", "q1_lookingFor.options", "perceiving"} <= set(gaps.split(", "))
    assert "general" not in gaps.split(", ")
    assert wording_of(tmp_path / "out") == f"official ({NAME})"


@pytest.mark.slow
def test_the_codebook_above_test_samples_is_found(tmp_path: Path) -> None:
    data = data_folder(tmp_path / "Test Samples" / "Subsample20")
    write(tmp_path / NAME, OFFICIAL)
    assert run(tmp_path, data)[0] == f"questions in the wording of official ({NAME})"


@pytest.mark.slow
def test_the_codebook_asked_for_wins_over_the_one_beside_the_data(tmp_path: Path) -> None:
    data = data_folder(tmp_path / "data")
    write(data / NAME, OFFICIAL)
    mine = write(tmp_path / "mine.json", {"B2": "Did it understand you?"})
    assert run(tmp_path, data, "--codebook", mine)[0] == "questions in the wording of official (mine.json)"


@pytest.mark.slow
def test_another_wording_is_another_run(tmp_path: Path) -> None:
    data = data_folder(tmp_path / "data")
    assert run(tmp_path, data) == ["questions in our own wording"]
    write(tmp_path / NAME, OFFICIAL)
    lines = run(tmp_path, data, code=2)
    assert lines[-1].startswith("error: ")
    assert "codebook" in lines[-1]
    assert f"official ({NAME})" in lines[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("content", "found"), [
    (None, "no such file"),
    ("{", "expected valid JSON"),
    ({"hello": "world"}, "found none of the question ids"),
])  # fmt: skip
def test_a_codebook_that_cannot_be_read_stops_the_run(tmp_path: Path, content: object, found: str) -> None:
    data = data_folder(tmp_path / "data")
    if content is not None:
        write(tmp_path / "mine.json", content)
    (line,) = run(tmp_path, data, "--codebook", "mine.json", code=1)
    assert line.startswith("error: mine.json: ")
    assert found in line.lower() or found in line
    assert "out" not in names(tmp_path)
