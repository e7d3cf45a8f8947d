"""`--overwrite`: nothing goes before there is something in its place, and what is stopped goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attune_data import SettingsError
from attune_env.running import run_builtin
from attune_env.running.journal import journal_name
from attune_env.running.loop import Watcher
from attune_env.running.rejudge import rejudge
from attune_env.running.served import EndpointReport
from tests.command import snapshot
from tests.endpoint import Server, answers_of, serve
from tests.running.playing import CALLS, files, judge_answers, met, model, options, play, small

DATA = small(3)


def earlier(folder: Path) -> dict[str, bytes]:
    """The results and the journals of a folder; the lists and numbers of runs are not among them."""
    return {name: held for name, held in snapshot(folder).items() if not name.startswith(("_run", "_skip"))}


def test_a_run_with_a_bad_key_leaves_every_earlier_byte(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        before = earlier(tmp_path)
        assert len(before) == 3 + 1
        server.key = "another"
        assert "check the key" in str(play(server, DATA, tmp_path, overwrite=True).stopped)
        assert earlier(tmp_path) == before
        server.key, made = None, len(server.calls)
        assert play(server, DATA, tmp_path).complete_before == 3
        assert len(server.calls) == made


def test_a_result_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    met(tmp_path, DATA)
    before = files(tmp_path)
    # 3 x 9 - 2 calls: one conversation is complete (3 x 8 would be fewer), and one is not
    other = answers_of(DATA, "always-no")
    report, _ = met(tmp_path, DATA, answers=other, overwrite=True, calls=3 * CALLS - 2, concurrency=1)
    changed = [name for name, record in files(tmp_path).items() if record != before[name]]
    assert len(before) == 3
    assert 1 <= report.written == len(changed) <= 2


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_run_that_was_stopped_goes_on_with_and_without_the_option(tmp_path: Path, overwrite: bool) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        server.calls.clear()
        for number, calls in enumerate((CALLS + 3, 4, 1)):
            again = overwrite or not number
            assert play(server, DATA, tmp_path, overwrite=again, calls=calls, concurrency=1).stopped
        # made once, it is made: the same command starts over, the one without the option asks nothing
        for again, times in ((overwrite, 3), (False, 3), (True, 6)):
            play(server, DATA, tmp_path, overwrite=again)
            assert len(server.calls) == times * CALLS


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_rejudging_that_was_stopped_goes_on_when_it_is_typed_again(tmp_path: Path, elsewhere: bool) -> None:
    run_builtin("lexicon", DATA, tmp_path / "results")
    output = tmp_path / "judged" if elsewhere else None

    def overwriting(server: Server, calls: int | None = None) -> EndpointReport:
        asked = options(concurrency=1, overwrite=True, calls=calls)
        return rejudge(tmp_path / "results", DATA, [model(server, "j")], output, options=asked)

    with serve(judge_answers(7)) as server:
        overwriting(server)
        assert len(server.calls) == 6  # 3 conversations of 2 turns
        server.calls.clear()
        for calls in (3, 1):
            assert str(overwriting(server, calls).stopped) == f"stopped at --max-calls {calls}"
        assert overwriting(server).stopped is None
        assert len({json.dumps(call.body["messages"]) for call in server.calls}) == len(server.calls) == 6
        overwriting(server)
        assert len(server.calls) == 12


def test_a_run_that_dies_before_it_notes_a_result_as_made_asks_nothing_twice(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        server.calls.clear()
        play(server, DATA, tmp_path, overwrite=True, calls=3 * CALLS - 2, concurrency=1)
        journal = tmp_path / journal_name("custom/lab/m")
        lines = journal.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(b'{"v":1,"made"')]
        assert len(kept) < len(lines)
        journal.write_bytes(b"".join(kept))
        assert play(server, DATA, tmp_path, overwrite=True).written == 3
        assert len(server.calls) == 3 * CALLS


def test_another_run_in_between_begins_anew(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        colder, warmer = model(server, temperature=0.1), model(server, temperature=0.9)
        play(server, DATA, tmp_path, overwrite=True, evaluated=colder, calls=4, concurrency=1)
        # the results of the first settings are whole and stay, since none was replaced
        assert play(server, DATA, tmp_path).complete_before == 3
        server.calls.clear()
        play(server, DATA, tmp_path, overwrite=True, evaluated=warmer)
        assert [call.body["temperature"] for call in server.calls] == [0.9] * 3 * CALLS
        with pytest.raises(SettingsError, match=r"temperature 0\.9 there, 0\.1 now"):
            play(server, DATA, tmp_path, evaluated=colder)


def test_a_run_without_the_option_says_that_it_goes_on_with_overwriting(tmp_path: Path) -> None:
    class Watch(Watcher):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def said(self, message: str) -> None:
            self.heard.append(message)

    first, then = Watch(), Watch()
    with serve(answers_of(DATA)) as server:
        play(server, DATA[:2], tmp_path)
        play(server, DATA[:2], tmp_path, overwrite=True, calls=2 * CALLS - 1, concurrency=1)
        # the third is no part of it
        play(server, DATA, tmp_path, watcher=first)
        play(server, DATA, tmp_path, watcher=then)
    assert first.heard[0] == (
        "continuing the earlier run with --overwrite; results already replaced: 1, still to replace: 1"
    )
    assert then.heard == []


def test_a_conversation_that_fails_keeps_its_earlier_result_and_is_tried_again(tmp_path: Path) -> None:
    met(tmp_path, DATA)
    before = files(tmp_path)
    with serve(answers_of(DATA), ["400,of=c-2/1/prefer"]) as server:
        report = play(server, DATA, tmp_path, overwrite=True, plain=True)
    assert [entry["conversationId"] for entry in report.failed] == ["c-2"]
    kept = "c-2_custom_lab_m_default.json"
    assert files(tmp_path)[kept] == before[kept]
    again, _ = met(tmp_path, DATA, plain=True)
    assert (again.written, again.complete_before) == (1, 2)
