"""Serve a study: until a signal, or in a thread for as long as a block runs."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from attune_data.errors import AttuneError, SettingsError
from attune_data.extras import needs_extra
from attune_env.study.app import make_app
from attune_env.study.events import Store
from attune_env.study.folder import Study

with needs_extra("study", "starlette", "uvicorn"):
    import uvicorn

GRACE: Final = 5
"""Seconds that requests in progress have when the server ends."""


class _Server(uvicorn.Server):
    """A server that says when it takes connections."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], object]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to take connections."""
        await super().startup(sockets)
        self._started()


def bound(host: str, port: int) -> socket.socket:
    """A socket on an address; port 0 picks a free one. Raises SettingsError if it is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"cannot serve on {host} port {port}: {error}; choose another --port") from error


def _server(study: Study, store: Store, hosts: Sequence[str], started: Callable[[], object]) -> _Server:
    # without an access log: the addresses hold the participants' links
    config = uvicorn.Config(
        make_app(study, store, hosts),
        http="h11",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
    )
    return _Server(config, started)


def serve(
    study: Study, store: Store, taken: socket.socket, hosts: Sequence[str], told: Callable[[], object]
) -> None:
    """Serve until SIGTERM, or Ctrl-C, which raises KeyboardInterrupt; `told` is called once it is ready."""
    # uvicorn raises the signal that ended it again
    signal.signal(signal.SIGTERM, lambda *_: None)
    server = _server(study, store, hosts, told)
    server.run(sockets=[taken])
    if not server.started:
        raise AttuneError("the server did not start; its errors are above")


@contextmanager
def serving(study: Study, store: Store) -> Iterator[str]:
    """Serve on a free port of this machine, in a thread, during the block; yields the address."""
    taken = bound("127.0.0.1", 0)
    ready = threading.Event()
    server = _server(study, store, (), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    try:
        while not ready.wait(0.1):
            if not thread.is_alive():
                raise AttuneError("the server did not start; its errors are above")
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(GRACE + 5)
        taken.close()
