"""Faults, refusals and unreadable answers of a run: never stored, stored alike, asked for again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attune_env.results import read_results
from attune_env.running.journal import journal_name
from attune_env.running.loop import Watcher
from attune_env.running.settings import Price
from attune_env.running.troubles import main_trouble
from tests.command import attune_here, data_folder, read
from tests.data.builders import Json
from tests.endpoint import Book, Fault, answers_of, serve
from tests.endpoint.answers import key_of
from tests.running.playing import CALLS, files, met, model, play, small, the_only

DATA = small("c-1")
STAGE = "c-1/1/assess"
OUTAGE = json.dumps({"choices": [{"finish_reason": "error", "message": {"content": ""}}]})
JOURNAL = journal_name("custom/lab/m")


class Heard(Watcher):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def said(self, message: str) -> None:
        self.messages.append(message)


def finishing(finish: str, of: str = STAGE, **fields: Any) -> Fault:
    return Fault("merged", text=json.dumps({"choices": [{"finish_reason": finish}]}), of=of, **fields)


def test_an_outage_with_status_200_is_waited_out_and_never_stored(tmp_path: Path) -> None:
    report, _ = met(tmp_path, DATA, Fault("merged", text=OUTAGE, of=STAGE, first=2))
    assert (report.written, report.tally.control.faults["broken_off"]) == (1, 2)
    assert the_only(tmp_path)["attune"]["calls"] == {}
    data = small(4)
    report, _ = met(tmp_path / "stays", data, Fault("merged", text=OUTAGE, of="c-[2-4]/*"))
    assert report.written == 1
    assert "the answer has the finish reason" in str(report.failed) + str(report.stopped)
    again, _ = met(tmp_path / "stays", data)
    assert (again.written, again.stopped) == (3, None)


@pytest.mark.parametrize("refusal", [
    Fault("content_filter", of=STAGE), Fault("refusal", of=STAGE), finishing("SAFETY"),
    Fault("raw", 400, text='{"error": {"code": "content_filter"}}', of=STAGE),
    Fault("raw", text='{"choices": [], "promptFeedback": {"blockReason": "SAFETY"}}', of=STAGE),
    Fault("raw", text='{"choices": [{"finish_reason": "content_filter"}]}', of=STAGE),
])  # fmt: skip
def test_refusals_of_every_provider_leave_the_same_scores(tmp_path: Path, refusal: Fault) -> None:
    report, _ = met(tmp_path, DATA, refusal)
    assert (report.written, report.failed) == (1, ())
    record = the_only(tmp_path)
    assert record["turns"][0]["attune"]["outcomes"]["assess"] == "unparsed:empty"
    assert record["turns"][0]["attune"]["replies"]["assess"] == ""
    assert record["turns"][0]["em_emotion_tags"] is None
    assert {name: count for (name, count) in report.tally.troubles["custom/lab/m"].items() if name} == {
        "refused": 1
    }


GONE = [
    '{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 0}}',
    '{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}],'
    ' "usage": {"prompt_tokens": 9, "completion_tokens": 0}}',
    '{"choices": [{"message": {"content": "{}"}, "finish_reason": {"type": "abort"}}]}',
    '{"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "error": ["gone"]}',
    'data: {"choices": [{"delta": {"content": "{}"}}]}\n\ndata: [DONE]\n\n',
]


@pytest.mark.parametrize("fault", [
    *(Fault("raw", text=text, of=STAGE) for text in GONE),
    *(Fault("raw", 503, text=f'{{"error": {{"code": "{code}"}}}}', of=STAGE)
      for code in ("no_free_block", "guardrail_timeout", "moderation_service_unavailable")),
    Fault("raw", 403, text='{"error": {"code": "model_permission_blocked_org", "message": "no"}}', of=STAGE),
])  # fmt: skip
def test_what_only_looks_like_a_refusal_or_an_answer_is_never_stored(tmp_path: Path, fault: Fault) -> None:
    report, _ = met(tmp_path, DATA, fault)
    assert (report.written, [entry["request"] for entry in report.failed]) == (0, [STAGE])
    again, server = met(tmp_path, DATA)
    assert (again.written, STAGE in [call.request for call in server.calls]) == (1, True)


def test_the_words_of_a_refusal_in_an_error_stand_in_the_result(tmp_path: Path) -> None:
    text = '{"error": {"code": "content_filter", "message": "blocked by our content management policy"}}'
    met(tmp_path, DATA, Fault("raw", 400, text=text, of=STAGE))
    record = the_only(tmp_path)
    assert record["attune"]["calls"][STAGE]["refusal"] == "blocked by our content management policy"
    assert record["turns"][0]["attune"]["replies"]["assess"] == ""


@pytest.mark.parametrize("cap", [None, 1.0])
def test_without_a_count_of_tokens_a_price_gives_no_cost(tmp_path: Path, cap: float | None) -> None:
    fault = Fault("merged", text='{"usage": {"prompt_tokens": 0, "completion_tokens": null}}')
    with serve(answers_of(DATA), [fault]) as server:
        report = play(server, DATA, tmp_path, evaluated=model(server, price=Price(1.0, 2.0)), cost=cap)
    if cap is None:
        assert (report.written, the_only(tmp_path)["api_cost"]) == (1, None)
    else:
        assert "reports neither costs nor tokens; limit the run with --max-calls" in str(report.stopped)


def test_another_model_that_answers_is_told_once_and_named_in_the_result(tmp_path: Path) -> None:
    heard = Heard()
    with serve(answers_of(DATA), [Fault("merged", text='{"model": "small"}', of="c-1/2/*")]) as server:
        play(server, DATA, tmp_path, watcher=heard)
    (said,) = [message for message in heard.messages if "another model answers" in message]
    assert '"small"' in said
    assert the_only(tmp_path)["attune"]["served"] == {"lab/m": CALLS - 4, "small": 4}
    met(tmp_path / "one", DATA)
    assert "served" not in the_only(tmp_path / "one")["attune"]


def test_a_run_whose_last_answers_all_fail_for_one_reason_says_so(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ["c-1", "c-2", "c-3"])
    book, asked = answers_of(small(3)), list[object]()

    def answers(messages: Any) -> Any:
        asked.append(messages)
        return book(messages) if len(asked) <= 15 else {"content": None, "refusal": "no"}

    with serve(answers) as server:
        command: list[str | Path] = ["run", "custom", "lab/m", "data", "--base-url", server.url, "-o", "out"]
        out, err = attune_here([*command, "--concurrency", "1"], tmp_path, 1)
    assert "wrote 3 results to out" in out
    assert "the last 12 of 27 answers of custom/lab/m fail for one reason: refused" in err


def stored(folder: Path, finish: str) -> None:
    """Makes the answer to STAGE one that an earlier version stored with this finish."""
    (path,) = folder.glob("c-1_*.json")
    record = json.loads(path.read_text())
    record["attune"]["calls"][STAGE] = {"finish": finish}
    path.write_text(json.dumps(record))
    lines = [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()]
    for line in lines:
        if line.get("id") == STAGE:
            line["call"]["finish"] = finish
    (folder / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(("finish", "kind"), [("error", "fault"), ("abort", "fault"), ("SAFETY", "refused")])
@pytest.mark.parametrize("journal", [True, False])
def test_stored_answers_of_a_kind_are_asked_for_again_and_nothing_else(
    tmp_path: Path, finish: str, kind: str, journal: bool
) -> None:
    met(tmp_path, DATA)
    before = the_only(tmp_path)
    stored(tmp_path, finish)
    warned = [str(problem) for problem in read_results(tmp_path, DATA)[2]]
    assert ["--redo faults" in problem for problem in warned] == [True] * (kind == "fault")
    if not journal:
        (tmp_path / JOURNAL).unlink()
    untouched, _ = met(tmp_path, DATA, redo=frozenset({"unreadable"}))
    assert (untouched.written, untouched.tally.control.sent) == (0, 0)
    report, server = met(tmp_path, DATA, redo=frozenset({kind}))
    assert (report.written, [call.request for call in server.calls]) == (1, [STAGE])
    after = the_only(tmp_path)
    assert (after["turns"], after["attune"]["scores"]) == (before["turns"], before["attune"]["scores"])
    done, server = met(tmp_path, DATA, redo=frozenset({kind}))
    assert (done.written, server.calls) == (0, [])


def test_a_redo_that_fails_keeps_what_there_was(tmp_path: Path) -> None:
    met(tmp_path, DATA, "garbage,of=" + STAGE)
    before = files(tmp_path)
    report, _ = met(tmp_path, DATA, f"400,of={STAGE}", plain=False, redo=frozenset({"unreadable"}))
    assert ([entry["request"] for entry in report.failed], files(tmp_path)) == ([STAGE], before)
    report, _ = met(tmp_path, small(2), redo=frozenset({"unreadable"}))
    assert report.written == 1  # and not the second conversation, which nobody asked about


def test_a_fault_in_the_journal_of_an_earlier_version_is_asked_again(tmp_path: Path) -> None:
    met(tmp_path, DATA)
    stored(tmp_path, "error")
    next(tmp_path.glob("c-1_*.json")).unlink()
    report, server = met(tmp_path, DATA)
    assert (report.written, [call.request for call in server.calls]) == (1, [STAGE])


def test_an_unknown_finish_is_told_once_and_a_draft_with_it_is_none(tmp_path: Path) -> None:
    heard = Heard()
    with serve(answers_of(DATA), [finishing("Other", "*/assess")]) as server:
        assert play(server, DATA, tmp_path, watcher=heard).written == 1
    assert sum("unknown finish reason" in message for message in heard.messages) == 1
    report, _ = met(tmp_path / "draft", DATA, finishing("Other", "*/1/draft"))
    assert "--finish-ok" in report.failed[0]["reason"]
    report, _ = met(tmp_path / "ok", DATA, finishing("Other", "*/1/draft"), finish_ok=("other",))
    assert (report.written, report.tally.asked_again) == (1, 0)
    assert the_only(tmp_path / "ok")["attune"]["finish_ok"] == ["other"]


@pytest.mark.parametrize(("answer", "how", "advice"), [
    ({"content": None, "reasoning_content": "{}"}, "only in the reasoning field", "--reasoning-parser"),
    ({"content": None, "tool_calls": [{"id": "x"}]}, "only in tool_calls", "--tool-call-parser"),
])  # fmt: skip
def test_where_every_text_is_elsewhere_the_run_stops_and_says_what_to_switch_off(
    tmp_path: Path, answer: Json, how: str, advice: str
) -> None:
    report, _ = met(tmp_path, small(10), answers=lambda messages: answer, concurrency=4)
    assert f"(20 {how})" in str(report.stopped)
    assert advice in str(report.stopped)


def test_a_run_in_which_most_answers_fail_for_one_reason_says_so(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ["c-1"])
    twice = '{"emotions": []} or {"picks": {}}'
    book = answers_of(DATA, change=lambda r, text: text if r.stage == "draft" else twice)
    with serve(book) as server:
        command: list[str | Path] = ["run", "custom", "lab/m", "data", "--base-url", server.url, "-o", "out"]
        out, err = attune_here(command, tmp_path, 1)
    assert "wrote 1 results to out" in out
    assert "7 of 9 answers of custom/lab/m fail for one reason: unparsed:ambiguous" in err
    assert "--reasoning-parser" in err


def test_a_run_in_which_most_answers_cannot_be_read_for_several_reasons_says_so(tmp_path: Path) -> None:
    """It is complete: that a model cannot do it is a result."""
    data_folder(tmp_path / "data", ["c-1"])
    prose = {"assess": "They felt bad.", "prefer": '{"emotions": []} or {"picks": {}}'}
    book = answers_of(DATA, change=lambda r, text: prose.get(r.stage, text))
    with serve(book) as server:
        command: list[str | Path] = ["run", "custom", "lab/m", "data", "--base-url", server.url, "-o", "out"]
        out, err = attune_here([*command, "--stages", "assess,prefer,reflect"], tmp_path)
    assert "wrote 1 results to out" in out
    [said] = [line for line in err.splitlines() if "could not be read" in line]
    assert "warning: 4 of 5 answers of custom/lab/m could not be read: " in said
    assert "unparsed:ambiguous 2, unparsed:no_json 2" in said


FIELDS: dict[str, Callable[[Json], bool]] = {
    "seed": lambda body: "seed" not in body,
    "temperature": lambda body: "temperature" not in body,
    "top_p": lambda body: "top_p" not in body,
    "max_tokens": lambda body: body.get("max_completion_tokens") == 500,
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_the_server_refuses_is_left_out_and_told_once(tmp_path: Path, field: str) -> None:
    said = json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", field], "msg": "Extra"}]})
    heard = Heard()
    with serve(answers_of(DATA), [Fault("raw", 422, text=said, first=1, of="c-1/1/draft")]) as server:
        asked = model(server, temperature=0.2, max_tokens=500, seed=3, extra_body={"top_p": 0.9})
        play(server, DATA, tmp_path, evaluated=asked, watcher=heard, concurrency=1)
    assert [FIELDS[field](call.body) for call in server.calls] == [False] + [True] * CALLS
    assert sum(f"the server refuses {field}" in message for message in heard.messages) == 1
    assert the_only(tmp_path)["attune"]["left_out"] == [field]


def test_further_fields_are_sent_recorded_and_part_of_what_a_run_is(tmp_path: Path) -> None:
    data_folder(tmp_path / "data", ["c-1"])
    more = ["--extra-body", '{"top_p": 0.9, "chat_template_kwargs": {"enable_thinking": false}}']
    with serve(answers_of(DATA)) as server:
        command: list[str | Path] = ["run", "custom", "lab/m", "data", "--base-url", server.url, "-o", "out"]
        attune_here([*command, *more], tmp_path)
        assert {call.body["top_p"] for call in server.calls} == {0.9}
        assert not any(call.body["stream"] for call in server.calls)
        _, err = attune_here(command, tmp_path, 2)
        assert "extra_body {'top_p': 0.9" in err
        for wrong in ("[]", "{", '{"messages": []}', '{"model": "x"}', '{"n": 2}'):
            _, err = attune_here([*command, "--extra-body", wrong], tmp_path, 2)
            assert "--extra-body" in err
        _, err = attune_here(
            [*command, "--extra-body", '{"max_tokens": 5}', "--max-tokens", "5"], tmp_path, 2
        )
        assert "--max-tokens gives: leave one out" in err
        assert "no kind of answer to --redo" in attune_here([*command, "--redo", "cuts"], tmp_path, 2)[1]
    record = read(next((tmp_path / "out").glob("c-1_*.json")))
    assert record["attune"]["policy"]["extra_body"]["top_p"] == 0.9


def test_a_model_without_a_system_role_gets_its_message_from_the_user(tmp_path: Path) -> None:
    def joined(messages: list[dict[str, str]]) -> list[dict[str, str]]:
        both = f"{messages[0]['content']}\n\n{messages[1]['content']}"
        return [{"role": "user", "content": both}, *messages[2:]]

    pages = {key_of(joined(json.loads(key))): page for key, page in answers_of(DATA).pages.items()}
    with serve(Book(pages)) as server:
        report = play(server, DATA, tmp_path, evaluated=model(server, system_as_user=True))
    assert report.written == 1
    assert the_only(tmp_path)["attune"]["policy"]["system_as_user"] is True


def test_one_sample_that_does_not_fit_its_schema_switches_nothing_off(tmp_path: Path) -> None:
    said = json.dumps({"error": {"code": "json_validate_failed", "failed_generation": '{"emotions'}})
    report, server = met(tmp_path, DATA, Fault("raw", 400, text=said, of=STAGE, first=1), concurrency=1)
    held = [call.request for call in server.calls if "response_format" in call.body]
    assert (report.written, len(held), report.tally.asked_again) == (1, CALLS - 2 + 1, 1)


def test_a_server_that_cuts_prompts_is_told_once(tmp_path: Path) -> None:
    heard = Heard()
    same = Fault("merged", text=json.dumps({"usage": {"prompt_tokens": 64}}))
    with serve(answers_of(DATA), [same]) as server:
        play(server, DATA, tmp_path, watcher=heard)
    assert sum("counts 64 tokens for prompts of" in message for message in heard.messages) == 1
    heard = Heard()
    with serve(answers_of(DATA)) as server:
        play(server, DATA, tmp_path / "whole", watcher=heard)
    assert not any("counts" in message for message in heard.messages)


def test_a_main_trouble_is_one_of_most_answers() -> None:
    assert main_trouble({}) is None
    assert main_trouble({"m": Counter({"": 5, "empty": 5})}) is None
    assert main_trouble({"m": Counter({"": 2, "refused": 2, "empty": 2})}) is None
    counted = {"m": Counter({"": 40, "refused": 15})}
    assert main_trouble(counted, {"m": ("refused", 9)}) is None
    assert main_trouble(counted, {"m": ("", 30)}) is None
    assert "the last 10 of 55 answers of m" in str(main_trouble(counted, {"m": ("refused", 10)}))
    most = {"j": Counter({"": 9}), "m": Counter({"": 4, "cut off": 6})}
    assert "6 of 10 answers of m" in str(main_trouble(most))
