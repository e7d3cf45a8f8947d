"""`attune_app`, the environment as an ASGI application, and `serve`, which runs it until a signal ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import uvicorn
from fastapi import FastAPI, Request, WebSocketDisconnect
from fastapi.responses import JSONResponse
from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.types import ConcurrencyConfig
from starlette.datastructures import Headers
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attune_data.errors import AttuneError, SettingsError, show
from attune_data.source.order import Order
from attune_data.source.source import Data, Mixed
from attune_episodes.frameworks.openenv.env import AttuneEnvironment
from attune_episodes.frameworks.openenv.models import AttuneAction, AttuneObservation
from attune_episodes.protocol.settings import Settings
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.reward.spec_files import read_reward

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The hosts that clients may always use."""
MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""Largest message and largest HTTP body: more than any reply that is short enough to be read."""
GRACE: Final = 5
"""Seconds that open connections have to close."""
WORKER: Final = "ATTUNE_OPENENV_WORKER"
"""Environment variable with the arguments from which a worker makes its application, as JSON."""


def attune_app(
    data: Data | Mixed | Order = "sample",
    *,
    settings: Settings | None = None,
    reward: RewardSpec | str = "composite",
    sessions: int = 64,
    idle_seconds: float = 3_600,
    allowed_hosts: Iterable[str] = (),
    **selection: Any,
) -> FastAPI:
    """Make an ASGI application that serves conversations as OpenEnv episodes, one session per WebSocket.

    OpenEnv's web interface is left out, regardless of ENABLE_WEB_INTERFACE.

    Args:
        data: as for `Source`, or an existing order.
        settings: how the requests are asked; the default protocol if None.
        reward: a preset, a .json or .py file with a reward (Python is executed), or a RewardSpec.
        sessions: the most open sessions; a further one gets an error and is closed.
        idle_seconds: seconds without a message after which another session may take the place.
        allowed_hosts: names that clients may use in addition to loopback, such as a proxy's; "*" is any.
        selection: further arguments of `Order.of`; `sampling` is "sequential" by default.

    Raises the errors of `Order` and `read_reward`, always here and never while serving.
    """
    if isinstance(allowed_hosts, str):
        raise TypeError(f"allowed_hosts is one text, {show(allowed_hosts)}; expected a list of names")
    if not isinstance(data, Order):
        data = Order.of(data, **{"sampling": "sequential"} | selection)
    elif selection:
        raise SettingsError(f"{', '.join(selection)}: give them to the Order")
    spec = reward if isinstance(reward, RewardSpec) else read_reward(reward)
    app = create_fastapi_app(
        partial(AttuneEnvironment, data, settings or Settings(), spec, threading.Lock()),
        AttuneAction,
        AttuneObservation,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle_seconds),
        env_name="attune_env",
    )
    app.add_exception_handler(AttuneError, _bad_request)
    app.add_exception_handler(WebSocketDisconnect, _client_left)
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=MESSAGE_BYTES)
    app.add_middleware(SameOriginMiddleware)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, *allowed_hosts], www_redirect=False)
    return app


class SameOriginMiddleware:
    """Refuse requests and WebSockets of web pages from elsewhere with 403: a browser sends their `Origin`.

    Without it any page that a person has open could read the conversations from a server on loopback.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or connection."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            page = headers.get("origin", "").partition("://")[2]
            if "origin" in headers and page.lower() != headers.get("host", "").lower():
                refusal = PlainTextResponse("requests from web pages on other sites are refused", 403)
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=400)


async def _client_left(connection: Request, error: Exception) -> None:
    """OpenEnv also closes what the client has closed; nothing is wrong then."""


def serve(
    app: FastAPI | Mapping[str, Any], *, host: str = "127.0.0.1", port: int = 8000, workers: int = 1
) -> None:
    """Serve until SIGTERM (then return) or until Ctrl-C (then raise KeyboardInterrupt); prints the URL.

    Open sessions are closed with code 1012 (the server goes away).

    Args:
        app: an application; for several workers the arguments of `attune_app` as JSON values, because each
            makes its own.
        host: an address or name of this machine.
        port: 0 picks a free port.
        workers: the number of processes; the operating system gives each new connection to one of them.

    Raises SettingsError if the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family) as free:
            port = free.getsockname()[1]
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"cannot serve on {host} port {port}: {error}; choose another, or port 0 for a free one"
        ) from error
    if not isinstance(app, FastAPI):
        os.environ[WORKER] = json.dumps(app)
    threading.Thread(target=_announce, args=(host, port), daemon=True).start()
    # uvicorn does not tell which signal ended it, and raises SIGTERM again
    heard, told = socket.socketpair()
    with heard, told:
        heard.setblocking(False)
        told.setblocking(False)
        signal.set_wakeup_fd(told.fileno())
        signal.signal(signal.SIGTERM, lambda *_: None)
        uvicorn.run(
            app if isinstance(app, FastAPI) else f"{__name__}:worker_app",
            factory=not isinstance(app, FastAPI),
            host=host,
            port=port,
            workers=workers,
            log_level="error",
            access_log=False,
            server_header=False,
            ws_max_size=MESSAGE_BYTES,
            timeout_graceful_shutdown=GRACE,
        )
        signal.set_wakeup_fd(-1)
        try:
            signals = heard.recv(64)
        except BlockingIOError:
            raise AttuneError("the server ended by itself; its errors are above") from None
        if signal.SIGINT in signals:
            raise KeyboardInterrupt


def _announce(host: str, port: int) -> None:
    """Print the URL once the server takes connections."""
    while True:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            break
        time.sleep(0.05)
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)


def worker_app() -> FastAPI:
    """The application of one of several workers."""
    given = json.loads(os.environ[WORKER])
    return attune_app(**given | {"settings": Settings.from_json(given["settings"])})
