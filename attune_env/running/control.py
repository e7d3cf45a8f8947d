"""The state that all calls of a run share: how many run at once, pauses, caps, and the end of the run."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from attune_data.errors import one_line
from attune_env.running.answer import Usage
from attune_env.running.faults import Fault, StopRun
from attune_env.running.settings import Caps

SLOWED: Final = 0.7
"""A server that says "too many requests" gets this share of the requests at once."""
SLOW_AT_MOST_EVERY: Final = 1.0
"""Seconds: one burst of refusals is one sign, not many."""
IN_A_ROW: Final = 3
"""Calls that fail one after the other before any was answered: then nothing will work."""
IN_A_ROW_LATER: Final = 10
"""The same once the server has answered: it may have gone."""
BLANK_AT_FIRST: Final = 20
"""Answers that are empty or cut off, before any other one: then the run would only burn the list."""


class Gate:
    """Limits how many attempts run at once: fewer after "too many requests", slowly more again."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.running = 0
        self._free = asyncio.Condition()
        self._slowed = -SLOW_AT_MOST_EVERY
        self._not_before = 0.0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A place among the running attempts."""
        async with self._free:
            await self._free.wait_for(lambda: self.running < int(self.limit))
            self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            async with self._free:
                self._free.notify(self.most)

    def pause(self) -> float:
        """Seconds until attempts may start again; 0 or less: now."""
        return self._not_before - asyncio.get_running_loop().time()

    def slow_down(self, seconds: float | None) -> None:
        """After "too many requests": fewer at once, and none before `seconds` have passed."""
        now = asyncio.get_running_loop().time()
        self._not_before = max(self._not_before, now + (seconds or 0.0))
        if now - self._slowed >= SLOW_AT_MOST_EVERY:
            self._slowed = now
            self.limit = max(1.0, self.limit * SLOWED)

    def worked(self) -> None:
        """After an answer: one more at once for each round of answers."""
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)


class Control:
    """The gate, the caps and the end of a run."""

    def __init__(self, concurrency: int, caps: Caps | None = None) -> None:
        self.gate = Gate(concurrency)
        self.caps = caps or Caps()
        self.sent = 0
        self.answered = 0
        self.faults: Counter[str] = Counter()
        """Kind of fault -> how many attempts ended so."""
        self.spent = 0.0
        """Dollars, as far as known."""
        self.stopped = asyncio.Event()
        self.reason: StopRun | None = None

    @property
    def failed(self) -> int:
        """Attempts that came to nothing."""
        return self.faults.total()

    def stop(self, reason: StopRun) -> None:
        """Ends the run: no further attempt starts. The first reason stays."""
        self.reason = self.reason or reason
        self.stopped.set()

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """The place and the leave for one attempt; raises StopRun where there is none any more."""
        while True:
            while (wait := self.gate.pause()) > 0:
                await self.sleep(wait)
            async with self.gate.one():
                if self.gate.pause() > 0:
                    continue  # the server asked for a pause while this one waited for its place
                self._check()
                self.sent += 1
                yield
                return

    def _check(self) -> None:
        if self.caps.calls is not None and self.sent >= self.caps.calls:
            self.stop(StopRun(f"stopped at --max-calls {self.caps.calls}"))
        if self.caps.cost is not None and self.answered:
            # what is under way will cost about what the answered ones did
            expected = self.spent * (1 + (self.gate.running - 1) / self.answered)
            if expected >= self.caps.cost:
                self.stop(StopRun(f"stopped at --max-cost {self.caps.cost:g}: ${self.spent:.4f} spent"))
        if self.reason is not None:
            raise StopRun(str(self.reason))

    def worked(self, usage: Usage) -> None:
        """Notes an answered attempt."""
        self.answered += 1
        self.spent += usage.cost or 0.0
        if usage.cost is None and self.caps.cost is not None:
            advice = "the server tells no costs; give --price-in and --price-out"
            self.stop(StopRun(f"--max-cost cannot be kept: {advice}"))
        self.gate.worked()

    def fault(self, fault: Fault) -> None:
        """Notes a failed attempt."""
        self.faults[fault.kind] += 1
        if fault.kind == "rate_limited":
            self.gate.slow_down(fault.retry_after)

    async def sleep(self, seconds: float) -> None:
        """Waits before another attempt; raises StopRun as soon as the run ends."""
        try:
            await asyncio.wait_for(self.stopped.wait(), seconds)
        except TimeoutError:
            return
        raise StopRun(str(self.reason))


class Breaker:
    """Stops the run when every call at one model fails, instead of trying all the rest."""

    def __init__(self, control: Control, model: str, base_url: str) -> None:
        self.control = control
        self.where = f"model {one_line(model, 100)} at {base_url}"
        self.ever = False
        """Whether the server has ever answered with something."""
        self.in_a_row = 0
        """Calls that failed since the last answer."""
        self._blank: Counter[str] | None = Counter()
        """How the first answers that were to be JSON ended; None once they need no counting."""

    def worked(self) -> None:
        """Notes an answer."""
        self.ever = True
        self.in_a_row = 0

    def read(self, ended: str) -> None:
        """Notes an answer that was to be JSON: `empty`, `cut off`, or "" for anything else.

        Stops the run where none of the first ones holds anything: all others would be paid for as well.
        """
        if self._blank is None or not ended:
            self._blank = None
            return
        self._blank[ended] += 1
        if self._blank.total() >= BLANK_AT_FIRST:
            how = ", ".join(f"{number} {end}" for end, number in sorted(self._blank.items()))
            said = f"none of the first {BLANK_AT_FIRST} answers that were to be JSON could be read ({how})"
            self.control.stop(StopRun(f"{said}: {self.where}; is --max-tokens too small?"))

    def failed(self, fault: Fault) -> bool:
        """Notes a call that is given up; stops the run where no other would do better.

        True where that is the server's doing: the call is not to be skipped, the next run makes it.
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
