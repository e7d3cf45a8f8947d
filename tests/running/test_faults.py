"""Everything that a server may do wrong, and what a run makes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from attune_env.running.settings import Patience
from attune_episodes import Settings, plan
from attune_episodes.chat.faults import KINDS, retry_after, status_fault
from tests import PATIENCE
from tests.data.builders import Json
from tests.endpoint import Fault, answers_of, serve
from tests.running.playing import CALLS, QUICK, files, met, model, play, small, the_only

DATA = small("c-1")
DRAFT, STAGE = "c-1/1/draft", "c-1/1/assess"
PASSING = (
    "408 409 425 429 429,retry_after=0 500 502 503 529 drop reset html html,status=200 truncated no_choices"
)


def outcome(folder: Path) -> tuple[str, Json]:
    """The outcome of STAGE in the result file, and the unusual facts about the call."""
    record = the_only(folder)
    return record["turns"][0]["attune"]["outcomes"]["assess"], record["attune"]["calls"].get(STAGE, {})


@pytest.mark.slow
@pytest.mark.parametrize("fault", PASSING.split())
def test_a_fault_that_passes_is_tried_again_and_leaves_no_trace_in_the_answer(
    tmp_path: Path, fault: str
) -> None:
    report, server = met(tmp_path, DATA, f"{fault},of={STAGE},first=2")
    assert (report.stopped, report.failed, report.written) == (None, (), 1)
    assert outcome(tmp_path) == ("ok", {})
    assert len(server.calls) == CALLS + 2 == report.tally.control.sent
    assert report.tally.control.failed == 2


def test_an_answer_that_does_not_come_in_time_is_not_waited_for(tmp_path: Path) -> None:
    hang = f"hang,seconds={PATIENCE},of={STAGE},first=1"
    report, _ = met(tmp_path, DATA, hang, call_timeout=1.0, patience=replace(QUICK, retries=40))
    assert report.written == 1
    assert report.tally.control.faults["timeout"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["503", "reset", "no_choices", "truncated", "html"])
def test_a_fault_that_stays_is_given_up_after_a_bounded_number_of_attempts(
    tmp_path: Path, fault: str
) -> None:
    report, server = met(tmp_path, DATA, f"{fault},of={STAGE}", concurrency=1, plain=True)
    assert sum(call.request == STAGE for call in server.calls) == 1 + QUICK.retries
    (entry,) = report.failed
    assert (entry["request"], entry["conversationId"], files(tmp_path)) == (STAGE, "c-1", {})
    again, _ = met(tmp_path, DATA, plain=True)
    assert (again.written, again.failed) == (1, ())
    assert again.tally.calls_kept >= 1  # what was answered is not asked again
    assert not (tmp_path / "_skipped_lab_m.json").exists()


def test_bytes_that_are_never_utf8_are_replaced_in_the_end(tmp_path: Path) -> None:
    met(tmp_path, DATA, f"bad_utf8,of={DRAFT}")
    said = the_only(tmp_path)["turns"][0]["attune"]["replies"]["draft"]
    assert said.startswith("\ufffd\ufffd\ufffd")


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "reason", "finish"), [
    ("garbage", "unparsed:truncated", None),
    ("garbage,text=no", "unparsed:no_json", None),
    ("garbage,text=<think>and so on", "unparsed:unfinished_reasoning", None),
    ("empty", "unparsed:empty", None),
    ("length", "unparsed:truncated", "length"),
    ("refusal", "unparsed:empty", "refusal"),
    ("content_filter", "unparsed:empty", "content_filter"),
])  # fmt: skip
def test_an_answer_that_cannot_be_read_is_asked_again_and_then_stands_with_its_reason(
    tmp_path: Path, fault: str, reason: str, finish: str | None
) -> None:
    report, server = met(tmp_path / "stays", DATA, f"{fault},of={STAGE}")
    asked = [call.body["messages"] for call in server.calls if call.request == STAGE]
    assert asked == [plan(DATA[0])[1].chat()] * 3  # always from the original messages
    status, facts = outcome(tmp_path / "stays")
    assert (status, facts["asks"], facts.get("finish")) == (reason, 3, finish)
    assert facts["unread"] == ["refusal" if fault == "refusal" else reason] * 2
    assert (report.failed, report.tally.parse_rate) == ((), (CALLS - 1) / CALLS)
    met(tmp_path / "passes", DATA, f"{fault},of={STAGE},first=2")
    status, facts = outcome(tmp_path / "passes")
    assert (status, facts["asks"]) == ("ok", 3)


@pytest.mark.parametrize("fault", ["length", "refusal", "content_filter"])
def test_a_draft_that_is_cut_or_refused_is_asked_again(tmp_path: Path, fault: str) -> None:
    met(tmp_path, DATA, f"{fault},of={DRAFT},first=1")
    record = the_only(tmp_path)
    assert record["turns"][0]["attune"]["replies"]["draft"] == answers_of(DATA)(plan(DATA[0])[0].chat())
    assert record["attune"]["calls"][DRAFT]["asks"] == 2


@pytest.mark.parametrize(("answer", "reasoning"), [
    ({"content": "Yes.", "reasoning_content": "I think."}, "I think."),
    ({"content": "Yes.", "reasoning": "I think."}, "I think."),
    ({"content": "<think>I think.</think>\nYes."}, "I think."),
    ({"content": "I think.</think>Yes."}, "I think."),
    ({"content": [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]}, ""),
])  # fmt: skip
def test_reasoning_is_kept_out_of_the_answer_and_in_the_journal(
    tmp_path: Path, answer: Json, reasoning: str
) -> None:
    book = answers_of(DATA)
    met(tmp_path, DATA, answers=lambda m: answer if book.request_id(m) == DRAFT else book(m))
    turn = the_only(tmp_path)["turns"][0]
    assert turn["em_drafted_response"] == turn["attune"]["replies"]["draft"] == "Yes."
    assert "I think." not in json.dumps(turn)
    lines = map(json.loads, (tmp_path / "_calls_custom_lab_m.jsonl").read_text().splitlines())
    (call,) = [line["call"] for line in lines if line.get("id") == DRAFT]
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
    ({"faults": ["html,status=200"]}, 9 * 5, "a web page instead of JSON; check --base-url"),
])  # fmt: skip
def test_where_everything_fails_the_run_stops_early_with_one_message(
    tmp_path: Path, options: Any, calls: int, message: str
) -> None:
    data = small(30)
    with serve(answers_of(data), **options) as server:
        report = play(server, data, tmp_path, concurrency=9, plain=True)
    assert len(server.calls) <= calls  # of 270
    assert message in str(report.stopped)
    assert "\n" not in str(report.stopped)
    assert server.url in str(report.stopped)


@pytest.mark.parametrize(("fault", "how"), [("empty", "20 empty"), ("length", "20 cut off")])
def test_where_no_first_answer_can_be_read_for_its_length_the_run_stops(
    tmp_path: Path, fault: str, how: str
) -> None:
    report, server = met(tmp_path, small(10), fault, concurrency=4)
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
    # the texts of all conversations are the same, so the first is answered and the others are not; one after
    # the other, since answers of the first between their failures would start the count again
    data = small(20)
    report, server = met(tmp_path, data, "503,after=1", concurrency=1)
    answered = sum(call.status == 200 for call in server.calls)
    assert "10 calls in a row failed" in str(report.stopped)
    again, _ = met(tmp_path, data, concurrency=4)
    assert again.written + report.written == 20
    assert again.tally.calls_kept + report.written * CALLS == answered


@pytest.mark.parametrize("status", [400, 413, 422, 403])
def test_a_refused_request_skips_its_conversation_at_once_with_reason_and_command(
    tmp_path: Path, status: int
) -> None:
    report, server = met(tmp_path, DATA, f"{status},of=c-1/2/prefer", plain=True)
    assert sum(call.request == "c-1/2/prefer" for call in server.calls) == 1
    path = tmp_path / "_skipped_lab_m.json"
    assert (report.stopped, report.skipped_file) == (None, path)
    content = json.loads(path.read_text())
    assert content["command"] == "attune run …"
    assert content["conversations"] == [{
        "conversationId": "c-1", "em_model": "custom/lab/m", "mode": "default",
        "source_file": "conversation_1.json", "request": "c-1/2/prefer",
        "reason": f"HTTP {status}: scripted {status}", "command": "attune run …",
    }]  # fmt: skip


def test_retry_after_is_obeyed_also_by_calls_that_wait_for_their_place(tmp_path: Path) -> None:
    # both calls of turn 1 are refused twice: after the first refusals only one place is left, so that the
    # other call waits for it when the third refusal comes
    report, server = met(
        tmp_path, DATA, "429,of=c-1/1/*,first=2,retry_after=0.3", latency=0.05, concurrency=2, plain=True,
        settings=Settings(stages=("draft", "assess")),
    )  # fmt: skip
    assert report.written == 1
    refused = [call.status == 429 for call in server.calls]
    assert refused[:3] == [True, True, True]
    assert sum(refused) == 4
    for before, after in zip(server.calls[2:], server.calls[3:], strict=False):
        assert before.status != 429 or after.at - before.at >= 0.3


def test_a_rate_limit_loses_no_conversation(tmp_path: Path) -> None:
    report, server = met(tmp_path, small(8), "429,every=3,retry_after=0.05", concurrency=40, plain=True)
    assert (report.stopped, report.failed, report.written) == (None, (), 8)
    assert report.tally.control.faults["rate_limited"] == len(server.calls) - 8 * CALLS > 20


def test_a_server_that_asks_to_wait_too_long_is_not_waited_for(tmp_path: Path) -> None:
    report, _ = met(tmp_path, DATA, f"429,of={STAGE},retry_after=3600", plain=True)
    assert report.failed[0]["reason"] == "HTTP 429: scripted 429 and asks to wait 3600 s"


def test_a_wait_is_bounded_and_grows() -> None:
    patience = Patience()
    for attempt, full in ((1, 0.5), (2, 1.0), (3, 2.0), (9, 30.0)):
        waits = {patience.wait(attempt, None) for _ in range(50)}
        assert all(full / 2 <= wait <= full for wait in waits)
        assert len(waits) > 40  # not everybody at once
    assert all(7 <= patience.wait(1, 7.0) <= 7.7 for _ in range(50))


@pytest.mark.parametrize(("headers", "seconds"), [
    ({"Retry-After": "3"}, 3.0), ({"retry-after": "0.5"}, 0.5), ({}, None),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({"Retry-After": formatdate(1000.0, usegmt=True)}, 10.0), ({"Retry-After": "-5"}, 0.0),
    *(({"Retry-After": odd}, None) for odd in ("soon", "nan", "inf", "9" * 400)),
])  # fmt: skip
def test_retry_after_is_read_as_seconds_or_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=990.0) == seconds


@pytest.mark.parametrize(("statuses", "body", "kind"), [
    ((400, 413, 422), {}, "bad_request"), ((401,), {}, "bad_key"), ((402,), {}, "no_credit"),
    ((403,), {}, "forbidden"), ((404, 405), {}, "not_found"), ((408, 409, 425, 500, 599), {}, "busy"),
    ((429,), {}, "rate_limited"), ((429,), {"error": {"code": "insufficient_quota"}}, "no_credit"),
    ((400,), {"error": "plain words"}, "bad_request"), ((400,), [1], "bad_request"),
    ((400,), {"error": 3}, "bad_request"),
])  # fmt: skip
def test_the_table_of_statuses(statuses: tuple[int, ...], body: object, kind: str) -> None:
    for status in statuses:
        fault = status_fault(status, body, json.dumps(body), {})
        assert (fault.kind, fault.action) == (kind, KINDS[kind][0])
        assert str(fault).startswith(f"HTTP {status}")


@pytest.mark.parametrize("said", ["x" * 10_000_000, "\x1b[2J\r\n" * 100, "é🌊" * 5000, ""])
def test_what_a_server_says_of_itself_is_one_short_line(said: str) -> None:
    message = str(status_fault(500, {"error": {"message": said}}, said, {}))
    assert len(message) <= 500
    assert message.isprintable()


def test_a_cap_of_calls_counts_retries_too(tmp_path: Path) -> None:
    report, server = met(tmp_path, DATA, "503,first=1", calls=7, concurrency=1)
    assert (len(server.calls), str(report.stopped)) == (7, "stopped at --max-calls 7")


def test_a_cap_of_cost_is_kept(tmp_path: Path) -> None:
    data = small(10)
    with serve(answers_of(data), price=(100.0, 0.0)) as server:
        report = play(server, data, tmp_path, cost=1.0, concurrency=4)
    assert "stopped at --max-cost 1" in str(report.stopped)
    control = report.tally.control
    assert 0.5 < control.spent < 1.0 + 4 * control.spent / control.answered
    assert len(server.calls) < 90


def test_a_server_without_structured_outputs_is_found_out_once_and_remembered(tmp_path: Path) -> None:
    with serve(answers_of(small(2)), structured=False) as server:
        play(server, small(2), tmp_path, calls=12, concurrency=3)
        tried = sum("response_format" in (call.body or {}) for call in server.calls)
        assert 1 <= tried <= 3  # those in flight
        assert play(server, small(2), tmp_path).written == 2
        assert sum("response_format" in (call.body or {}) for call in server.calls) == tried
    assert all(record["attune"]["usage"]["structured"] == 0 for record in files(tmp_path).values())


def test_a_server_with_structured_outputs_gets_the_schema_of_each_stage_but_plain_drafts(
    tmp_path: Path,
) -> None:
    _, server = met(tmp_path, DATA)
    for call in server.calls:
        (request,) = [r for r in plan(DATA[0]) if r.id == call.request]
        wanted = {"name": request.stage, "strict": True, "schema": request.schema}
        sent = None if request.stage == "draft" else {"type": "json_schema", "json_schema": wanted}
        assert call.body.get("response_format") == sent


def test_a_stage_whose_schema_is_refused_goes_without_it(tmp_path: Path) -> None:
    said = json.dumps({"error": {"message": "the grammar of response_format is too large"}})
    refusal = Fault("merged", 400, text=said, of="c-1/1/prefer", first=1)
    report, server = met(tmp_path, DATA, refusal, concurrency=1)
    held = {c.request for c in server.calls if c.status == 200 and "response_format" in c.body}
    assert report.written == 1
    assert held == {r.id for r in plan(DATA[0]) if r.stage not in ("draft", "prefer")}
