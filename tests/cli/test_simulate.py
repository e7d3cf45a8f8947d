"""`attune data simulate` through the real command line: the same bytes each time, and nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from attune_data.simulate import LEVELS as WORLD_LEVELS
from attune_data.simulate import simulate
from attune_env.cli.data import LEVELS
from tests.front.command import Done, attune, names, snapshot


def made(cwd: Path, *options: str, code: int = 0, **environment: str) -> Done:
    return attune("data", "simulate", *options, cwd=cwd, code=code, **environment)


def test_the_command_knows_the_levels_of_the_world() -> None:
    assert list(WORLD_LEVELS) == list(LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "place"), [
    (["-o", "my data"], "my data"),
    (["-o", "data.jsonl"], "data.jsonl"),
    (["-o", "set", "--format", "dataset"], "set"),
    (["-o", "x.jsonl", "--format", "jsonl"], "x.jsonl"),
    (["-o", "a/b", "--format", "files"], "a/b"),
])  # fmt: skip
def test_what_is_written_is_the_world(tmp_path: Path, options: list[str], place: str) -> None:
    done = made(tmp_path, "-n", "4", "--seed", "7", *options)
    assert done.stderr == ""
    assert done.stdout == (
        f"wrote 4 conversations to {Path(place)}: simulated, seed 7, level default, provenance simulated\n"
    )
    back = load(tmp_path / place)
    assert back.provenance == "simulated"
    assert [c.to_record() for c in back] == [c.to_record() for c in simulate(4, 7)]
    assert names(tmp_path) == [Path(place).parts[0]]


# --- what stands there already -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("place", "advice"), [
    ("data", "replace the data with --overwrite"), ("data.jsonl", "or replace it with --overwrite"),
])  # fmt: skip
def test_another_data_set_is_replaced_only_when_asked(tmp_path: Path, place: str, advice: str) -> None:
    made(tmp_path, "-n", "3", "-o", place)
    before = snapshot(tmp_path)
    done = made(tmp_path, "-n", "2", "--seed", "5", "-o", place, code=1)
    assert done.stderr.startswith(f"error: {place}: found ")
    assert advice in done.stderr
    assert (done.stdout, snapshot(tmp_path)) == ("", before)
    made(tmp_path, "-n", "2", "--seed", "5", "-o", place, "--overwrite")
    assert load(tmp_path / place).fingerprint == simulate(2, 5).fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_what_is_no_data_set_is_never_touched(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thesis.txt").write_text("years of work")
    (tmp_path / "notes.jsonl").write_text('{"mine": 1}\n')
    before = snapshot(tmp_path)
    for place in ("data", "notes.jsonl"):
        assert "error: " in made(tmp_path, "-n", "2", "-o", place, *options, code=1).stderr
    assert snapshot(tmp_path) == before


# --- what cannot be asked for ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("options", "said"), [
    (["--level", "defualt"], "did you mean 'default'?"),
    (["--level", "tangledd"], "did you mean 'tangled'?"),
    (["--level", "zzz"], "known: plain, clear, default, blunted, tangled"),
    (["--count", "0"], "'--number' / '-n': Input should be greater than or equal to 1"),
    (["--count", "-4"], "'--number' / '-n': Input should be greater than or equal to 1"),
    (["--count", "many"], "'--number' / '-n': Input should be a valid integer"),
    (["--count", "9" * 400], "--number is more than any disk holds"),
    (["--start", "-1"], "'--start': Input should be greater than or equal to 0"),
    (["--topics", "unsen"], "'unsen' is not one of"),
    (["--templates", "none"], "'none' is not one of"),
    (["--format", "csv"], "'csv' is not one of"),
    (["--seed", "x"], "'--seed': Input should be a valid integer"),
])  # fmt: skip
def test_bad_usage_exits_with_2_and_writes_nothing(tmp_path: Path, options: list[str], said: str) -> None:
    done = made(tmp_path, "-o", "data", *options, code=2, COLUMNS="200")
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert names(tmp_path) == []


def test_json_lines_go_into_a_file_of_that_name(tmp_path: Path) -> None:
    done = made(tmp_path, "-n", "2", "-o", "data", "--format", "jsonl", code=2)
    assert "a file that ends in .jsonl" in done.stderr
    assert names(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize(("options", "said"), [
    (["-o", "data.json"], "data.json is the name of a file: give a folder, or a name that ends in .jsonl"),
    (["-o", "x.jsonl", "--format", "files"], "x.jsonl is the name of a file"),
    (["-o", "x.jsonl", "--format", "dataset"], "x.jsonl is the name of a file"),
    (["-o", "Test Samples/mine"], "what lies under a folder 'Test Samples' counts as benchmark"),
])  # fmt: skip
def test_a_place_that_would_mislead_is_refused(tmp_path: Path, options: list[str], said: str) -> None:
    done = made(tmp_path, "-n", "2", *options, code=2)
    assert said in done.stderr
    assert names(tmp_path) == []
