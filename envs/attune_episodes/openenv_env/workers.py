"""Serve with several processes that share a socket and one order of conversations."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import connection
from types import FrameType
from typing import Final

from attune_data.errors import AttuneError, SettingsError

STARTING: Final = 120.0
"""Seconds within which every worker answers."""
ENDED: Final = "a worker ended by itself, so the others are stopped; its errors stand above"


class WorkerError(AttuneError):
    """A worker ended unexpectedly."""


class Positions(Iterator[int]):
    """0, 1, 2, …, each once, whichever process asks."""

    def __init__(self) -> None:
        self._value = _forking().Value("q", 0)

    def __next__(self) -> int:
        with self._value.get_lock():
            position: int = self._value.value
            self._value.value += 1
        return position


def _forking() -> multiprocessing.context.ForkContext:
    if "fork" not in multiprocessing.get_all_start_methods():
        raise SettingsError("several workers need a system that can fork (Linux, macOS); use one worker")
    return multiprocessing.get_context("fork")


def run_workers(
    run: Callable[[Callable[[], object]], None], number: int, ready: Callable[[], object]
) -> None:
    """Run `run` in several processes until SIGTERM, and then return; or until Ctrl-C, and raise it.

    Args:
        run: serves until a signal ends it, and calls its argument once it answers.
        number: processes.
        ready: called once all of them answer.

    Raises WorkerError, with the other workers stopped, when one ends unexpectedly or does not start.
    """
    context = _forking()
    heard, said = context.Pipe(duplex=False)

    def work() -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # until the server handles it
        with suppress(KeyboardInterrupt):
            run(lambda: said.send_bytes(b"started"))

    processes = [context.Process(target=work) for _ in range(number)]
    before = signal.signal(signal.SIGTERM, _end)
    try:
        for process in processes:
            process.start()
        ends = [process.sentinel for process in processes]
        for _ in processes:
            first = connection.wait([heard, *ends], STARTING)
            if not first:
                raise WorkerError(f"a worker did not start within {STARTING:g} seconds")
            if heard not in first:
                raise WorkerError(ENDED)
            heard.recv_bytes()
        ready()
        connection.wait(ends)
        raise WorkerError(ENDED)
    except _Ended:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


class _Ended(BaseException):
    """SIGTERM came."""


def _end(number: int, frame: FrameType | None) -> None:
    raise _Ended
