"""Servers on free ports, and clients that say whatever they want."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from attune_episodes.frameworks.openenv import attune_app
from tests import PATIENCE
from tests.command import ATTUNE

Json = dict[str, Any]


@contextmanager
def command(*options: str) -> Iterator[subprocess.Popen[str]]:
    """`attune serve openenv` on a free port; the first line it prints is its URL."""
    process = subprocess.Popen(
        [str(ATTUNE), "serve", "openenv", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


@contextmanager
def served(data: Any = "sample", **arguments: Any) -> Iterator[str]:
    """The application on a free port, in a thread of this process: its URL."""
    app = attune_app(data, **arguments)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + PATIENCE
        while not server.started:
            assert time.monotonic() < until
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


class Wire:
    """A session that sends raw messages."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, message: object) -> None:
        """Sends text and bytes as they are, anything else as JSON."""
        raw = message if isinstance(message, (str, bytes)) else json.dumps(message)
        self.connection.send(raw)

    def text(self) -> str:
        """The next message as it came."""
        raw = self.connection.recv(timeout=PATIENCE)
        assert isinstance(raw, str)
        return raw

    def ask(self, message: object) -> Json:
        """Sends, and reads the one answer."""
        self.send(message)
        answer: Json = json.loads(self.text())
        return answer

    def error(self, message: object) -> str:
        """The text of the error that a message is answered with."""
        answer = self.ask(message)
        assert answer["type"] == "error", answer
        told = answer["data"]
        assert set(told) >= {"message", "code"}
        return f"{told['code']}: {told['message']}"

    def reset(self, **arguments: Any) -> Json:
        """Begins an episode; the observation message."""
        return self.ask({"type": "reset", "data": arguments})

    def step(self, reply: object) -> Json:
        """Answers the request; the observation message."""
        return self.ask({"type": "step", "data": {"message": reply}})

    def works(self) -> bool:
        """Whether a whole exchange still goes well."""
        first = self.reset(index=0)["data"]["observation"]
        return bool(first["stage"] == "draft") and bool(
            self.step("x")["data"]["observation"]["answered"] == 1
        )


@contextmanager
def wire(url: str) -> Iterator[Wire]:
    """A session with a server."""
    place = f"ws{url.removeprefix('http')}/ws"
    with connect(place, max_size=None, open_timeout=PATIENCE, proxy=None) as connection:
        yield Wire(connection)


@contextmanager
def seated(url: str) -> Iterator[Wire]:
    """A session with a server that is about to have a place again."""
    until = time.monotonic() + PATIENCE
    while True:
        with wire(url) as session:
            refused = True
            with suppress(ConnectionClosed):  # a full server closes, before the question or after it
                refused = session.ask({"type": "state"})["type"] != "state"
            if not refused:
                yield session
                return
        assert time.monotonic() < until
        time.sleep(0.02)


__all__ = ["PATIENCE", "Wire", "command", "seated", "served", "wire"]
