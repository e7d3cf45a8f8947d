"""Everything that a server may do wrong, and what a run makes of it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest

from attune_env.running.faults import KINDS, status_fault
from attune_env.running.settings import Caps, Patience
from attune_episodes import Settings, plan
from attune_episodes.chat_answers import retry_after
from tests import PATIENCE
from tests.data.builders import Json
from tests.endpoint import Book, answers_of, serve
from tests.endpoint.answers import Messages
from tests.endpoint.faults import Fault, Faults
from tests.running.playing import QUICK, files, model, play, small

DATA = small("c-1")
CALLS = len(plan(DATA[0]))
STAGE = "c-1/1/assess"


def outcome(folder: Path, stage: str = "assess") -> tuple[str, Json]:
    """What the result file says of that stage in turn 1, and what was remarkable about the call."""
    ((_, record),) = files(folder).items()
    marks = record["turns"][0]["attune"]["outcomes"]
    return marks[stage], record["attune"]["calls"].get(f"c-1/1/{stage}", {})


PASSING = [
    "408", "409", "425", "429", "429,retry_after=0", "500", "502", "503", "529", "drop", "reset",
    "html", "html,status=200", "truncated", "no_choices",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_is_tried_again_and_leaves_no_trace_in_the_answer(
    tmp_path: Path, fault: str
) -> None:
    with serve(answers_of(DATA), [f"{fault},of={STAGE},first=2"]) as server:
        report = play(server, DATA, tmp_path)
    assert (report.stopped, report.failed, report.written) == (None, (), 1)
    assert outcome(tmp_path) == ("ok", {})
    assert len(server.calls) == CALLS + 2 == report.tally.control.sent
    assert report.tally.control.failed == 2


def test_an_answer_that_does_not_come_in_time_is_not_waited_for(tmp_path: Path) -> None:
    with serve(answers_of(DATA), [f"hang,seconds={PATIENCE},of={STAGE},first=1"]) as server:
        report = play(server, DATA, tmp_path, call_timeout=1.0, patience=replace(QUICK, retries=40))
    assert report.written == 1
    assert report.tally.control.faults["timeout"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["503", "reset", "no_choices", "truncated", "html"])
def test_a_fault_that_stays_is_given_up_after_a_bounded_number_of_attempts(
    tmp_path: Path, fault: str
) -> None:
    with serve(answers_of(DATA), [f"{fault},of={STAGE}"]) as server:
        report = play(server, DATA, tmp_path, concurrency=1, evaluated=model(server, structured="off"))
        assert sum(call.request == STAGE for call in server.calls) == 1 + QUICK.retries
        (entry,) = report.failed
        assert (entry["request"], entry["conversationId"]) == (STAGE, "c-1")
        assert report.written == 0
        assert files(tmp_path) == {}
        server.faults.faults.clear()
        again = play(server, DATA, tmp_path, evaluated=model(server, structured="off"))
    assert (again.written, again.failed) == (1, ())
    assert again.tally.calls_kept >= 1  # what was answered is not asked again
    assert not (tmp_path / "_skipped_lab_m.json").exists()


def test_bytes_that_are_never_utf8_are_replaced_in_the_end(tmp_path: Path) -> None:
    with serve(answers_of(DATA), ["bad_utf8,of=c-1/1/draft"]) as server:
        report = play(server, DATA, tmp_path)
    assert report.written == 1
    ((_, record),) = files(tmp_path).items()
    assert record["turns"][0]["attune"]["replies"]["draft"].startswith("\ufffd\ufffd\ufffd")


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "reason", "finish"), [
    ("garbage", "unparsed:truncated", None),
    ("garbage,text=no", "unparsed:no_json", None),
    ("garbage,text=<think>and so on", "unparsed:unfinished_reasoning", None),
    ("empty", "unparsed:empty", None),
    ("length", "unparsed:truncated", "length"),
    ("refusal", "unparsed:no_json", "refusal"),
    ("content_filter", "unparsed:empty", "content_filter"),
])  # fmt: skip
def test_an_answer_that_cannot_be_read_is_asked_again_and_then_stands_with_its_reason(
    tmp_path: Path, fault: str, reason: str, finish: str | None
) -> None:
    with serve(answers_of(DATA), [f"{fault},of={STAGE}"]) as server:
        report = play(server, DATA, tmp_path / "stays")
        asked = [call.body["messages"] for call in server.calls if call.request == STAGE]
        assert asked == [plan(DATA[0])[1].chat()] * 3  # always from the original messages
    with serve(answers_of(DATA), [f"{fault},of={STAGE},first=2"]) as server:
        play(server, DATA, tmp_path / "passes")
    assert (report.written, report.failed) == (1, ())
    status, facts = outcome(tmp_path / "stays")
    assert (status, facts["asks"], facts.get("finish")) == (reason, 3, finish)
    assert facts["unread"] == [reason, reason]
    assert report.tally.parse_rate == (CALLS - 1) / CALLS
    assert outcome(tmp_path / "passes")[0] == "ok"
    assert outcome(tmp_path / "passes")[1]["asks"] == 3


@pytest.mark.parametrize("fault", ["length", "refusal", "content_filter"])
def test_a_draft_that_is_cut_or_refused_is_asked_again(tmp_path: Path, fault: str) -> None:
    with serve(answers_of(DATA), [f"{fault},of=c-1/1/draft,first=1"]) as server:
        play(server, DATA, tmp_path)
    ((_, record),) = files(tmp_path).items()
    whole = answers_of(DATA)(plan(DATA[0])[0].chat())
    assert record["turns"][0]["attune"]["replies"]["draft"] == whole
    assert record["attune"]["calls"]["c-1/1/draft"]["asks"] == 2


@pytest.mark.parametrize(("answer", "reply", "reasoning"), [
    ({"content": "Yes.", "reasoning_content": "I think."}, "Yes.", "I think."),
    ({"content": "Yes.", "reasoning": "I think."}, "Yes.", "I think."),
    ({"content": "<think>I think.</think>\nYes."}, "Yes.", "I think."),
    ({"content": "I think.</think>Yes."}, "Yes.", "I think."),
    ({"content": [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]}, "Yes.", ""),
])  # fmt: skip
def test_reasoning_is_kept_out_of_the_answer_and_in_the_journal(
    tmp_path: Path, answer: Json, reply: str, reasoning: str
) -> None:
    book = answers_of(DATA)

    def said(messages: object) -> object:
        found = book(messages)  # type: ignore[arg-type]
        return answer if book.request_id(messages) == "c-1/1/draft" else found  # type: ignore[arg-type]

    with serve(said) as server:  # type: ignore[arg-type]
        play(server, DATA, tmp_path)
    ((_, record),) = files(tmp_path).items()
    assert record["turns"][0]["em_drafted_response"] == reply
    assert record["turns"][0]["attune"]["replies"]["draft"] == reply
    assert reasoning not in json.dumps(record) or not reasoning
    lines = map(json.loads, (tmp_path / "_calls_custom_lab_m.jsonl").read_text().splitlines())
    (call,) = [line["call"] for line in lines if line.get("id") == "c-1/1/draft"]
    assert reasoning in call["reasoning"]
    assert bool(call["reasoning"]) == bool(reasoning)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "calls", "message"), [
    ({"key": "another"}, 9, "HTTP 401: Incorrect API key provided.; check the key"),
    ({"model": "another"}, 9, "does not exist.; check the model's name"),
    ({"faults": ["402"]}, 9, "the account has no credit left"),
    ({"faults": ["404"]}, 9, "check the model's name"),
    ({"faults": ["403"]}, 9 + 3, "calls in a row failed"),
    ({"faults": ["400"]}, 9 + 3, "calls in a row failed"),
    ({"faults": ["503"]}, 9 * 5, "HTTP 503: scripted 503"),
    ({"faults": ["html"]}, 9 * 5, "HTTP 502: a web page, no JSON"),
    ({"faults": ["html,status=200"]}, 9 * 5, "a web page, not with JSON; check --base-url"),
])  # fmt: skip
def test_where_everything_fails_the_run_stops_early_with_one_message(
    tmp_path: Path, options: Json, calls: int, message: str
) -> None:
    data = small(*(f"c-{n}" for n in range(30)))
    with serve(answers_of(data), **options) as server:
        report = play(server, data, tmp_path, concurrency=9, evaluated=model(server, structured="off"))
        assert len(server.calls) <= calls  # of 270
    assert message in str(report.stopped)
    assert "\n" not in str(report.stopped)
    assert server.url in str(report.stopped)


@pytest.mark.parametrize(("fault", "how"), [("empty", "20 empty"), ("length", "20 cut off")])
def test_where_no_first_answer_can_be_read_for_its_length_the_run_stops(
    tmp_path: Path, fault: str, how: str
) -> None:
    data = small(*(f"c-{n}" for n in range(10)))
    with serve(answers_of(data), [fault]) as server:
        report = play(server, data, tmp_path, concurrency=4)
        asked_json = sum("response_format" in call.body for call in server.calls)
        assert 20 <= asked_json <= 20 + 3  # of 70, asked three times each; three were in flight
    assert f"({how})" in str(report.stopped)
    assert "is --max-tokens too small?" in str(report.stopped)


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with serve(answers_of(DATA)) as server:
        gone = model(server)
    report = play(server, DATA, tmp_path, evaluated=gone)
    assert "no connection" in str(report.stopped)
    assert "is the server running, and --base-url right?" in str(report.stopped)


def test_a_server_that_goes_away_stops_the_run_and_keeps_what_was_answered(tmp_path: Path) -> None:
    data = small(*(f"c-{n}" for n in range(30)))
    with serve(answers_of(data), ["503,after=1"]) as server:
        # the texts of all conversations are the same: each request's second attempt is another conversation's
        report = play(server, data, tmp_path, concurrency=4)
        answered = sum(call.status == 200 for call in server.calls)
        assert "10 calls in a row failed" in str(report.stopped)
        server.faults.faults.clear()
        again = play(server, data, tmp_path, concurrency=4)
    assert again.written + report.written == 30
    assert again.tally.calls_kept + report.written * 9 == answered


@pytest.mark.parametrize("status", [400, 413, 422, 403])
def test_a_refused_request_skips_its_conversation_at_once_with_reason_and_command(
    tmp_path: Path, status: int
) -> None:
    with serve(answers_of(DATA), [f"{status},of=c-1/2/prefer"]) as server:
        report = play(server, DATA, tmp_path, evaluated=model(server, structured="off"))
        assert sum(call.request == "c-1/2/prefer" for call in server.calls) == 1
    assert report.stopped is None
    path = tmp_path / "_skipped_lab_m.json"
    assert report.skipped_file == path
    content = json.loads(path.read_text())
    assert content["command"] == "attune run …"
    (entry,) = content["conversations"]
    assert entry == {
        "conversationId": "c-1", "em_model": "custom/lab/m", "mode": "default",
        "source_file": "conversation_1.json", "request": "c-1/2/prefer",
        "reason": f"HTTP {status}: scripted {status}", "command": "attune run …",
    }  # fmt: skip


def test_retry_after_is_obeyed_also_by_calls_that_wait_for_their_place(tmp_path: Path) -> None:
    two = Settings(stages=("draft", "assess"))
    times = list[float]()

    class Noted(Book):
        def __call__(self, messages: Messages) -> str | None:
            times.append(time.monotonic())
            return super().__call__(messages)

    noted = Noted(answers_of(DATA, settings=two).pages)
    # both calls of turn 1 are refused twice: after the first refusals only one place is left, so that the
    # other call waits for it when the third refusal comes
    with serve(noted, ["429,of=c-1/1/*,first=2,retry_after=0.3"], latency=0.05) as server:
        report = play(
            server, DATA, tmp_path, concurrency=2, settings=two, evaluated=model(server, structured="off")
        )
    assert report.written == 1
    refused = [call.status == 429 for call in server.calls]
    assert refused[:3] == [True, True, True]
    assert sum(refused) == 4
    for before, after, no in zip(times[2:], times[3:], refused[2:], strict=False):
        assert not no or after - before >= 0.3


class Window(Faults):
    """A true rate limit: so many answers in a window of time, and Retry-After to its end beyond them."""

    def __init__(self, answers: int, seconds: float) -> None:
        super().__init__()
        self.answers, self.seconds = answers, seconds
        self.window, self.used, self.refused = -1, 0, 0

    def next(self, request: str | None, key: str, attempt: int) -> Fault | None:
        now = time.monotonic()
        window = int(now // self.seconds)
        # the first window lasts until it is used up: a slow machine meets the limit too
        if window != self.window and (self.refused or not self.used):
            self.window, self.used = window, 0
        self.used += 1
        if self.used <= self.answers:
            return None
        self.refused += 1
        return Fault("status", 429, retry_after=f"{(window + 1) * self.seconds - now:.3f}")


def test_a_rate_limit_loses_no_conversation(tmp_path: Path) -> None:
    data = small(*(f"c-{n}" for n in range(8)))
    with serve(answers_of(data), latency=0.02) as server:
        server.faults = limit = Window(8, 0.2)
        report = play(server, data, tmp_path, concurrency=40, evaluated=model(server, structured="off"))
    assert limit.refused > 0
    assert (report.stopped, report.failed, report.written) == (None, (), 8)


def test_a_server_that_asks_to_wait_too_long_is_not_waited_for(tmp_path: Path) -> None:
    with serve(answers_of(DATA), [f"429,of={STAGE},retry_after=3600"]) as server:
        report = play(server, DATA, tmp_path, evaluated=model(server, structured="off"))
    (entry,) = report.failed
    assert entry["reason"] == "HTTP 429: scripted 429 and asks to wait 3600 s"


def test_a_wait_is_bounded_and_grows(tmp_path: Path) -> None:
    patience = Patience()
    waits = [[patience.wait(attempt, None) for _ in range(50)] for attempt in (1, 2, 3, 9)]
    for some, full in zip(waits, (0.5, 1.0, 2.0, 30.0), strict=True):
        assert all(full / 2 <= wait <= full for wait in some)
        assert len(set(some)) > 40  # not everybody at once
    assert all(7 <= patience.wait(1, 7.0) <= 7.7 for _ in range(50))


@pytest.mark.parametrize(("headers", "seconds"), [
    ({"Retry-After": "3"}, 3.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({"Retry-After": formatdate(1000.0, usegmt=True)}, 10.0),
    ({"Retry-After": "-5"}, 0.0),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "nan"}, None),
    ({"Retry-After": "inf"}, None),
    ({"Retry-After": "9" * 400}, None),
    ({}, None),
])  # fmt: skip
def test_retry_after_is_read_as_seconds_or_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=990.0) == seconds


@pytest.mark.parametrize(("status", "body", "kind"), [
    (400, {}, "bad_request"), (401, {}, "bad_key"), (402, {}, "no_credit"), (403, {}, "forbidden"),
    (404, {}, "not_found"), (405, {}, "not_found"), (408, {}, "busy"), (409, {}, "busy"), (425, {}, "busy"),
    (413, {}, "bad_request"), (422, {}, "bad_request"), (429, {}, "rate_limited"), (500, {}, "busy"),
    (599, {}, "busy"), (429, {"error": {"code": "insufficient_quota"}}, "no_credit"),
    (400, {"error": "plain words"}, "bad_request"), (400, [1], "bad_request"),
    (400, {"error": 3}, "bad_request"),
])  # fmt: skip
def test_the_table_of_statuses(status: int, body: object, kind: str) -> None:
    fault = status_fault(status, body, json.dumps(body), {})
    assert fault.kind == kind
    assert fault.action == KINDS[kind][0]
    assert str(fault).startswith(f"HTTP {status}")


@pytest.mark.parametrize("said", ["x" * 10_000_000, "\x1b[2J\r\n" * 100, "é🌊" * 5000, ""])
def test_what_a_server_says_of_itself_is_one_short_line(said: str) -> None:
    message = str(status_fault(500, {"error": {"message": said}}, said, {}))
    assert len(message) <= 500
    assert message.isprintable()


def test_a_cap_of_calls_counts_retries_too(tmp_path: Path) -> None:
    with serve(answers_of(DATA), ["503,first=1"]) as server:
        report = play(server, DATA, tmp_path, caps=Caps(calls=7), concurrency=1)
    assert len(server.calls) == 7
    assert str(report.stopped) == "stopped at --max-calls 7"


def test_a_cap_of_cost_is_kept(tmp_path: Path) -> None:
    data = small(*(f"c-{n}" for n in range(10)))
    with serve(answers_of(data), price=(100.0, 0.0)) as server:
        report = play(server, data, tmp_path, caps=Caps(cost=1.0), concurrency=4)
    assert "stopped at --max-cost 1" in str(report.stopped)
    one = report.tally.control.spent / report.tally.control.answered
    assert 0.5 < report.tally.control.spent < 1.0 + 4 * one
    assert len(server.calls) < 90


def test_a_server_without_structured_outputs_is_found_out_once_and_remembered(tmp_path: Path) -> None:
    data = small("c-1", "c-2")
    with serve(answers_of(data), structured=False) as server:
        report = play(server, data, tmp_path, caps=Caps(calls=12), concurrency=3)
        tried = sum("response_format" in (call.body or {}) for call in server.calls)
        assert 1 <= tried <= 3  # those in flight
        report = play(server, data, tmp_path)
        assert sum("response_format" in (call.body or {}) for call in server.calls) == tried
    assert report.written == 2
    for record in files(tmp_path).values():
        assert record["attune"]["usage"]["structured"] == 0


def test_a_server_with_structured_outputs_gets_the_schema_of_each_stage_but_plain_drafts(
    tmp_path: Path,
) -> None:
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path)
    for call in server.calls:
        (request,) = [r for r in plan(DATA[0]) if r.id == call.request]
        sent = call.body.get("response_format")
        if request.stage == "draft":
            assert sent is None
        else:
            wanted = {"name": request.stage, "strict": True, "schema": request.schema}
            assert sent == {"type": "json_schema", "json_schema": wanted}


def test_a_stage_whose_schema_is_refused_goes_without_it(tmp_path: Path) -> None:
    with serve(answers_of(DATA), ["400,of=c-1/1/prefer,first=1"]) as server:
        report = play(server, DATA, tmp_path, concurrency=1)
        held = {c.request for c in server.calls if c.status == 200 and "response_format" in c.body}
    assert report.written == 1
    assert held == {r.id for r in plan(DATA[0]) if r.stage not in ("draft", "prefer")}
