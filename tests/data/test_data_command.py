"""`attune data validate` and `attune data stats` through the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attune_data import load
from attune_data.stats import describe
from tests import PATIENCE
from tests.data.builders import (
    comparison,
    folder,
    record,
    with_annotations,
)

ATTUNE = Path(sys.executable).with_name("attune")


def attune(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`attune data …` as a person runs it; whatever happens, nobody is shown a traceback."""
    done = subprocess.run(
        [str(ATTUNE), "data", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **environment},
        check=False,
        timeout=PATIENCE,
    )
    assert "Traceback" not in done.stderr
    return done


def test_validating_sound_data_succeeds(tmp_path: Path) -> None:
    path = folder(
        tmp_path / "my data", {1: record(provenance="own"), 2: record(conversationId="ü", provenance="own")}
    )
    done = attune("validate", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "conversations 2, turns 4, problems 0, warnings 0",
        f"provenance own, fingerprint {load(path).fingerprint}",
    ]


def test_validating_lists_every_problem_on_a_line_of_its_own_and_fails(tmp_path: Path) -> None:
    files = {
        1: record(),
        2: '{"conversationId": ',
        10: with_annotations(pairwiseComparisons=[comparison(winner="C")]),
    }
    path = folder(tmp_path, files)
    done = attune("validate", path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: {path}/conversation_2.json: line 1 column 20: found the end of the file, "
        "expected valid JSON; it is cut off: fetch it or make it again",
        f"error: {path}/conversation_10.json: turns[0].annotations.pairwiseComparisons[0].winner: "
        'found "C", expected "A" or "B" (null if none was annotated)',
    ]
    assert done.stdout.splitlines()[0] == "conversations 1, turns 2, problems 2, warnings 0"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "stats"])
@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_path_without_data_fails_and_is_named(tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "empty").mkdir()
    done = attune(command, tmp_path / name)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path / name}: found no ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [
    ["validate"], ["stats"], ["stats", "--no-such-option", "x"], ["no-such-command"], ["validate", "a", "b"],
])  # fmt: skip
def test_bad_usage_exits_with_2(arguments: list[str]) -> None:
    done = attune(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: attune data" in done.stderr


@pytest.mark.slow
def test_stats_as_json_are_the_facts_and_nothing_else(tmp_path: Path) -> None:
    path = folder(tmp_path / "my data", {1: record(), 2: record(conversationId="שיחה 😀", provenance="own")})
    done = attune("stats", "--json", path)
    assert (done.returncode, done.stderr) == (0, "")
    loaded = load(path)
    assert json.loads(done.stdout) == describe(loaded) | {"fingerprint": loaded.fingerprint}
