"""The limit on open files: every request in flight has a connection, and systems start low (256, 1024)."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

BESIDE: Final = 128
"""Files besides the connections: the journal, results that are being written, what Python itself has open."""


def allow_connections(number: int) -> None:
    """Raises this process's own limit, as far as the system lets it, so that so many connections fit."""
    try:
        import resource
    except ImportError:  # not on this system, which then has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + BESIDE if hard == resource.RLIM_INFINITY else min(number + BESIDE, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
