"""The loop of a run: as many calls in flight as allowed, until none is left or the run stops.

The requests of a conversation share a growing prefix, which servers cache; they are therefore sent one after
another, with many conversations at once. When there is no new conversation to start, the calls of those in
progress run in parallel.
"""

from __future__ import annotations

import asyncio
import errno
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, one_line
from attune_env.results.files import Names, TooLargeError, write_result
from attune_env.running.asker import Call
from attune_env.running.control import StopRun
from attune_env.running.jobs import Job
from attune_env.running.journal import Finished, Journal
from attune_env.running.settings import Options
from attune_env.running.tally import Tally
from attune_env.running.troubles import trouble_of
from attune_episodes.chat.faults import Fault

BEAT_SECONDS: Final = 1.0
"""Seconds between updates of the watcher, even while no call ends."""
TERM_SECONDS: Final = 5.0
"""Seconds that calls in flight have after SIGTERM; after Ctrl-C, they have unlimited time."""
_NO_ROOM: Final = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_TOO_MANY_FILES: Final = {errno.EMFILE, errno.ENFILE}


class Interrupted(StopRun):
    """The run was interrupted by Ctrl-C or SIGTERM."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code  # of the process


class Unwritten(StopRun):
    """An answer or a result could not be written; calls in flight may be lost."""


class Watcher:
    """Receives the progress of a run; this base class shows nothing."""

    def moved(self, tally: Tally) -> None:
        """Called after each call and once a second, so that failed attempts are shown too."""

    def finished(self, job: Job, tally: Tally) -> None:
        """Called after each conversation that is complete or skipped (then `job.failed` says why)."""

    def said(self, message: str) -> None:
        """Receives a message for the user."""


class Loop:
    """Makes the calls of a run's jobs and writes each result as soon as it is complete."""

    def __init__(
        self,
        jobs: Sequence[Job],
        journal: Journal,
        tally: Tally,
        options: Options,
        folder: Path,
        watcher: Watcher,
    ) -> None:
        self.coming = iter(jobs)
        self.active: list[Job] = []
        """Jobs with calls waiting or in flight, or with a result to be written."""
        self.journal, self.tally, self.control = journal, tally, tally.control
        self.options, self.folder, self.watcher = options, folder, watcher
        self.complete: list[Names] = []
        """(conversationId, em_model, mode) of the results written."""
        self.failed: list[dict[str, Any]] = []
        """Entries of the list of skipped conversations."""
        self._workers: list[asyncio.Task[None]] = []
        self._landed = asyncio.Event()
        self._starting = asyncio.Lock()
        self._signalled = False

    async def go(self) -> None:
        """Run until every job has ended or, after the run was stopped, no call is in flight.

        Raises any error that is neither a fault of a call nor a failure to write, since it is a bug.
        """
        loop = asyncio.get_running_loop()
        handled = self._handle_signals(loop)
        beat = asyncio.create_task(self._beat())
        self._workers = [asyncio.create_task(self._work()) for _ in range(self.options.concurrency)]
        try:
            ended = await asyncio.gather(*self._workers, return_exceptions=True)
            await self.journal.settle()
        finally:
            beat.cancel()
            for number in handled:
                loop.remove_signal_handler(number)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def _beat(self) -> None:
        while True:
            self.watcher.moved(self.tally)
            await asyncio.sleep(BEAT_SECONDS)

    async def _work(self) -> None:
        """Make one call after another; each answer is written while the next call is made."""
        writing: asyncio.Task[None] | None = None
        try:
            while (found := await self._next()) is not None:
                job, call = found
                answered = await self._ask(job, call) if call is not None else None
                if writing is not None:
                    await asyncio.shield(writing)
                writing = asyncio.create_task(self._keep(job, call, answered))
        except OSError as error:
            self.control.stop(Unwritten(disk_message(error, self.folder)))
        except Exception:
            self.control.stop(StopRun("an error in the program"))
            raise
        finally:
            self._wake()
            try:
                if writing is not None:
                    await writing
            except OSError as error:
                self.control.stop(Unwritten(disk_message(error, self.folder)))

    async def _next(self) -> tuple[Job, Call | None] | None:
        """The next call, counted as in flight, or None if none is left; a job without calls is complete."""
        while not self.control.stopped.is_set():
            if not any(job.waiting and not job.flying for job in self.active):
                async with self._starting:
                    # making a conversation's prompts takes longer than sending one: let other calls go first
                    await asyncio.sleep(0)
                    started = self._start()
                if started is not None and not started.waiting:
                    return started, None
            crowded = [job for job in self.active if job.waiting]
            if crowded:
                job = min(crowded, key=lambda job: job.flying)
                job.flying += 1
                return job, job.waiting.popleft()
            if not self.active:
                return None
            await self._landed.wait()
        return None

    def _start(self) -> Job | None:
        """Start the next conversation that can be read, if there is one."""
        for job in self.coming:
            try:
                job.start(self.journal)
            except DataError as error:  # it could be read when the data was checked
                job.failed = ("conversation", str(error))
                self._conclude(job)
                continue
            self.tally.planned[job.group] = job.planned
            self.tally.calls_kept += job.kept
            self.active.append(job)
            return job
        return None

    def _wake(self) -> None:
        self._landed.set()
        self._landed = asyncio.Event()

    async def _ask(self, job: Job, call: Call) -> Finished | None:
        """Get the answer; None if the call is given up or left to the next run."""
        try:
            return await call.asker.ask(call)
        except Fault as fault:
            job.fail(call, str(fault))
        except StopRun:
            pass
        return None

    async def _keep(self, job: Job, call: Call | None, answered: Finished | None) -> None:
        """Write an answer to the journal and, after the last one, the result."""
        try:
            if call is not None and answered is not None:
                await self.journal.add(call.key, answered)
                name, plain = call.asker.model.full_name, call.request.plain
                why = trouble_of(answered, plain=plain, finish_ok=self.options.finish_ok)
                self.tally.finished(answered, name, why)
                job.take(call, answered, self.journal)
                self.watcher.moved(self.tally)
        finally:
            job.flying -= call is not None
            over = not job.flying and not job.waiting
            if over:
                self.active.remove(job)
            self._wake()
        if over and job.complete:
            try:
                await asyncio.to_thread(write_result, job.path, job.record())
            except TooLargeError as error:
                job.failed = ("result", str(error))
            else:
                await self.journal.made(job.group)
        if over and (job.failed or job.complete):
            self._conclude(job)

    def _conclude(self, job: Job) -> None:
        """Record that a job has ended, complete or not."""
        if job.failed:
            self.tally.conversations_failed += 1
            entry: dict[str, Any] = dict(zip(("conversationId", "em_model", "mode"), job.names, strict=True))
            entry["source_file"] = job.facts.get("source_file")
            entry["request"], entry["reason"] = job.failed
            self.failed.append({**entry, "command": self.options.command})
        else:
            self.tally.conversations_done += 1
            self.complete.append(job.names)
        self.watcher.finished(job, self.tally)
        job.close()

    # --- being told to stop -----------------------------------------------------------------------------

    def _handle_signals(self, loop: asyncio.AbstractEventLoop) -> list[int]:
        handled = []
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            # not in the main thread, or not on this system: then Ctrl-C is Python's own
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, partial(self._signal, code))
                handled.append(int(number))
        return handled

    def _signal(self, code: int) -> None:
        again, self._signalled = self._signalled, True
        self.control.stop(Interrupted("stopped", code))
        if again:
            self._drop()
            return
        flying = sum(job.flying for job in self.active)
        if code == 143:
            asyncio.get_running_loop().call_later(TERM_SECONDS, self._drop)
            self.watcher.said(f"stopping; calls in flight ({flying}) have {TERM_SECONDS:.0f} s to finish")
        else:
            self.watcher.said(f"stopping; waiting for calls in flight ({flying}), Ctrl-C again drops them")

    def _drop(self) -> None:
        for worker in self._workers:
            worker.cancel()


def disk_message(error: OSError, folder: Path) -> str:
    """The message for something that could not be written."""
    said = (error.strerror or str(error)).lower()
    if error.errno in _NO_ROOM:
        said += "; free some space there, then continue"
    elif error.errno in _TOO_MANY_FILES:
        said += "; lower --concurrency, or raise the limit (ulimit -n), then continue"
    place = error.filename if isinstance(error, IsADirectoryError) and error.filename else folder
    return one_line(f"cannot write to {place}: {said}", 300)
