"""What the soak asserts of every input (no exception, no hang, no blow-up), and how it uses all cores."""

from __future__ import annotations

import os
import signal
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Final, TypeVar

SHARE: Final = float(os.environ.get("SOAK_SHARE", "1"))
"""Of the inputs: SOAK_SHARE=0.01 make soak is a trial."""
MS_PER_100_KB: Final = 50.0
HANG_S: Final = 60
LARGE: Final = 50_000
"""Bytes from which on memory is measured of every input; below, of one in 500."""
Found = TypeVar("Found")


@dataclass(frozen=True)
class Limits:
    """What one kind of input may take."""

    ratio: float
    """Peak of memory, in sizes of the input."""
    floor: int
    """Bytes that any input may take."""
    ms: float
    """Milliseconds that any input may take; beyond, 50 for each 100 kB."""
    base: int = 0
    """Bytes on top of what the size allows."""


class Failure(AssertionError):
    """An input that broke something; says how to get it again."""


@dataclass
class Tally:
    """What was seen so far."""

    inputs: int = 0
    large: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    """Milliseconds per 100 kB, of large inputs."""
    longest: float = 0.0
    """Milliseconds of a small input."""
    ratio: float = 0.0
    """Peak of memory by size, of large inputs."""
    peak: int = 0
    """Bytes, of small inputs."""
    worst: dict[str, str] = field(default_factory=dict)
    """Which input each of the records is of."""

    def add(self, other: Tally) -> None:
        """Takes in what another process saw."""
        self.inputs += other.inputs
        self.large += other.large
        self.outcomes.update(other.outcomes)
        for name in ("slowest", "longest", "ratio", "peak"):
            if getattr(other, name) > getattr(self, name):
                setattr(self, name, getattr(other, name))
                self.worst[name] = other.worst[name]

    def record(self, name: str, value: float, where: str) -> None:
        """Keeps the largest value of a kind, and where it was seen."""
        if value > getattr(self, name):
            setattr(self, name, value)
            self.worst[name] = where

    def __str__(self) -> str:
        refused = ", ".join(f"{name} {n / self.inputs:.2%}" for name, n in self.outcomes.most_common())
        return (
            f"{self.inputs} inputs, {self.large} of them large; {refused}; large ones took at most "
            f"{self.slowest:.1f} ms per 100 kB and {self.ratio:.2f} times their size in memory; small ones "
            f"{self.longest:.1f} ms and {self.peak / 1e6:.2f} MB; {self.worst}"
        )


def watched(
    action: Callable[[], Found],
    size: int,
    tally: Tally,
    where: str,
    limits: Limits,
    *,
    sample: bool,
) -> Found:
    """What the action gives; raises Failure where it takes too long or too much memory.

    Time is that of the processor, the best of four: what other processes take is no fault of the input.
    """
    begun = time.process_time()
    found = action()
    took = (time.process_time() - begun) * 1e3
    large = size >= LARGE
    tally.inputs += 1
    tally.large += large
    allowed = max(limits.ms, MS_PER_100_KB * size / 1e5)
    speed = took / (size / 1e5) if large else took
    if took > allowed or speed > (tally.slowest if large else tally.longest):
        for _ in range(3):
            begun = time.process_time()
            action()
            took = min(took, (time.process_time() - begun) * 1e3)
        if took > allowed:
            raise Failure(f"{where}: {took:.1f} ms for {size} bytes")
        tally.record("slowest" if large else "longest", took / (size / 1e5) if large else took, where)
    if large or sample:
        found = action()  # caches are filled, then not counted
        tracemalloc.start()
        try:
            found = action()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if peak > max(limits.floor, limits.base + limits.ratio * size):
            raise Failure(f"{where}: a peak of {peak} bytes for {size} bytes")
        if large:
            tally.record("ratio", peak / size, where)
        else:
            tally.record("peak", peak, where)
    return found


def _hanging(signum: int, frame: Any) -> None:
    raise TimeoutError(f"more than {HANG_S} s")


def each(start: int, stop: int, step: Callable[[int, Tally], None], describe: Callable[[int], str]) -> Tally:
    """Runs the step for each index; any exception becomes a Failure that names seed and index."""
    signal.signal(signal.SIGALRM, _hanging)
    tally = Tally()
    try:
        for index in range(start, stop):
            signal.alarm(HANG_S)
            try:
                step(index, tally)
            except Exception as error:
                raise Failure(f"{describe(index)}: {type(error).__name__}: {str(error)[:2000]}") from error
    finally:
        signal.alarm(0)
    return tally


def spread(work: Callable[[int, int], Tally], inputs: int, chunk: int, what: str) -> Tally:
    """All inputs over the cores, with a line of progress on standard error now and then."""
    total, begun, said = Tally(), time.monotonic(), time.monotonic()
    # no more processes than chunks; spawned, so that nothing of this one is in them
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        chunks = [pool.submit(work, at, min(at + chunk, inputs)) for at in range(0, inputs, chunk)]
        try:
            for done in as_completed(chunks):
                total.add(done.result())
                if time.monotonic() - said > 30:
                    said = time.monotonic()
                    print(
                        f"{what}: {total.inputs} of {inputs}, {said - begun:.0f} s",
                        file=sys.stderr,
                        flush=True,
                    )
        except BaseException:
            for future in chunks:
                future.cancel()
            raise
    print(f"{what}: {time.monotonic() - begun:.0f} s, {total}", file=sys.stderr, flush=True)
    return total
