"""Seconds of a call, and ratios of two calls measured in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

Work = Callable[[], object]


def seconds(work: Work, repeat: int = 1, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call, over `repeat` calls."""
    started = clock()
    for _ in range(repeat):
        work()
    return (clock() - started) / repeat


def told(values: list[float], form: str = ".2f") -> str:
    """`median (min …, max …)`."""
    median = statistics.median(values)
    return f"{median:{form}} (min {min(values):{form}}, max {max(values):{form}})"


def ratio(
    name: str,
    top: Work,
    bottom: Work,
    aim: str = "-",
    *,
    repeat: int = 1,
    rounds: int = 15,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Prints the seconds of `top` over those of `bottom`, the median of rounds after one to warm up."""
    top(), bottom()
    pairs = [(seconds(top, repeat, clock), seconds(bottom, repeat, clock)) for _ in range(rounds)]
    a, b = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    print(f"{name}: {told([a / b for a, b in pairs])}; {a:.1f} µs / {b:.1f} µs; aim: {aim}")
