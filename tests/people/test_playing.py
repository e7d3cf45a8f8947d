"""Playing a plan over real HTTP, through a batch, and from what was pinned; killed and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from attune_data import for_training, load
from attune_data.errors import DataError, SettingsError
from attune_env.people.answering import PlayReport, batch_line, model_hand, play_plan
from attune_env.people.costs import estimate
from attune_env.running.settings import Model, Options
from attune_episodes.people import hands as requests
from attune_episodes.people.asks import Ask, Cast
from attune_episodes.people.cards import Card, plan, plan_text
from attune_episodes.people.hands import HandRequest
from attune_episodes.people.pinned import Pinned, read_answers
from attune_episodes.people.record import record
from tests.endpoint import Server, serve
from tests.people.scripted import CAST, Script, hand_of
from tests.running.playing import QUICK, model

CARDS = plan(3, 11)
CALL = b'"call":{'
"""In each line of the journal with an answer."""
OPTIONS = Options(patience=QUICK, concurrency=4)


def hands(server: Server) -> tuple[Cast, dict[str, Model]]:
    """One model of a server for every hand."""
    one = model(server)
    hand = model_hand(one)
    return Cast(hand, (hand,), hand), dict.fromkeys(("person", "assistant-1", "assistant-2", "reader"), one)


def played_over_http(server: Server, folder: Path, cards: Sequence[Card] = CARDS, **more: Any) -> PlayReport:
    cast, models = hands(server)
    options = Options(**{"patience": QUICK, "concurrency": 4, **more})
    return play_plan(cards, cast, folder, models=models, options=options)


def contents(folder: Path) -> dict[str, bytes]:
    """The files that are the outcome, without those about the run."""
    return {f.name: f.read_bytes() for f in folder.iterdir() if not f.name.startswith("_")}


def test_an_endpoint_and_what_it_left_give_the_same_bytes(tmp_path: Path) -> None:
    with serve(Script()) as server:
        report = played_over_http(server, tmp_path / "first")
        assert (report.run.written, report.pending, report.run.stopped) == (3, 0, None)
        calls = len(server.calls)
        again = played_over_http(server, tmp_path / "first")
        assert (again.run.complete_before, len(server.calls)) == (3, calls)
        cast, _ = hands(server)
    whole = contents(tmp_path / "first")
    (tmp_path / "again").mkdir()
    (tmp_path / "again/answers.jsonl").write_bytes(whole["answers.jsonl"])
    assert play_plan(CARDS, cast, tmp_path / "again", options=OPTIONS).run.written == 3
    assert contents(tmp_path / "again") == whole
    found = load(tmp_path / "again")
    assert for_training(found) == "played"
    pinned = Pinned(tmp_path / "again")
    made = [json.loads(whole[f"conversation_{n}.json"]) for n in (1, 2, 3)]
    for one in made:
        del one["played"]["identity"]
    assert [json.loads(json.dumps(record(one))) for one in pinned.play()] == made
    with pytest.raises(DataError, match=r"no answer by .* an endpoint"):
        pinned(Ask("reader", cast.reader, _other()))


def _other() -> HandRequest:
    """A request that nobody has answered."""
    return requests.matter(plan(1, 99)[0])


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("batch_1_output.jsonl", lambda key, text: {"custom_id": key, "error": None, "response": {
            "status_code": 200, "body": {"choices": [{"message": {"content": text}}]}}}),
        ("mine.jsonl", lambda key, text: {"key": key, "text": text}),
    ],
)  # fmt: skip
def test_what_is_pending_goes_on_when_answers_lie_beside_it(
    tmp_path: Path, name: str, write: Callable[[str, str], Mapping[str, Any]]
) -> None:
    script, times = Script(), 0
    while (report := play_plan(CARDS, CAST, tmp_path, options=OPTIONS)).pending:
        lines = [json.loads(line) for line in (tmp_path / "pending.jsonl").read_text().splitlines()]
        assert len(lines) == report.pending
        with (tmp_path / name).open("a") as file:
            for line in lines:
                text = script(line["body"]["messages"], line["custom_id"])
                file.write(json.dumps(write(line["custom_id"], text)) + "\n")
        times += 1
    assert report.run.complete_before + report.run.written == 3
    assert not (tmp_path / "pending.jsonl").exists()
    assert {line["body"]["model"] for line in lines} <= {"lab/person", "lab/one", "other/two", "lab/reader"}
    keys = [json.loads(line)["key"] for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert len(keys) == len(set(keys)) == len(script.asked)
    assert times < 40


def test_hands_at_an_endpoint_and_elsewhere_play_together(tmp_path: Path) -> None:
    with serve(Script()) as server:
        cast, models = hands(server)
        report = play_plan(CARDS, cast, tmp_path, models={"person": models["person"]}, options=OPTIONS)
        assert {hand_of(call.body["messages"]) for call in server.calls} == {"matter", "message"}
    assert report.pending == 6  # two replies to each first message
    assert report.run.written == 0


def test_nothing_is_lost_or_asked_twice_when_a_run_stops(tmp_path: Path) -> None:
    script = Script()
    with serve(script) as server:
        stopped = played_over_http(server, tmp_path, max_calls=7, concurrency=1)
        assert stopped.run.stopped is not None
        assert len(server.calls) == 7
        assert played_over_http(server, tmp_path).run.written == 3
        with serve(Script()) as other:
            played_over_http(other, tmp_path / "at once")
        assert len(server.calls) == len(other.calls)


def test_nothing_answered_is_asked_again_after_a_kill(tmp_path: Path) -> None:
    (tmp_path / "plan.jsonl").write_text(plan_text(CARDS), "utf-8")
    with serve(Script(), latency=0.03) as server:
        command = [sys.executable, "-m", "attune_env", "people", "play", str(tmp_path / "plan.jsonl"), "-o",
                   str(tmp_path / "mine"), "--base-url", server.url, "--concurrency", "3"]  # fmt: skip
        for name in ("person", "assistant", "reader"):
            command += [f"--{name}", "custom:lab/m"]
        running = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        journal = tmp_path / "mine/_calls_people.jsonl"
        until = time.monotonic() + 30
        while (
            not journal.exists() or journal.read_bytes().count(b'"call"') < 12
        ) and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        kept = journal.read_bytes().count(CALL)
        assert kept >= 12
        before = len(server.calls)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 0, ended.stderr
        assert "3 of 3 are complete" in ended.stdout
        asked = len((tmp_path / "mine/answers.jsonl").read_text().splitlines())
        assert len(server.calls) - before == asked - kept


def test_hands_that_misbehave_at_first_are_asked_again(tmp_path: Path) -> None:
    bad = {
        "refuses": "I'm sorry, but I can't help with that.",
        "speaks another language": "no sé qué hacer, mi hermana dice que la casa es suya y no quiero más",
        "floods": "and so on and on " * 100,
        "leaks": "",
    }
    ways = iter(list(bad) * 20)

    def change(kind: str, prompt: str, text: str) -> str:
        if kind == "matter" or "could not be used" in prompt:
            return text
        if kind == "message":
            shown = prompt.partition("What it is about:\n")[2].partition("\n")[0]
            return bad[next(ways)] or f"well. {shown}"
        if kind == "judgement":
            return text.replace("general", "overall")
        return text if kind == "reply" else '{"answers": {"B1": "yes"}}' if next(careless) else text

    careless = iter([True, False] * 40)
    with serve(Script(change)) as server:
        assert played_over_http(server, tmp_path, concurrency=1).run.written == 3
    said = json.dumps([turn.user_message for one in load(tmp_path) for turn in one.turns])
    assert all(text[:20] not in said for text in bad.values() if text)


def test_a_hand_that_gives_nothing_usable_ends_its_conversation_and_is_told(tmp_path: Path) -> None:
    with serve(Script(lambda kind, _, text: "" if kind == "reply" else text)) as server:
        report = played_over_http(server, tmp_path, cards=CARDS[:1])
    assert (report.run.written, len(report.run.failed)) == (0, 1)
    assert "no usable answer from custom/lab/m in 3 attempts: it is empty" in report.run.failed[0]["reason"]


def test_a_folder_of_other_hands_is_not_played_into(tmp_path: Path) -> None:
    with serve(Script()) as server:
        played_over_http(server, tmp_path, cards=CARDS[:1])
        with pytest.raises(SettingsError, match=r"conversation_1\.json was played from another card"):
            play_plan(CARDS[:1], CAST, tmp_path, models=hands(server)[1], options=OPTIONS)


def test_the_estimate_counts_what_is_asked() -> None:
    counted = {one.mode: one.calls for one in estimate(CARDS, CAST)}
    turns = sum(card.turns for card in CARDS)
    assert turns - 2 <= counted["assistant-1"] == counted["assistant-2"] <= turns
    assert counted["person"] >= 3 + 2 * counted["assistant-1"]
    assert counted["reader"] >= counted["assistant-1"]


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (
            {
                "status_code": 200,
                "body": {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
            },
            "Hi",
        ),
        (
            {
                "status_code": 200,
                "body": {"choices": [{"message": {"content": "H"}, "finish_reason": "length"}]},
            },
            "",
        ),
        ({"status_code": 429, "body": {"error": {}}}, None),
        (None, None),
    ],
)
def test_only_whole_answers_of_a_batch_count(tmp_path: Path, response: Any, text: str | None) -> None:
    (tmp_path / "out.jsonl").write_text(
        json.dumps({"custom_id": "k", "response": response}) + '\n{"key": "cut'
    )
    assert read_answers(tmp_path / "out.jsonl").get("k") == text


def test_a_request_waits_in_the_format_of_an_openai_batch() -> None:
    line = json.loads(batch_line(Ask("person", CAST.person, _other())))
    assert line["method"] == "POST"
    assert line["url"] == "/v1/chat/completions"
    assert line["body"]["model"] == "lab/person"
    assert len(line["custom_id"]) == 32
