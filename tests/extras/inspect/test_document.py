"""The code of docs/inspect.md against a real server, and what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attune_data import load
from attune_episodes import Settings
from tests.endpoint import answers_of, serve
from tests.extras.pages import DOCS, run_page


def test_the_page_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings(stages=("assess", "prefer", "reflect"))
    with serve(answers_of(load("sample"), "lexicon", settings)) as server:
        *_, names = run_page("inspect.md", server.url)
        assert server.unknown == []
    assert len(names["played"]) == 3
    page = (DOCS / "inspect.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert capsys.readouterr().out == "".join(shown)
