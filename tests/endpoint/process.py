"""The server as a process of its own, so that what a client costs can be told from what the server costs."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class EndpointProcess:
    """A running server."""

    url: str
    """Base URL for clients."""

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
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
            url = process.stdout.readline().decode().strip() if ready else ""
            if not url:
                complaints.seek(0)
                raise RuntimeError(f"no URL: {complaints.read().decode(errors='replace')}")
            yield EndpointProcess(url)
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGTERM)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate(timeout=10)
