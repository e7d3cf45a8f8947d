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
from multiprocessing import get_context
from typing import Any, Final, TypeVar

SHARE: Final = float(os.environ.get("SOAK_SHARE", "1"))
"""Of the inputs: SOAK_SHARE=0.01 make soak is a trial."""
MS_PER_100_KB: Final = 50.0
HANG_S: Final = 60
LARGE: Final = 50_000
"""Bytes from which on memory is measured of every input; below, of those in the sample."""
Found = TypeVar("Found")


class Failure(AssertionError):
    """An input that broke something; says how to get it again."""


def watched(
    action: Callable[[], Found], size: int, ratio: float, *, sample: bool, floor: float = 1e6, ms: float = 20
) -> Found:
    """What the action returns; raises Failure where it takes too much of the processor or of memory.

    `ratio` is the peak of memory allowed, in sizes of the input; `floor` bytes and `ms` milliseconds
    are always allowed. Time counts as the best of four.
    """
    allowed, took = max(ms, MS_PER_100_KB * size / 1e5), float("inf")
    for _ in range(4):
        begun = time.process_time()
        found = action()
        took = min(took, (time.process_time() - begun) * 1e3)
        if took <= allowed:
            break
    else:
        raise Failure(f"{took:.1f} ms for {size} bytes")
    if size >= LARGE or sample:
        tracemalloc.start()
        try:
            action()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if peak > max(floor, ratio * size):
            raise Failure(f"a peak of {peak} bytes for {size} bytes")
    return found


def _hanging(signum: int, frame: Any) -> None:
    raise TimeoutError(f"more than {HANG_S} s")


def each(start: int, stop: int, check: Callable[[int], str], describe: Callable[[int], str]) -> Counter[str]:
    """Counts the outcomes of the check of each index; any exception becomes a Failure that names it."""
    signal.signal(signal.SIGALRM, _hanging)
    outcomes: Counter[str] = Counter()
    try:
        for index in range(start, stop):
            signal.alarm(HANG_S)
            try:
                outcomes[check(index)] += 1
            except Exception as error:
                raise Failure(f"{describe(index)}: {type(error).__name__}: {str(error)[:2000]}") from error
    finally:
        signal.alarm(0)
    return outcomes


def spread(work: Callable[[int, int], Counter[str]], inputs: int, chunk: int) -> Counter[str]:
    """The outcomes of all inputs over the cores, with a line of progress on standard error now and then."""
    total: Counter[str] = Counter()
    # spawned, so that nothing of this process is in them
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        chunks = [pool.submit(work, at, min(at + chunk, inputs)) for at in range(0, inputs, chunk)]
        for number, done in enumerate(as_completed(chunks)):
            total.update(done.result())
            if number % 50 == 0:
                print(f"{total.total()} of {inputs}", file=sys.stderr, flush=True)
    return total
