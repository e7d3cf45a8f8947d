"""What the calls of a run share: places, waits, the breaker, who finds out about schemas, the order."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_env.running import loop as endpoint_loop
from attune_env.running.control import IN_A_ROW, IN_A_ROW_LATER, Breaker, Control, Gate
from attune_env.running.faults import Fault, StopRun
from attune_env.running.loop import Watcher, disk_message
from attune_env.running.settings import Caps, Patience
from attune_env.running.tally import Tally
from tests import PATIENCE
from tests.endpoint import answers_of, serve
from tests.running.playing import play, small


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(work(), PATIENCE)

    asyncio.run(main())


@given(most=st.integers(1, 9), calls=st.integers(0, 40), refusals=st.sets(st.integers(0, 39)))
def test_a_gate_never_lets_in_more_than_its_limit_and_loses_no_place(
    most: int, calls: int, refusals: set[int]
) -> None:
    async def work() -> None:
        gate, done = Gate(most), 0

        async def one(number: int) -> None:
            nonlocal done
            async with gate.one():
                assert gate.running <= most
                await asyncio.sleep(0)
                if number in refusals:
                    gate.slow_down(None)
                else:
                    gate.worked()
            done += 1

        tasks = [asyncio.create_task(one(number)) for number in range(calls)]
        for task in tasks[::7]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert gate.running == 0
        assert done == calls - len(tasks[::7])

    run(work)


def test_too_many_requests_means_fewer_at_once_and_then_slowly_more() -> None:
    async def work() -> None:
        gate = Gate(10)
        gate.slow_down(None)
        gate.slow_down(None)  # of the same burst
        assert gate.limit == 7
        for _ in range(7):
            gate.worked()
        assert 7.8 < gate.limit < 8.1  # about one more for a round of answers
        for _ in range(100):
            gate.worked()
        assert gate.limit == 10
        gate.slow_down(2.0)
        assert 1.9 < gate.pause() <= 2.0

    run(work)


def test_a_stop_wakes_everybody_who_waits() -> None:
    async def work() -> None:
        control = Control(1)
        control.gate.slow_down(1000.0)

        async def attempt() -> None:
            async with control.attempt():
                raise AssertionError("nothing starts after a stop")

        waiting = [asyncio.create_task(attempt()), asyncio.create_task(control.sleep(1000.0))]
        await asyncio.sleep(0.01)
        control.stop(StopRun("enough"))
        control.stop(StopRun("the first reason stays"))
        for ended in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(ended, StopRun)
            assert str(ended) == "enough"
        assert control.sent == 0

    run(work)


@pytest.mark.parametrize(("ever", "kind", "calls"), [
    (False, "bad_key", 1), (True, "bad_key", 1), (True, "no_credit", 1),
    (False, "not_found", 1), (True, "not_found", IN_A_ROW_LATER),
    (False, "busy", 1), (False, "connection", 1), (True, "connection", IN_A_ROW_LATER),
    (False, "bad_request", IN_A_ROW), (True, "bad_request", IN_A_ROW_LATER),
])  # fmt: skip
def test_the_breaker_stops_after_so_many_calls(ever: bool, kind: str, calls: int) -> None:
    control = Control(1)
    breaker = Breaker(control, "m", "http://h/v1")
    if ever:
        breaker.worked()
    for number in range(1, calls + 1):
        assert not control.stopped.is_set(), number
        breaker.failed(Fault(kind, "so it is"))
    assert control.stopped.is_set()
    assert "so it is" in str(control.reason)


def test_an_answer_between_failures_keeps_the_run_going() -> None:
    control = Control(1)
    breaker = Breaker(control, "m", "http://h/v1")
    for _ in range(50):
        breaker.worked()
        for _ in range(IN_A_ROW_LATER - 1):
            breaker.failed(Fault("bad_request", "no"))
    assert not control.stopped.is_set()


@pytest.mark.parametrize(("number", "advice"), [
    (errno.ENOSPC, "; make room there, then go on"),
    (errno.EFBIG, "; make room there, then go on"),
    (errno.EMFILE, "; lower --concurrency, or raise the limit (ulimit -n), then go on"),
    (errno.EACCES, ""),
])  # fmt: skip
def test_a_failed_write_is_told_with_what_helps(number: int, advice: str) -> None:
    said = disk_message(OSError(number, "It Failed"), Path("out"))
    assert said == "cannot write to out: it failed" + advice


def test_before_the_first_answer_a_time_out_is_tried_once_more_only() -> None:
    patience, late = Patience(), Fault("timeout", "late")
    assert [patience.over(late, n, ever=False) for n in (1, 2)] == [False, True]
    assert [patience.over(late, n, ever=True) for n in (3, 4)] == [False, True]
    limited = Fault("rate_limited", "slowly")
    assert [patience.over(limited, n, ever=False) for n in (12, 13)] == [False, True]


def test_the_watcher_is_told_the_numbers_also_while_every_attempt_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watch(Watcher):
        failed = 0

        def moved(self, tally: Tally) -> None:
            if not tally.calls_done:
                self.failed = max(self.failed, tally.control.failed)

    watch, data = Watch(), small("c-1")
    monkeypatch.setattr(endpoint_loop, "BEAT_SECONDS", 0.05)
    patience = Patience(first_wait=0.5)  # at least 0.25 s
    with serve(answers_of(data), ["503,first=1"]) as server:
        play(server, data, tmp_path, concurrency=1, patience=patience, watcher=watch, caps=Caps(calls=2))
    assert watch.failed == 1
