"""A hostile or broken server cannot block a folder, fill the memory or send prompts elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from attune_env.running import run_builtin
from attune_env.running.journal import Journal
from attune_episodes import plan
from tests.data.builders import Json
from tests.endpoint import answers_of, endpoint_process, serve
from tests.endpoint.faults import Fault
from tests.running.playing import CALLS, files, judge_answers, met, play, small, the_only
from tests.running.test_rejudge import again

DATA = small("c-1")
JOURNAL = "_calls_custom_lab_m.jsonl"
HUGE = 10**400
ODD: list[Json] = [  # the first is of a draft, which an unknown finish would make a fault
    {"choices": [{"finish_reason": None, "message": {"reasoning": "\udfff", "role": 5, "tool_calls": HUGE}}]},
    {"choices": [{"finish_reason": "x" * 10**6}]},
    {"choices": [{"finish_reason": ["stop"]}]},
    {"choices": [{"finish_reason": "\ud800"}]},
    {"choices": [{"message": {"reasoning_content": "r" * 2 * 10**6}}]},
    {"id": "\ud800", "provider": "\ud800", "created": HUGE, "model": "\ud800"},
    {"model": "m" * 10**6, "usage": None},
    {"usage": {"cost": 1.5e308}},
    {"usage": {"cost": HUGE, "prompt_tokens": HUGE, "completion_tokens": -HUGE}},
    {"usage": {"cost": float("inf"), "prompt_tokens": float("nan"), "completion_tokens": True}},
    {"usage": {"cost": -1, "prompt_tokens": "7", "completion_tokens": 7.5}},
    {"usage": {"cost": True, "prompt_tokens_details": "many", "completion_tokens_details": [HUGE]}},
    {"usage": {"prompt_tokens_details": {"cached_tokens": HUGE},
               "completion_tokens_details": {"reasoning_tokens": 1e300}}},
]  # fmt: skip


@pytest.mark.parametrize("odd", [ODD[:7], ODD[6:]], ids=["texts", "usage"])
def test_no_field_of_an_answer_blocks_the_folder(tmp_path: Path, odd: list[Json]) -> None:
    judged = tmp_path / "judged"
    run_builtin("lexicon", DATA, judged)
    texts = list(map(json.dumps, odd))
    faults = [Fault("merged", text=t, of=r.id) for t, r in zip(texts, plan(DATA[0]), strict=False)]
    with serve(answers_of(DATA), faults) as server:
        report = play(server, DATA, tmp_path)
        assert (report.written, report.stopped, report.failed) == (1, None, ())
        for name in files(tmp_path):
            (tmp_path / name).unlink()
        repeated = play(server, DATA, tmp_path)  # from the journal alone
        assert (repeated.written, repeated.tally.calls_kept) == (1, CALLS)
        assert len(server.calls) == report.tally.control.sent
    with serve(judge_answers(), [Fault("merged", text=texts[-1])]) as server:
        assert again(server, judged).written == 1
    record = the_only(tmp_path)
    assert record["api_cost"] is None
    marks = record["attune"]["usage"]
    assert all(0 <= marks[name] < 2**53 for name in ("tokens_in", "tokens_out", "tokens_reasoning"))
    lines = (tmp_path / JOURNAL).read_text().splitlines()
    for call in (json.loads(line)["call"] for line in lines if '"call"' in line):
        assert max(len(call["finish"]), len(call["served"])) <= 200
        assert len(call["reasoning"]) <= 1_000_001


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [
    ('"finish":"stop"', r'"finish":"\ud800"'),
    ('"served":"lab/m"', r'"served":"\ud800"'),
    *(('"cost":null', f'"cost":{cost}') for cost in ("1.5e308", HUGE, '"1"', "NaN")),
    ('"tokens_in":', '"tokens_in":1e9'),
    ('"reasoning":0', '"reasoning":-1'),
    ('"asks":1', '"asks":Infinity'),
    ('"attempts":1', '"attempts":[1]'),
    ('"seconds":0', f'"seconds":{HUGE}'),
    ('"unread":[]', r'"unread":[["\ud800","unparsed:empty"]]'),
    ('"unread":[]', '"unread":[[5,6]]'),
])  # fmt: skip
def test_a_line_that_an_earlier_version_should_not_have_kept_is_read_past(
    tmp_path: Path, old: str, new: str
) -> None:
    path = tmp_path / JOURNAL
    met(tmp_path, DATA, calls=CALLS - 1)
    lines = path.read_text().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if old in line)
    lines[number] = lines[number].replace(old, new)
    path.write_text("".join(lines))
    with Journal(tmp_path, "custom/lab/m") as journal:
        assert journal.passed_over == 1
    report, server = met(tmp_path, DATA)
    assert (report.written, report.tally.calls_kept, len(server.calls)) == (1, CALLS - 2, 2)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("relative", [False, True])
def test_no_redirect_is_followed_and_the_error_names_the_address(
    tmp_path: Path, status: int, relative: bool
) -> None:
    with serve(answers_of(DATA)) as other:
        address = "/v1/models" if relative else f"{other.url}/chat/completions"
        report, server = met(tmp_path, DATA, Fault("redirect", status, text=address), plain=True)
        assert other.calls == []
    assert 0 < len(server.calls) <= 8  # what was in flight
    assert f'{server.url}: HTTP {status}: redirected to "{address}"' in str(report.stopped)
    assert "give its new address with --base-url" in str(report.stopped)
    assert (report.written, report.failed) == (0, ())


def test_a_redirect_amid_answers_skips_only_its_conversation(tmp_path: Path) -> None:
    fault = "redirect,text=http://[::1:99999/,of=c-1/2/prefer"
    report, _ = met(tmp_path, small(2), fault, concurrency=1, plain=True)
    assert (report.written, report.stopped) == (1, None)
    assert 'redirected to "http://[::1:99999/"' in report.failed[0]["reason"]


PACKED = 'the answer is compressed ("gzip"), which was not requested'
TOO_LARGE = "the answer is larger than 4 MB"


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "said"), [
    ("flood,megabytes=20", TOO_LARGE),
    ("bomb,megabytes=20", PACKED),
    ("flood,megabytes=20,status=400", "HTTP 400"),
    ("bomb,megabytes=20,status=401", "HTTP 401"),
    ("flood,megabytes=4", "the answer is not JSON"),
    ("drip", "no answer within 1 s"),
    ("drip,status=500", "no answer within 1 s"),
])  # fmt: skip
def test_a_body_without_measure_is_a_fault_with_its_name(tmp_path: Path, fault: str, said: str) -> None:
    patience = 1.0 if "drip" in fault else 30.0
    report, _ = met(tmp_path, DATA, fault, concurrency=3, call_timeout=patience, plain=True)
    assert said in str(report.stopped)
    assert report.written == 0


PEAK = (
    "import atexit, re, runpy\n"
    "status = lambda: open('/proc/self/status').read()\n"
    "atexit.register(lambda: print('peak', re.search(r'VmHWM:\\s+(\\d+) kB', status())[1]))\n"
    "runpy.run_module('attune_env', run_name='__main__')"
)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("faults", [
    ("flood,every=2", "bomb,megabytes=1000"),
    ("long,megabytes=3.9",),  # just within the limit
])  # fmt: skip
def test_sixteen_answers_without_measure_stay_within_400_megabytes(
    tmp_path: Path, faults: tuple[str, ...]
) -> None:
    with endpoint_process("--data", "sample", "--gather", "16", "--fail", *faults) as server:
        done = subprocess.run(
            [sys.executable, "-c", PEAK, "run", "custom", "m", "sample", "--base-url", server.url,
             "--structured", "off", "--concurrency", "16", "--max-calls", "48", "-o", "out"],
            capture_output=True, encoding="utf-8", cwd=tmp_path, check=False, timeout=300,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert int(done.stdout.split()[-1]) < 400_000
