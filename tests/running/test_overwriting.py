"""`--overwrite`: nothing goes before there is something in its place, and what is stopped goes on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from attune_data import SettingsError
from attune_env.running import run_builtin
from attune_env.running.journal import journal_name
from attune_env.running.loop import Watcher
from attune_env.running.rejudge import rejudge
from attune_env.running.run import EndpointReport
from attune_env.running.settings import Caps, Options
from tests.endpoint import Server, answers_of, serve
from tests.front.command import snapshot
from tests.running.playing import QUICK, files, judge_answers, model, play, small

DATA = small("c-1", "c-2", "c-3")
CALLS = 9
"""Of each of its conversations: two turns of four stages, and reflect."""


def earlier(folder: Path) -> dict[str, bytes]:
    """The results and the journals of a folder; the lists and numbers of runs are not among them."""
    return {
        name: held for name, held in snapshot(folder).items() if not name.startswith(("_run", "_skipped"))
    }


def asked(server: Server) -> Counter[str]:
    """How often each question was asked."""
    return Counter(json.dumps(call.body["messages"]) for call in server.calls)


def test_a_run_with_a_bad_key_leaves_every_earlier_byte(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        before = earlier(tmp_path)
        assert len(before) == 3 + 1
        server.key = "another"
        report = play(server, DATA, tmp_path, overwrite=True)
        assert "check the key" in str(report.stopped)
        assert earlier(tmp_path) == before
        server.key, made = None, len(server.calls)
        assert play(server, DATA, tmp_path).complete_before == 3
        assert len(server.calls) == made


def test_a_result_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        before = files(tmp_path)
    with serve(answers_of(DATA, "always-no")) as server:
        # 3 x 9 - 2 calls: one conversation is complete (3 x 8 would be fewer), and one is not
        report = play(server, DATA, tmp_path, overwrite=True, caps=Caps(calls=3 * CALLS - 2), concurrency=1)
    changed = [name for name, record in files(tmp_path).items() if record != before[name]]
    assert len(files(tmp_path)) == 3
    assert 1 <= len(changed) <= 2
    assert report.written == len(changed)


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_run_that_was_stopped_goes_on_with_and_without_the_option(tmp_path: Path, overwrite: bool) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        server.calls.clear()
        stops = [CALLS + 3, 4, 1]
        for calls in stops:
            report = play(
                server, DATA, tmp_path, overwrite=overwrite or calls == stops[0], caps=Caps(calls=calls),
                concurrency=1,
            )  # fmt: skip
            assert report.stopped is not None
        play(server, DATA, tmp_path, overwrite=overwrite)
        assert len(server.calls) == 3 * CALLS
        # made once, it is made: the same command begins anew, the one without the option asks nothing
        play(server, DATA, tmp_path)
        assert len(server.calls) == 3 * CALLS
        play(server, DATA, tmp_path, overwrite=True)
        assert len(server.calls) == 2 * 3 * CALLS


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_rejudging_that_was_stopped_goes_on_when_it_is_typed_again(tmp_path: Path, elsewhere: bool) -> None:
    run_builtin("lexicon", DATA, tmp_path / "results")
    output = tmp_path / "judged" if elsewhere else None

    def overwriting(server: Server, calls: int | None = None) -> EndpointReport:
        options = Options(concurrency=1, patience=QUICK, overwrite=True, caps=Caps(calls))
        return rejudge(tmp_path / "results", DATA, [model(server, "j")], output, options=options)

    with serve(judge_answers(7)) as server:
        overwriting(server)
        assert len(server.calls) == 6  # 3 conversations of 2 turns
        server.calls.clear()
        for calls in (3, 1):
            assert str(overwriting(server, calls).stopped) == f"stopped at --max-calls {calls}"
        assert overwriting(server).stopped is None
        assert set(asked(server).values()) == {1}
        assert len(server.calls) == 6
        overwriting(server)
        assert len(server.calls) == 12


def test_a_run_that_dies_before_it_notes_a_result_as_made_asks_nothing_twice(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        server.calls.clear()
        play(server, DATA, tmp_path, overwrite=True, caps=Caps(calls=3 * CALLS - 2), concurrency=1)
        journal = tmp_path / journal_name("custom/lab/m")
        lines = journal.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(b'{"v":1,"made"')]
        assert len(kept) < len(lines)
        journal.write_bytes(b"".join(kept))
        report = play(server, DATA, tmp_path, overwrite=True)
        assert len(server.calls) == 3 * CALLS
    assert report.written == 3


def test_another_run_in_between_begins_anew(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        colder = model(server, temperature=0.1)
        play(server, DATA, tmp_path, overwrite=True, evaluated=colder, caps=Caps(calls=4), concurrency=1)
        # the results of the first settings are whole and stay, since none was replaced
        assert play(server, DATA, tmp_path).complete_before == 3
        server.calls.clear()
        warmer = model(server, temperature=0.9)
        play(server, DATA, tmp_path, overwrite=True, evaluated=warmer)
        assert {call.body["temperature"] for call in server.calls} == {0.9}
        assert len(server.calls) == 3 * CALLS
        with pytest.raises(SettingsError, match=r"temperature 0\.9 there, 0\.1 now"):
            play(server, DATA, tmp_path, evaluated=colder)


def test_a_run_without_the_option_says_that_it_goes_on_with_overwriting(tmp_path: Path) -> None:
    class Watch(Watcher):
        said_so: list[str]

        def said(self, message: str) -> None:
            self.said_so.append(message)

    watch = Watch()
    with serve(answers_of(DATA)) as server:
        play(server, DATA[:2], tmp_path)
        play(server, DATA[:2], tmp_path, overwrite=True, caps=Caps(calls=2 * CALLS - 1), concurrency=1)
        watch.said_so = []
        # the third is no part of it
        play(server, DATA, tmp_path, watcher=watch)
        goes_on = "going on with what --overwrite began; results made: 1, still to be made: 1"
        assert watch.said_so[0] == goes_on
        watch.said_so = []
        play(server, DATA, tmp_path, watcher=watch)
        assert watch.said_so == []


def test_a_conversation_that_fails_keeps_its_earlier_result_and_is_tried_again(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
    before = files(tmp_path)
    with serve(answers_of(DATA), ["400,of=c-2/1/prefer"]) as server:
        report = play(server, DATA, tmp_path, overwrite=True, evaluated=model(server, structured="off"))
    assert [entry["conversationId"] for entry in report.failed] == ["c-2"]
    assert files(tmp_path)["c-2_custom_lab_m_default.json"] == before["c-2_custom_lab_m_default.json"]
    with serve(answers_of(DATA)) as server:
        again = play(server, DATA, tmp_path, evaluated=model(server, structured="off"))
    assert (again.written, again.complete_before) == (1, 2)
