"""The loop of a run: as many calls under way as may be, until none is left or the run is to stop."""

from __future__ import annotations

import asyncio
import errno
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from attune_data.errors import DataError, one_line
from attune_env.results.files import TooLargeError, write_result
from attune_env.running.endpoint.faults import Fault, StopRun
from attune_env.running.endpoint.job import Job, Step
from attune_env.running.endpoint.journal import Journal
from attune_env.running.endpoint.schedule import Schedule
from attune_env.running.endpoint.tally import Tally

BEAT_SECONDS: Final = 1.0
"""So often the watcher is told the numbers, also while no call comes to its end."""
TERM_SECONDS: Final = 5.0
"""What calls in flight get to finish after SIGTERM; after Ctrl-C they get all they need."""


_NO_ROOM: Final = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_TOO_MANY_FILES: Final = {errno.EMFILE, errno.ENFILE}


class Interrupted(StopRun):
    """The run was told to stop, by Ctrl-C or SIGTERM."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
        """Exit code."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the parts."""
        return type(self), (super().__str__(), self.code)


class Unwritten(StopRun):
    """An answer or a result could not be written: what was in flight may be lost."""


class Watcher(Protocol):
    """Is told how a run goes."""

    def started(self, tally: Tally) -> None:
        """Before the first call."""

    def moved(self, tally: Tally) -> None:
        """After each call, and once a second: attempts that fail show too."""

    def finished(self, job: Job, tally: Tally) -> None:
        """After each conversation that is complete, or skipped (then `job.failed` says why)."""

    def said(self, message: str) -> None:
        """Something that a person should know."""


class Silent:
    """A watcher that shows nothing."""

    def started(self, tally: Tally) -> None:
        """Nothing."""

    def moved(self, tally: Tally) -> None:
        """Nothing."""

    def finished(self, job: Job, tally: Tally) -> None:
        """Nothing."""

    def said(self, message: str) -> None:
        """Nothing."""


class Loop:
    """Makes the calls of a run's jobs and writes a result as soon as one is complete."""

    def __init__(
        self,
        jobs: Sequence[Job],
        journal: Journal,
        tally: Tally,
        concurrency: int,
        output: Path,
        watcher: Watcher,
        conclude: Callable[[Job, Tally], None],
    ) -> None:
        self.journal, self.tally, self.control = journal, tally, tally.control
        self.concurrency, self.output = concurrency, output
        self.watcher, self.conclude = watcher, conclude
        self.schedule = Schedule(
            jobs,
            self._start,
            lambda step: step.question.schema is not None and step.asker.structured.known is None,
        )
        self.tasks: set[asyncio.Task[None]] = set()
        self._asking = 0
        """Calls that are asked right now; those that are only being written down do not count."""
        self._unasked: list[Job] = []
        """Jobs without a call that replace results: not before it is known that the others get answers."""
        self._moved = asyncio.Event()
        self._bug: BaseException | None = None
        self._told = False
        """Whether Ctrl-C or SIGTERM has come."""

    async def go(self) -> None:
        """Returns when every job is over, or none of its calls is under way after the run was stopped.

        Raises what is no fault of a call and no failure to write: a mistake in the program.
        """
        loop = asyncio.get_running_loop()
        handled = self._handle_signals(loop)
        self.watcher.started(self.tally)
        self._beat(loop)
        try:
            while True:
                self._moved.clear()
                await self._fill()
                if not self.tasks:
                    if not self._unasked or self.control.stopped.is_set():
                        break
                    self._begin(self._finish(self._unasked.pop()))
                await self._moved.wait()
            await self.journal.settle()
        finally:
            self._next_beat.cancel()
            for number in handled:
                loop.remove_signal_handler(number)
        if self._bug is not None:
            raise self._bug

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self.watcher.moved(self.tally)
        self._next_beat = loop.call_later(BEAT_SECONDS, self._beat, loop)

    def _start(self, job: Job) -> None:
        try:
            job.hold()
        except DataError as error:  # it was there when the data was checked
            job.failed = ("conversation", str(error))
            return
        self.tally.count(job.group, job.planned)
        job.start(self.journal, schema_first=not self.tasks)
        self.tally.kept(job.kept)

    async def _fill(self) -> None:
        """Starts calls as long as there is room and something to ask."""
        while not self.control.stopped.is_set() and self._room():
            found = self.schedule.next()
            if found is None:
                return
            job, step = found
            if job.failed:
                self.conclude(job, self.tally)
                continue
            if step is None and job.anew:
                self._unasked.append(job)
                continue
            self._asking += step is not None
            self._begin(self._finish(job) if step is None else self._call(job, step))
            # making a conversation's prompts takes longer than sending one: let this call go out first
            await asyncio.sleep(0)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._landed)

    def _room(self) -> bool:
        """Whether another call may be asked; a disk that cannot keep up holds calls back too."""
        return self._asking < self.concurrency and len(self.tasks) < 2 * self.concurrency

    def _landed(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, OSError):
                self.control.stop(Unwritten(disk_message(error, self.output)))
            else:
                self._bug = self._bug or error
                self.control.stop(StopRun("an error in the program"))
        self._moved.set()

    async def _call(self, job: Job, step: Step) -> None:
        try:
            try:
                call = await step.asker.ask(step.question)
            finally:
                # the next call need not wait until this one is on the disk
                self._asking -= 1
                self._moved.set()
            await self.journal.add(step.key, call)
            self.tally.finished(call)
            job.take(step, call, self.journal)
        except Fault as fault:
            job.fail(step, str(fault))
        except StopRun:
            return  # the next run makes this call
        finally:
            self.schedule.landed(job)
            if job.failed and not job.flying:
                self.conclude(job, self.tally)
        self.watcher.moved(self.tally)
        if job.complete:
            await self._finish(job)

    async def _finish(self, job: Job) -> None:
        """Writes the result; the wait for the disk is not the other calls' wait."""
        try:
            await asyncio.to_thread(write_result, job.path, job.record())
        except TooLargeError as error:
            job.failed = ("result", str(error))
        else:
            await self.journal.made(job.group)
        self.conclude(job, self.tally)

    # --- being told to stop -----------------------------------------------------------------------------

    def _handle_signals(self, loop: asyncio.AbstractEventLoop) -> list[int]:
        handled = []
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            # not in the main thread, or not on this system: then Ctrl-C is Python's own
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, partial(self._told_to_stop, code))
                handled.append(int(number))
        return handled

    def _told_to_stop(self, code: int) -> None:
        again, self._told = self._told, True
        self.control.stop(Interrupted("stopped", code))
        if again:
            self._drop()
            return
        flying = len(self.tasks)
        if code == 143:
            asyncio.get_running_loop().call_later(TERM_SECONDS, self._drop)
            self.watcher.said(f"stopping; calls in flight ({flying}) have {TERM_SECONDS:.0f} s to finish")
        else:
            self.watcher.said(f"stopping; waiting for calls in flight ({flying}), Ctrl-C again drops them")

    def _drop(self) -> None:
        for task in self.tasks:
            task.cancel()


def disk_message(error: OSError, folder: Path) -> str:
    """What a person reads when something could not be written."""
    said = (error.strerror or str(error)).lower()
    if error.errno in _NO_ROOM:
        advice = "; make room there, then go on"
    elif error.errno in _TOO_MANY_FILES:
        advice = "; lower --concurrency, or raise the limit (ulimit -n), then go on"
    else:
        advice = ""
    place = error.filename if isinstance(error, IsADirectoryError) and error.filename else folder
    return one_line(f"cannot write to {place}: {said}{advice}", 300)
