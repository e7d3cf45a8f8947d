"""`attune data simulate`: the same bytes each time, and nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from attune_data.simulate import LEVELS as WORLD_LEVELS
from attune_data.simulate import simulate
from attune_env.cli.data import LEVELS
from tests.command import attune_here, names, snapshot


def made(cwd: Path, *options: str, code: int = 0) -> tuple[str, str]:
    return attune_here(["data", "simulate", *options], cwd, code)


def test_the_command_knows_the_levels_of_the_world() -> None:
    assert list(WORLD_LEVELS) == list(LEVELS)


@pytest.mark.parametrize(("options", "place"), [
    (["-o", "my data"], "my data"),
    (["-o", "data.jsonl"], "data.jsonl"),
    (["-o", "set", "--format", "dataset"], "set"),
    (["-o", "x.jsonl", "--format", "jsonl"], "x.jsonl"),
    (["-o", "a/b", "--format", "files"], "a/b"),
])  # fmt: skip
def test_the_world_is_written(tmp_path: Path, options: list[str], place: str) -> None:
    assert made(tmp_path, "-n", "4", "--seed", "7", *options) == (
        f"wrote 4 conversations to {place}: simulated, seed 7, level default, provenance simulated\n", "",
    )  # fmt: skip
    back = load(tmp_path / place)
    assert back.provenance == "simulated"
    assert [c.to_record() for c in back] == [c.to_record() for c in simulate(4, 7)]
    assert names(tmp_path) == [Path(place).parts[0]]


@pytest.mark.parametrize(("place", "advice"), [
    ("data", "replace the data with --overwrite"), ("data.jsonl", "or replace it with --overwrite"),
])  # fmt: skip
def test_another_data_set_is_replaced_only_when_asked(tmp_path: Path, place: str, advice: str) -> None:
    made(tmp_path, "-n", "3", "-o", place)
    before = snapshot(tmp_path)
    out, err = made(tmp_path, "-n", "2", "--seed", "5", "-o", place, code=1)
    assert err.startswith(f"error: {place}: found ")
    assert advice in err
    assert (out, snapshot(tmp_path)) == ("", before)
    made(tmp_path, "-n", "2", "--seed", "5", "-o", place, "--overwrite")
    assert load(tmp_path / place).fingerprint == simulate(2, 5).fingerprint


@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_what_is_no_data_set_is_never_touched(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thesis.txt").write_text("years of work")
    (tmp_path / "notes.jsonl").write_text('{"mine": 1}\n')
    before = snapshot(tmp_path)
    for place in ("data", "notes.jsonl"):
        assert "error: " in made(tmp_path, "-n", "2", "-o", place, *options, code=1)[1]
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("options", "said"), [
    ("--level defualt", "did you mean 'default'?"),
    ("--level zzz", "known: plain, clear, default, blunted, tangled"),
    ("--count 0", "'--number' / '-n': Input should be greater than or equal to 1"),
    ("--count many", "'--number' / '-n': Input should be a valid integer"),
    (f"--count {'9' * 400}", "--number is too large for any disk"),
    ("--start -1", "'--start': Input should be greater than or equal to 0"),
    ("--topics unsen", "'unsen' is not one of"),
    ("--templates none", "'none' is not one of"),
    ("--format csv", "'csv' is not one of"),
    ("--seed x", "'--seed': Input should be a valid integer"),
    ("--format jsonl", "must end in .jsonl"),
    ("-o data.json", "data.json is the name of a file: give a folder, or a name ending in .jsonl"),
    ("-o x.jsonl --format files", "x.jsonl is the name of a file"),
    ("-o x.jsonl --format dataset", "x.jsonl is the name of a file"),
    ("-o 'Test Samples/mine'", "everything below a folder 'Test Samples' counts as benchmark data"),
])  # fmt: skip
def test_bad_usage_exits_with_2_and_writes_nothing(tmp_path: Path, options: str, said: str) -> None:
    out, err = attune_here(f"data simulate -n 2 -o data {options}", tmp_path, 2)
    assert said in " ".join(err.replace("│", " ").split())
    assert out == ""
    assert names(tmp_path) == []
