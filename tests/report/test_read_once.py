"""On its way to a report, the record of a result file is read once in a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data import load
from attune_rewards import read_record
from tests.command import attune_here, data_folder, names, results
from tests.counting import counted


def test_score_and_report_read_each_record_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load(data_folder(tmp_path / "data"))
    results(tmp_path / "results", data, "oracle", "always-no")
    read = counted(monkeypatch, read_record)
    attune_here("score --results results --data data --output scores.json", tmp_path)
    assert len(read) == 2 * len(data)
    read.clear()
    attune_here("report scores.json -o out --formats svg", tmp_path)
    assert len(read) == 2 * len(data)
    # the analyses of single answers and the pages have both been made of it
    assert names(tmp_path / "out" / "conversations") == [
        *(f"{about.conversation_id}.html" for about in data), "index.html",
    ]  # fmt: skip
    assert "binary_answers.csv" in names(tmp_path / "out" / "tables")
