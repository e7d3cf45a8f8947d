"""Pause the garbage collector where it costs much and finds nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pause it: importing a client or reading many files creates many objects but hardly any cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def settled() -> Iterator[None]:
    """Exempt the existing objects, such as the conversations and all modules, from collection.

    Otherwise it would scan them again and again and delay all calls (a tenth of the CPU time).
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
