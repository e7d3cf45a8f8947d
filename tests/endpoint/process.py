"""The server as a process of its own, so that what a client costs can be told from what the server costs."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class EndpointProcess:
    """A running server."""

    url: str
    """Base URL for clients."""
    pid: int

    def facts(self) -> dict[str, Any]:
        """What it counted so far, as `Server.facts` has it."""
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/facts", timeout=PATIENCE) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@contextmanager
def endpoint_process(*options: str | int | Path) -> Iterator[EndpointProcess]:
    """Starts `python -m tests.endpoint OPTIONS`, and stops it by its process id.

    It also ends by itself when this process does.
    """
    command = [sys.executable, "-m", "tests.endpoint", "--until-stdin-closes", *map(str, options)]
    with tempfile.TemporaryFile() as complaints:  # a pipe that nobody empties would fill up and stop it
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
        )
        try:
            yield EndpointProcess(_first_line(process, complaints), process.pid)
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGTERM)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate(timeout=10)


def _first_line(process: subprocess.Popen[bytes], complaints: IO[bytes]) -> str:
    """The URL; RuntimeError with what the process complains of where none comes."""
    assert process.stdout is not None
    until = time.monotonic() + PATIENCE
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, until - time.monotonic())):
                raise RuntimeError(f"the endpoint gave no URL within {PATIENCE:.0f} s")
            if not (piece := os.read(process.stdout.fileno(), 1)):
                process.communicate(timeout=10)
                complaints.seek(0)
                complaint = complaints.read()
                raise RuntimeError(f"the endpoint did not start: {complaint.decode(errors='replace')}")
            line += piece
    return line.decode().strip()
