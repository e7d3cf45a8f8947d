"""`serve`: runs the application until a signal ends it, and then ends cleanly."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import uvicorn

from attune_data.errors import SettingsError
from attune_episodes.openenv_env.limits import Guard

HARD_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a message above which a connection is closed (or the limit, if that is more); below, told so."""
GRACE: Final = 5
"""Seconds that open connections have to end."""


def serve(
    app: Guard,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serves until SIGTERM, and then returns; or until Ctrl-C, and then raises KeyboardInterrupt.

    Open sessions are closed with code 1012 (the server goes away).

    Args:
        app: of `attune_app`.
        host: an address or name of this machine. There is no login: others than loopback belong behind a
            proxy that has one.
        port: 0 takes a free one.
        on_ready: called with the URL once clients are answered.

    Raises SettingsError where the address cannot be had.
    """
    if not 0 <= port < 2**16:
        raise SettingsError(f"cannot serve on {host} port {port}: a port is 0 to 65535, 0 takes a free one")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # a name that cannot be encoded is a TypeError below
        listening = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"cannot serve on {host} port {port}: {error}; choose another, or port 0 for a free one"
        ) from error
    name = f"[{host}]" if family is socket.AF_INET6 else host
    url = f"http://{name}:{listening.getsockname()[1]}"
    config = uvicorn.Config(
        app.bound_to(host),
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws_max_size=max(HARD_LIMIT, app.limits.message_bytes),
        timeout_graceful_shutdown=GRACE,
    )
    server = _Server(config, lambda: on_ready and on_ready(url))
    with listening:
        server.run(sockets=[listening])
    if server.interrupted:
        raise KeyboardInterrupt


class _Server(uvicorn.Server):
    """uvicorn's server, which remembers the signal that ended it rather than raise it again."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self.interrupted = False
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.interrupted = self.interrupted or sig == signal.SIGINT
        self.force_exit = self.should_exit  # the second one does not wait for connections
        self.should_exit = True
