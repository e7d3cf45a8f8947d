"""`--overwrite`: nothing goes before there is something in its place, and what is stopped goes on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from attune_data import Conversations, SettingsError
from attune_data.validate import conversation_from
from attune_env.running import run_builtin
from attune_env.running.endpoint.control import Caps
from attune_env.running.endpoint.journal import journal_name
from attune_env.running.endpoint.loop import Silent
from attune_env.running.endpoint.rejudge import rejudge
from attune_env.running.endpoint.session import EndpointReport, Options
from attune_episodes import Settings
from tests.data.builders import annotated, turn
from tests.endpoint import Server, answers_of, serve
from tests.endpoint.answers import Messages
from tests.front.command import own, snapshot
from tests.running.playing import QUICK, files, judge_answers, model, play, small

DATA = small("c-1", "c-2", "c-3")
CALLS = 9
"""Of each of its conversations: two turns of four stages, and reflect."""


def judge(server: Server, folder: Path) -> EndpointReport:
    """Overwrites the judgements in a folder, one call after the other."""
    given = Options(concurrency=1, patience=QUICK, overwrite=True, command="go on", command_anew="begin")
    return rejudge(folder, DATA, [model(server, "j")], options=given)


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
        report = play(server, DATA, tmp_path, overwrite=True, command_anew="attune run … --overwrite")
        assert "check the key" in str(report.stopped)
        assert earlier(tmp_path) == before
        # nothing has begun: to go on is to begin
        assert (report.command, report.replaceable) == ("attune run … --overwrite", 3)
        server.key, made = None, len(server.calls)
        assert play(server, DATA, tmp_path).complete_before == 3
        assert len(server.calls) == made


def test_a_rejudging_with_a_bad_key_leaves_every_earlier_byte(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)
    with serve(judge_answers(7)) as server:
        judge(server, tmp_path)
        before = earlier(tmp_path)
        server.key = "another"
        report = judge(server, tmp_path)
        assert "check the key" in str(report.stopped)
    assert earlier(tmp_path) == before
    assert (report.command, report.replaceable) == ("begin", 3)


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
    assert (report.written, report.replaceable) == (len(changed), 3 - len(changed))
    assert report.command == "attune run …"


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
        report = play(server, DATA, tmp_path, overwrite=overwrite)
        assert len(server.calls) == 3 * CALLS
        assert report.replaceable == 0
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
    assert (report.written, report.replaceable) == (3, 0)


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


def test_what_another_run_has_replaced_since_is_made_anew_too(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA[:2], tmp_path)
        colder = model(server, temperature=0.1)
        play(server, DATA, tmp_path, overwrite=True, evaluated=colder, caps=Caps(calls=4), concurrency=1)
        # of the three that were begun, the first settings still lack one: theirs is made, not the colder one
        report = play(server, DATA, tmp_path)
        assert (report.written, report.complete_before) == (1, 2)
        report = play(server, DATA, tmp_path, overwrite=True, evaluated=colder)
    assert (report.written, report.replaceable) == (3, 0)
    assert {record["attune"]["policy"]["temperature"] for record in files(tmp_path).values()} == {0.1}


def test_a_run_without_the_option_says_that_it_goes_on_with_overwriting(tmp_path: Path) -> None:
    class Watch(Silent):
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
        assert watch.said_so == ["going on with what --overwrite began; results made: 1, still to be made: 1"]
        watch.said_so = []
        play(server, DATA, tmp_path, watcher=watch)
        assert watch.said_so == []


def test_what_is_left_of_other_conversations_keeps_nobody_from_beginning_anew(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
        play(server, DATA, tmp_path, overwrite=True, caps=Caps(calls=4), concurrency=1)  # and never again
        server.calls.clear()
        for _ in range(2):
            play(server, DATA[2:], tmp_path, overwrite=True)
        # first what was left of it, then all of it again
        assert len(server.calls) == 2 * CALLS


def test_a_conversation_that_fails_keeps_its_earlier_result_and_is_tried_again(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
    before = files(tmp_path)
    with serve(answers_of(DATA), ["400,of=c-2/1/prefer"]) as server:
        report = play(server, DATA, tmp_path, overwrite=True, evaluated=model(server, structured="off"))
    assert [entry["conversationId"] for entry in report.failed] == ["c-2"]
    assert report.replaceable == 1
    assert files(tmp_path)["c-2_custom_lab_m_default.json"] == before["c-2_custom_lab_m_default.json"]
    with serve(answers_of(DATA)) as server:
        again = play(server, DATA, tmp_path, evaluated=model(server, structured="off"))
    assert (again.written, again.complete_before, again.replaceable) == (1, 2, 0)


def test_a_result_that_takes_no_call_is_not_replaced_before_the_others_get_answers(tmp_path: Path) -> None:
    turns = [turn(n, annotations=annotated(pairwiseComparisons=[])) for n in (1, 2)]
    nothing = Conversations([conversation_from(own("c-2", "P2", turns=turns), "memory")])
    data = DATA[:1] + nothing
    settings = Settings(stages=("prefer",))
    with serve(answers_of(data, settings=settings)) as server:
        play(server, data, tmp_path, settings=settings)
        before = earlier(tmp_path)
        server.key = "another"
        play(server, data, tmp_path, settings=settings, overwrite=True)
        assert earlier(tmp_path) == before
        server.key = None
        assert play(server, data, tmp_path, settings=settings, overwrite=True).written == 2


def test_a_judge_that_never_answers_stops_before_anything_is_replaced(tmp_path: Path) -> None:
    run_builtin("lexicon", DATA, tmp_path)

    def silent(messages: Messages) -> str | None:
        return None  # HTTP 400

    with serve(judge_answers(7)) as server:
        judge(server, tmp_path)
    before = earlier(tmp_path)
    with serve(silent) as server:
        report = judge(server, tmp_path)
    assert report.stopped is not None
    assert report.written == 0
    assert earlier(tmp_path) == before
