"""The shared state of all calls of a run: concurrency, pauses, caps, and stopping."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from attune_data.errors import AttuneError, one_line
from attune_env.running.settings import Options
from attune_env.running.troubles import BLANK
from attune_episodes.chat.completion import Usage
from attune_episodes.chat.faults import Fault

SLOWED: Final = 0.7
"""Factor by which concurrency is reduced after "too many requests"."""
SLOW_AT_MOST_EVERY: Final = 1.0
"""Seconds within which several refusals count as one."""
IN_A_ROW: Final = 3
"""Number of consecutive failed calls, before any was answered, after which the run stops."""
IN_A_ROW_LATER: Final = 10
"""The same once the server has answered, since it may have become unreachable."""
BLANK_AT_FIRST: Final = 20
"""Number of empty or truncated answers, before any other, after which the run stops."""


class StopRun(AttuneError):
    """The run cannot continue; what is complete is kept."""


class Control:
    """Controls the concurrency, the caps and the end of a run.

    After "too many requests", concurrency drops and then slowly rises again.
    """

    def __init__(self, options: Options) -> None:
        self.most = options.concurrency
        self.limit = float(self.most)
        """The current number of concurrent attempts, at most `most`."""
        self.running = 0
        self.max_calls, self.max_cost = options.max_calls, options.max_cost
        self.sent, self.answered, self.spent = options.used
        """Requests, answers, and dollars as far as known."""
        self.faults: Counter[str] = Counter()
        """Kind of fault -> number of attempts that ended with it."""
        self.stopped = asyncio.Event()
        self.reason: StopRun | None = None
        self._free = asyncio.Condition()
        self._slowed = -SLOW_AT_MOST_EVERY
        self._not_before = 0.0

    @property
    def failed(self) -> int:
        """Failed attempts."""
        return self.faults.total()

    def stop(self, reason: StopRun) -> None:
        """End the run: no further attempt starts. The first reason is kept."""
        self.reason = self.reason or reason
        self.stopped.set()

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """Wait for a free slot for one attempt; raises StopRun once the run has ended."""
        while True:
            while (wait := self.pause()) > 0:
                await self.sleep(wait)
            async with self._free:
                await self._free.wait_for(lambda: self.running < int(self.limit))
                self.running += 1
            try:
                if self.pause() > 0:
                    continue  # the server asked for a pause while this attempt waited for a slot
                self._check()
                self.sent += 1
                yield
                return
            finally:
                self.running -= 1
                async with self._free:
                    self._free.notify(self.most)

    def _check(self) -> None:
        if self.max_calls is not None and self.sent >= self.max_calls:
            self.stop(StopRun(f"stopped at --max-calls {self.max_calls}"))
        if self.max_cost is not None and self.answered:
            # calls in flight will cost about as much as the answered ones
            expected = self.spent * (1 + (self.running - 1) / self.answered)
            if expected >= self.max_cost:
                self.stop(StopRun(f"stopped at --max-cost {self.max_cost:g}: ${self.spent:.4f} spent"))
        if self.reason is not None:
            raise StopRun(str(self.reason))

    def worked(self, usage: Usage) -> None:
        """Record an answered attempt; each round of answers raises the concurrency by one."""
        self.answered += 1
        self.spent += usage.cost or 0.0
        if usage.cost is None and self.max_cost is not None:
            advice = (
                "the server does not report costs; give --price-in and --price-out"
                if usage.counted
                else "the server reports neither costs nor tokens; limit the run with --max-calls instead"
            )
            self.stop(StopRun(f"--max-cost cannot be enforced: {advice}"))
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)

    def fault(self, fault: Fault) -> None:
        """Record a failed attempt; "too many requests" lowers the concurrency and obeys Retry-After."""
        self.faults[fault.kind] += 1
        if fault.kind == "rate_limited":
            now = asyncio.get_running_loop().time()
            self._not_before = max(self._not_before, now + (fault.retry_after or 0.0))
            if now - self._slowed >= SLOW_AT_MOST_EVERY:
                self._slowed = now
                self.limit = max(1.0, self.limit * SLOWED)

    def pause(self) -> float:
        """Seconds until attempts may start again; 0 or less means now."""
        return self._not_before - asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Wait before another attempt; raises StopRun as soon as the run ends."""
        try:
            await asyncio.wait_for(self.stopped.wait(), seconds)
        except TimeoutError:
            return
        raise StopRun(str(self.reason))


class Breaker:
    """Stops the run when every call to a model fails, instead of trying all the others."""

    def __init__(self, control: Control, model: str, base_url: str) -> None:
        self.control = control
        self.where = f"model {one_line(model, 100)} at {base_url}"
        self.ever = False
        """Whether the server has ever given an answer."""
        self.in_a_row = 0
        """Number of calls that failed since the last answer."""
        self._blank: Counter[str] | None = Counter()
        """How the first answers that should be JSON ended; None once they need not be counted."""

    def worked(self) -> None:
        """Notes an answer."""
        self.ever = True
        self.in_a_row = 0

    def read(self, trouble: str) -> None:
        """Record the trouble with an answer that should be JSON; "" for none.

        Stops the run if all of the first answers are blank, since the others would cost money too.
        """
        if self._blank is None or trouble not in BLANK:
            self._blank = None
            return
        self._blank[trouble] += 1
        if self._blank.total() >= BLANK_AT_FIRST:
            how = ", ".join(f"{number} {end}" for end, number in sorted(self._blank.items()))
            said = f"none of the first {BLANK_AT_FIRST} answers expected as JSON could be read ({how})"
            self.control.stop(StopRun(f"{said}: {self.where}; {BLANK[self._blank.most_common(1)[0][0]]}"))

    def failed(self, fault: Fault) -> bool:
        """Record a call that is given up; stops the run if other calls would fail too.

        Returns True if the server is the cause: the call is then not skipped but left to the next run.
        """
        self.in_a_row += 1
        passing = self.ever and fault.kind in ("not_found", "redirect")
        hopeless = (fault.action == "stop" and not passing) or (fault.action == "retry" and not self.ever)
        if hopeless or self.in_a_row >= (IN_A_ROW_LATER if self.ever else IN_A_ROW):
            self.control.stop(StopRun(self._message(fault)))
        return hopeless

    def _message(self, fault: Fault) -> str:
        advice = fault.advice
        if fault.kind == "not_found" and fault.status == 404 and "no JSON" not in str(fault):
            advice = "check the model's name, and whether --base-url is the right one (most end in /v1)"
        many = f"{self.in_a_row} calls in a row failed at {self.where}; the last"
        return f"{many if self.in_a_row > 1 else self.where}: {fault}" + (f"; {advice}" if advice else "")
