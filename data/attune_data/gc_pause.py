"""The cycle collector, kept out of the way where it costs much and finds nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pauses it: importing a client or reading many files makes many objects and hardly a cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def settled() -> Iterator[None]:
    """Spares it what is there already, the conversations and all modules.

    It would walk through them again and again, and every walk holds all calls up (a tenth of the CPU time).
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
