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
"""Seconds within which every worker must be ready."""
ENDED: Final = "a worker ended unexpectedly, so the others are stopped; its errors are above"


class WorkerError(AttuneError):
    """A worker ended unexpectedly."""


class Positions(Iterator[int]):
    """Count 0, 1, 2, …, each number once across all processes."""

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
    """Run `run` in several processes until SIGTERM (then return) or Ctrl-C (then raise KeyboardInterrupt).

    Args:
        run: serves until a signal stops it, and calls its argument once it is ready.
        number: the number of processes.
        ready: called once all of them are ready.

    Raises WorkerError, after stopping the other workers, if one ends unexpectedly or does not start.
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
