"""The state that the calls of a run share: places, waits, the breaker."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_env.running import loop as endpoint_loop
from attune_env.running.control import IN_A_ROW, IN_A_ROW_LATER, Breaker, Control, StopRun
from attune_env.running.loop import Watcher, disk_message
from attune_env.running.settings import Options, Patience
from attune_env.running.tally import Tally
from attune_episodes.chat.completion import Usage
from attune_episodes.chat.faults import Fault
from tests import PATIENCE
from tests.running.playing import met, small


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE))


SLOWLY = Fault("rate_limited", "slowly")


@given(most=st.integers(1, 9), calls=st.integers(0, 40), refusals=st.sets(st.integers(0, 39)))
def test_never_more_run_at_once_than_the_limit_and_no_place_is_lost(
    most: int, calls: int, refusals: set[int]
) -> None:
    async def work() -> None:
        control, done = Control(Options(most)), []

        async def one(number: int) -> None:
            async with control.attempt():
                assert control.running <= most
                await asyncio.sleep(0)
                if number in refusals:
                    control.fault(SLOWLY)
                else:
                    control.worked(Usage())
            done.append(number)

        tasks = [asyncio.create_task(one(number)) for number in range(calls)]
        for task in tasks[::7]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert control.running == 0
        assert len(done) == control.sent == calls - len(tasks[::7])

    run(work())


def test_too_many_requests_means_fewer_at_once_and_then_slowly_more() -> None:
    async def work() -> None:
        control = Control(Options(10))
        control.fault(SLOWLY)
        control.fault(SLOWLY)  # of the same burst
        assert control.limit == 7
        for _ in range(7):
            control.worked(Usage())
        assert 7.8 < control.limit < 8.1  # about one more for a round of answers
        for _ in range(100):
            control.worked(Usage())
        assert control.limit == 10
        control.fault(Fault("rate_limited", "slowly", retry_after=2.0))
        assert 1.9 < control.pause() <= 2.0

    run(work())


def test_a_stop_wakes_everybody_who_waits() -> None:
    async def work() -> None:
        control = Control(Options(1))
        control.fault(Fault("rate_limited", "slowly", retry_after=1000.0))

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

    run(work())


@pytest.mark.parametrize(("ever", "kind", "calls"), [
    (False, "bad_key", 1), (True, "bad_key", 1), (True, "no_credit", 1),
    (False, "not_found", 1), (True, "not_found", IN_A_ROW_LATER),
    (False, "busy", 1), (False, "connection", 1), (True, "connection", IN_A_ROW_LATER),
    (False, "bad_request", IN_A_ROW), (True, "bad_request", IN_A_ROW_LATER),
])  # fmt: skip
def test_the_breaker_stops_after_so_many_calls_in_a_row(ever: bool, kind: str, calls: int) -> None:
    control = Control(Options(1))
    breaker = Breaker(control, "m", "http://h/v1")
    if ever:
        breaker.worked()
        for _ in range(50 * (calls - 1)):  # an answer between failures keeps the run going
            if breaker.in_a_row == calls - 1:
                breaker.worked()
            breaker.failed(Fault(kind, "no"))
        breaker.worked()
    for number in range(1, calls + 1):
        assert not control.stopped.is_set(), number
        breaker.failed(Fault(kind, "so it is"))
    assert "so it is" in str(control.reason)


@pytest.mark.parametrize(("number", "advice"), [
    (errno.ENOSPC, "; free some space there, then continue"),
    (errno.EFBIG, "; free some space there, then continue"),
    (errno.EMFILE, "; lower --concurrency, or raise the limit (ulimit -n), then continue"),
    (errno.EACCES, ""),
])  # fmt: skip
def test_a_failed_write_is_told_with_what_helps(number: int, advice: str) -> None:
    said = disk_message(OSError(number, "It Failed"), Path("out"))
    assert said == "cannot write to out: it failed" + advice


@pytest.mark.parametrize(("kind", "ever", "last"), [
    ("timeout", False, 2), ("timeout", True, 4), ("connection", False, 3), ("rate_limited", False, 13),
    ("busy", True, 7), ("bad_request", True, 1),
])  # fmt: skip
def test_a_call_is_given_up_after_its_last_attempt(kind: str, ever: bool, last: int) -> None:
    over = [Patience().over(Fault(kind, "late"), attempt, ever=ever) for attempt in (last - 1, last)]
    assert over == [last == 1, True]


def test_the_watcher_is_told_the_numbers_also_while_every_attempt_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watch(Watcher):
        failed = 0

        def moved(self, tally: Tally) -> None:
            if not tally.calls_done:
                self.failed = max(self.failed, tally.control.failed)

    watch = Watch()
    monkeypatch.setattr(endpoint_loop, "BEAT_SECONDS", 0.05)
    patience = Patience(first_wait=0.5)  # at least 0.25 s
    met(tmp_path, small("c-1"), "503,first=1", concurrency=1, patience=patience, watcher=watch, calls=2)
    assert watch.failed == 1
