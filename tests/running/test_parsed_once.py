"""On its way to a result file, a reply is parsed once in a process, and no record is read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_episodes.judging import parse_judgement
from attune_episodes.parsing import parse
from attune_rewards import read_record
from tests.command import attune_here, data_folder
from tests.counting import counted
from tests.endpoint import Fault, answers_of, first_of, serve
from tests.running.playing import CALLS, judge_answers, small

DATA = small(3)
ODD = json.dumps({"choices": [{"finish_reason": "of_its_own"}]})


@pytest.mark.parametrize(("fault", "again"), [
    (Fault("garbage", first=1, of="*/1/assess"), 1),  # an unreadable reply is asked for again
    (Fault("merged", text=ODD, of="*/assess"), 0),  # an unknown finish reason: the client looks at the text
])  # fmt: skip
def test_a_reply_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, again: int
) -> None:
    data_folder(tmp_path / "data")
    parsed, read = counted(monkeypatch, parse), counted(monkeypatch, read_record)
    with serve(answers_of(DATA), [fault]) as server:
        attune_here(f"run custom lab/m data -o out --base-url {server.url}", tmp_path)
        assert len(parsed) == len(server.calls) == CALLS * len(DATA) + again
    assert len({request.id for request, _ in parsed}) == CALLS * len(DATA)
    assert read == []


def test_a_reply_of_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_folder(tmp_path / "data")
    parsed, judged = counted(monkeypatch, parse), counted(monkeypatch, parse_judgement)
    read = counted(monkeypatch, read_record)
    with serve(first_of(answers_of(DATA), judge_answers())) as server:
        attune_here(f"run custom lab/m data -o out --judge-model j --base-url {server.url}", tmp_path)
        assert (len(parsed), len(judged), read) == (CALLS * len(DATA), 2 * len(DATA), [])
        judged.clear()
        attune_here(f"rejudge custom k --results out --data data --base-url {server.url}", tmp_path)
    assert (len(parsed), len(judged), len(read)) == (CALLS * len(DATA), 2 * len(DATA), len(DATA))
