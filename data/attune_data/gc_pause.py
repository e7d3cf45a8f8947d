"""Pauses the cycle collector where it costs much and finds nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pauses it: importing a client or reading many files makes many objects and hardly any cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def settled() -> Iterator[None]:
    """Makes it skip the existing objects, the conversations and all modules.

    It would visit them again and
    again, delaying all calls (a tenth of the CPU time).
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
