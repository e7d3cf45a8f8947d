"""The code of docs/openenv.md, and the example, run against a real server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from attune_data import load
from attune_episodes import rollout
from tests.extras.openenv.serving import PATIENCE, served
from tests.extras.pages import run_page

ROOT: Final = Path(__file__).resolve().parents[3]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with served() as found:
        *_, names = run_page("openenv.md", found)
    expected = rollout(load("sample")[0], names["my_model"])
    assert capsys.readouterr().out.splitlines() == [f"composite_strict {expected.total:.3f}"]


def test_the_example_plays_on_a_server_of_its_own_and_on_another() -> None:
    example = [sys.executable, str(ROOT / "examples" / "trainers" / "openenv_client.py")]
    with served() as found:
        done = [
            subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PATIENCE)
            for command in ([*example, found], example)
        ]
    assert [one.returncode for one in done] == [0, 0], done
    assert done[0].stdout == done[1].stdout
    assert [line.partition(":")[0] for line in done[0].stdout.splitlines()] == [
        one.conversation_id for one in load("sample")[:4]
    ]
