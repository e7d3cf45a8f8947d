"""Voices of models behind a server: a real one on loopback plays a writer, often a careless one."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from attune_data import load
from attune_data.simulate import Simulation
from attune_env import endpoint_voice
from attune_env.running.faults import StopRun
from attune_env.running.journal import Journal
from attune_env.running.settings import Price
from attune_env.running.voice import EndpointVoice
from tests import PATIENCE
from tests.command import ATTUNE, attune, snapshot
from tests.endpoint import Server, serve
from tests.endpoint.writers import CARELESS, Writer
from tests.running.playing import QUICK, model, options

PLAIN = Simulation(5, level="plain")
TEXTS = 12
"""Of the first conversation of the world: three turns of a message and three replies."""
LINE = "data simulate -n 2 --seed 5 --level plain --voice custom:m"


def voiced(
    server: Server, folder: Path, number: int = 1, price: Price | None = None, **how: Any
) -> tuple[EndpointVoice, list[dict[str, Any]]]:
    """The voice after it has worded the first conversations of the world, and these."""
    with EndpointVoice(model(server, price=price), folder, options(**how)) as voice:
        world = Simulation(5, level="plain", voice=voice)
        return voice, [one.to_record() for one in voice.conversations(world, number)]


def texts(record: dict[str, Any]) -> list[str]:
    return [turn[name] for turn in record["turns"] for name in ("userMessage", "llmResponse")]


def counts(record: dict[str, Any]) -> tuple[int, int, int]:
    """Taken, asked again, fallen back."""
    told = record["metadata"]["voice"]
    assert told["name"] == "custom/lab/m"
    return told["taken"], told["asked_again"], told["fallen_back"]


def test_texts_that_say_what_they_should_are_taken_and_never_asked_for_again(tmp_path: Path) -> None:
    writer = Writer()
    with serve(writer) as server:
        voice, records = voiced(server, tmp_path, 2)
        asked = len(server.calls)
        assert asked == sum(4 * len(record["turns"]) for record in records)
        again, same = voiced(server, tmp_path, 2)
        assert len(server.calls) == asked
        assert same == records
    assert counts(records[0]) == (TEXTS, 0, 0)
    assert dict(again.counts) == dict(voice.counts) == {"taken": asked, "asked_again": 0}
    assert again.tally.control.sent == 0
    for record, plain in zip(records, PLAIN.take(2), strict=True):
        grammar = plain.to_record()
        assert texts(record) != texts(grammar)
        for turn, other in zip(record["turns"], grammar["turns"], strict=True):
            assert turn["moodShiftTags"] == other["moodShiftTags"]
            assert turn["annotations"]["binaryJudgements"] == other["annotations"]["binaryJudgements"]


def test_several_conversations_at_once_give_the_bytes_of_one_after_the_other(tmp_path: Path) -> None:
    with serve(Writer()) as server:
        one = voiced(server, tmp_path / "one", 3, concurrency=1)[1]
        assert server.most_in_flight == 1
    with serve(Writer(), gather=2) as server:  # nobody is answered before two are asked
        assert voiced(server, tmp_path / "many", 3, concurrency=8)[1] == one


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in ("drops", "names", "german") else pytest.mark.slow)
        for kind in CARELESS
    ],
)
def test_a_careless_text_is_asked_for_again_twice_then_the_grammar_stands(tmp_path: Path, kind: str) -> None:
    plain = PLAIN.record(0)
    with serve(Writer(CARELESS[kind])) as server:
        _, (record,) = voiced(server, tmp_path)
        calls = len(server.calls)
    taken, again, fallen = counts(record)
    assert (taken + fallen, calls) == (TEXTS, TEXTS + again)
    assert again >= 2 * fallen
    whole = kind in ("german", "empty", "long", "json")
    assert fallen == TEXTS if whole else fallen >= TEXTS / 2
    if whole:
        assert texts(record) == texts(plain)
    said = " ".join(texts(record))
    assert "ashamed and scared" not in said
    assert "furious about it" not in said


def test_a_writer_that_is_careless_once_is_asked_once_more(tmp_path: Path) -> None:
    with serve(Writer(CARELESS["german"], times=1)) as server:
        _, (record,) = voiced(server, tmp_path)
    assert counts(record) == (TEXTS, TEXTS, 0)
    with serve(Writer()) as server:
        assert texts(voiced(server, tmp_path / "other")[1][0]) == texts(record)


def test_faults_that_pass_are_retried(tmp_path: Path) -> None:
    with serve(Writer(), ["503,first=1"]) as server:
        _, (record,) = voiced(server, tmp_path)
    assert counts(record) == (TEXTS, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", ["hang,of=reply 1,seconds=9", "flood,of=reply 1,megabytes=9", "bomb,of=reply 1"]
)
def test_a_text_on_which_the_server_stalls_or_floods_is_the_grammars_for_good(
    tmp_path: Path, fault: str
) -> None:
    plain = PLAIN.record(0)
    how: dict[str, Any] = {"patience": QUICK.__class__(retries=0, first_wait=0.01), "call_timeout": 1.0}
    with serve(Writer(), [fault]) as server:
        _, (record,) = voiced(server, tmp_path, **how)
    assert counts(record) == (TEXTS - 3, 0, 3)
    assert texts(record)[1] == texts(plain)[1]
    with serve(Writer()) as server:  # well again, but the same run has the same bytes
        assert voiced(server, tmp_path)[1] == [record]
        assert server.calls == []


@pytest.mark.parametrize(("fault", "said"), [
    ("401", "check the key"), ("404", "check the model's name"), ("drop", "is the server running"),
])  # fmt: skip
def test_a_server_that_never_answers_stops_the_run_and_nothing_is_taken_as_said(
    tmp_path: Path, fault: str, said: str
) -> None:
    with serve(Writer(), [fault]) as server, pytest.raises(StopRun, match=said):
        voiced(server, tmp_path)
    with serve(Writer()) as server:
        assert counts(voiced(server, tmp_path)[1][0]) == (TEXTS, 0, 0)


@pytest.mark.parametrize(("faults", "cap", "said"), [
    (["drop,of=reply *"], {}, "server running"),  # the first message is kept
    ([], {"calls": 5}, "stopped at --max-calls 5"),
    ([], {"cost": 0.0005}, r"stopped at --max-cost 0\.0005"),
])  # fmt: skip
def test_what_was_worded_before_a_stop_is_kept_and_the_run_goes_on_to_the_same_bytes(
    tmp_path: Path, faults: list[str], cap: dict[str, Any], said: str
) -> None:
    with serve(Writer(), faults) as server, pytest.raises(StopRun, match=said):
        voiced(server, tmp_path, price=Price(0.5, 1.0), **cap)
    before = sum(call.status == 200 for call in server.calls)
    assert 0 < before < TEXTS
    with serve(Writer()) as server:
        _, whole = voiced(server, tmp_path / "whole")
        server.calls.clear()
        assert voiced(server, tmp_path)[1] == whole
        assert len(server.calls) == TEXTS - before


def test_a_torn_line_loses_its_text_alone_and_a_changed_one_is_read_again(tmp_path: Path) -> None:
    with serve(Writer()) as server:
        _, records = voiced(server, tmp_path)
        (file,) = tmp_path.glob("_calls_*.jsonl")
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
        before = len(server.calls)
        assert voiced(server, tmp_path)[1] == records
        assert len(server.calls) == before + 1
    changed = lines[-1].replace(b'"reply":"', b'"reply":"You feel ashamed. ')
    file.write_bytes(b"".join(lines[:-1]) + changed)
    _, (record,) = voiced(server, tmp_path)  # the server is gone
    assert counts(record) == (TEXTS - 1, 0, 1)
    assert "ashamed" not in record["turns"][-1]["annotations"]["alternateResponses"]["humanEdited"]


def test_nothing_of_a_hidden_feeling_or_the_key_is_sent_or_kept(tmp_path: Path) -> None:
    with serve(Writer()) as server:
        voiced(server, tmp_path)
        assert all(call.body["messages"][0]["role"] == "system" for call in server.calls)
        assert not any("response_format" in call.body for call in server.calls)
    (file,) = tmp_path.glob("_calls_*.jsonl")
    assert "sk-" not in file.read_text("utf-8")


# --- the commands ---------------------------------------------------------------------------------------


def test_the_command_says_whose_words_they_are_and_replays_without_the_server(tmp_path: Path) -> None:
    with serve(Writer(CARELESS["names"], times=1)) as server:
        done = attune(f"{LINE} -o first --base-url {server.url}", cwd=tmp_path)
        number = len(server.calls)
    said, asked = done.stdout.splitlines()
    world = "simulated, seed 5, level plain, voice custom/m"
    assert said == f"wrote 2 conversations to first: {world}, provenance simulated"
    records = [one.to_record() for one in load(tmp_path / "first")]
    total = [
        sum(one["metadata"]["voice"][key] for one in records)
        for key in ("taken", "asked_again", "fallen_back")
    ]
    assert asked.startswith(
        f"voice custom/m: {total[0]} texts used, {total[1]} asked for again, {total[2]} in the grammar's "
        f"words; {number} requests, "
    )  # fmt: skip
    assert total[1] > 0
    done = attune(f"{LINE} -o second --base-url http://127.0.0.1:9/v1", cwd=tmp_path)
    assert "; 0 requests, " in done.stdout
    assert snapshot(tmp_path / "first") == snapshot(tmp_path / "second")


def test_a_capped_command_writes_nothing_says_how_to_go_on_and_goes_on(tmp_path: Path) -> None:
    with serve(Writer()) as server:
        line = f"{LINE} -o out --base-url {server.url} --api-key sk-secret"
        done = attune(f"{line} --max-calls 5", cwd=tmp_path, code=1)
        assert "error: stopped at --max-calls 5\nevery text is kept in voices. Continue with:" in done.stderr
        assert "sk-secret" not in done.stdout + done.stderr
        assert not (tmp_path / "out").exists()
        attune(line, cwd=tmp_path)
        assert len(load(tmp_path / "out")) == 2


def test_a_dry_run_sends_nothing_and_counts_every_text(tmp_path: Path) -> None:
    with serve(Writer()) as server:
        line = f"{LINE} -o out --base-url {server.url} --price-in 1 --price-out 2"
        out = attune(f"{line} --dry-run", cwd=tmp_path).stdout
        assert server.calls == []
        assert list(tmp_path.iterdir()) == []
        attune(line, cwd=tmp_path)
        row = next(row for row in out.splitlines() if row.startswith("voice\t")).split("\t")
        assert row[1:3] == ["2", str(len(server.calls))]


def test_a_cache_that_another_run_has_locked_is_named_by_its_option(tmp_path: Path) -> None:
    with Journal(tmp_path / "voices", "custom/m"):
        done = attune(f"{LINE} -o out --base-url http://127.0.0.1:9/v1", cwd=tmp_path, code=2)
    assert "another run of this model is writing to voices" in done.stderr
    assert done.stderr.endswith("wait until it ends, or choose another --voice-cache\n")


@pytest.mark.parametrize(("line", "said"), [
    ("data simulate -n 1 -o out --voice custom", "expected PROVIDER:MODEL, such as custom:my-model"),
    ("data simulate -n 1 -o out --voice builtin:prior", 'no provider named "builtin"'),
    ("data simulate -n 1 -o out --max-calls 3", "--max-calls: only for models behind a server"),
    ("live --voice custom:m", "provider custom needs --base-url"),
    ("live --voice-cache x", "--voice-cache: only for models behind a server"),
])  # fmt: skip
def test_wrong_options_are_told(tmp_path: Path, line: str, said: str) -> None:
    assert said in attune(line, cwd=tmp_path, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_live_talks_in_the_models_words_and_the_same_replies_cost_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = "That sounds hard. What happened?\n" * 12

    def talked(line: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(replies))
        done = attune(f"live --seed 5 {line}", cwd=tmp_path)
        return done.stdout, done.stderr

    plain, _ = talked("")
    with serve(Writer()) as server:
        worded, _ = talked(f"--voice custom:m --base-url {server.url}")
        asked = len(server.calls)
        assert asked > 1
        again, _ = talked(f"--voice custom:m --base-url {server.url}")
        assert len(server.calls) == asked
    assert worded.split("voice custom/m")[0] == again.split("voice custom/m")[0]
    assert worded.splitlines()[0] != plain.splitlines()[0]
    felt = [[line for line in out.splitlines() if line.startswith("they felt")] for out in (plain, worded)]
    assert felt[0] == felt[1]


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    with serve(Writer(), latency=0.05) as server:
        command = [*LINE.split(), "--base-url", server.url, "--concurrency", "2"]
        attune(*command, "-o", "whole", "--voice-cache", "other", cwd=tmp_path)
        whole = len(server.calls)
        process = subprocess.Popen(
            [ATTUNE, *command, "-o", "out"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        until = time.monotonic() + PATIENCE
        while len(server.calls) < whole + 6 and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
        assert not (tmp_path / "out").exists()
        subprocess.run([ATTUNE, *command, "-o", "out"], cwd=tmp_path, check=True, capture_output=True)
        assert len(server.calls) <= 2 * whole + 2  # what was in flight is asked for again, and no more
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "whole")
    with Journal(tmp_path / "voices", "custom/m") as journal:
        assert journal.passed_over <= 1


def test_in_python_a_voice_is_made_by_name(tmp_path: Path) -> None:
    with serve(Writer()) as server:
        with endpoint_voice("custom:m", base_url=server.url, cache=tmp_path, temperature=0.5) as voice:
            record = Simulation(5, level="plain", voice=voice).record(0)
        assert {call.body["temperature"] for call in server.calls} == {0.5}
    assert json.loads(json.dumps(record)) == record
    assert record["metadata"]["voice"] == {
        "name": "custom/m", "taken": TEXTS, "asked_again": 0, "fallen_back": 0,
    }  # fmt: skip
