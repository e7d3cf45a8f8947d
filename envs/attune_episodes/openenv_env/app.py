"""`attune_app`, the environment as an ASGI application, and `serve`, which runs it until a signal ends it."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastapi import Request
from fastapi.responses import JSONResponse
from openenv.core.env_server import create_fastapi_app

from attune_data.errors import AttuneError, SettingsError, show
from attune_data.loading import Conversations
from attune_episodes.live.source import LiveSource
from attune_episodes.openenv_env.environment import LiveEnvironment, RecordedEnvironment
from attune_episodes.openenv_env.guard import Guard, Limits
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation
from attune_episodes.openenv_env.workers import Positions, run_workers
from attune_episodes.settings import Settings
from attune_episodes.source import ConversationSource
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import read_reward

TOOLS: Final = "/mcp"
"""OpenEnv's routes for tools. There are no tools here, and a session created there would never end."""
HARD_LIMIT: Final = 16 * 1024 * 1024
"""Size of a message in bytes above which a connection is closed (or the limit, if that is larger)."""
GRACE: Final = 5
"""Seconds that open connections have to close."""


def attune_app(
    data: str | Path | Conversations | ConversationSource | LiveSource = "sample",
    *,
    settings: Settings | None = None,
    reward: RewardSpec | str = "composite",
    limits: Limits | None = None,
    allowed_hosts: Iterable[str] = (),
    **selection: Any,
) -> Guard:
    """Make an ASGI application that serves conversations as OpenEnv episodes, one session per WebSocket.

    OpenEnv's web interface is left out, regardless of ENABLE_WEB_INTERFACE.

    Args:
        data: as for `ConversationSource`, or an existing source; a `LiveSource` serves live conversations,
            which take no settings and no other reward.
        settings: how the requests are asked; the default protocol if None.
        reward: a preset, a .json or .py file with a reward (Python is executed), or a RewardSpec.
        limits: limits on size, sessions and time.
        allowed_hosts: names that clients may use, such as a proxy's, in addition to loopback and the address
            at which a connection arrives; other names are refused.
        selection: further arguments of `ConversationSource`; `sampling` is "sequential" by default.

    Raises the errors of `ConversationSource` and `read_reward`, always here and never while serving.
    """
    if isinstance(allowed_hosts, str):
        raise TypeError(f"allowed_hosts is one text, {show(allowed_hosts)}; expected a list of names")
    if isinstance(data, LiveSource):
        if selection or settings is not None or reward != "composite":
            raise SettingsError("live conversations accept no settings, reward or selection: leave them out")
        source, begin = data.order, partial(LiveEnvironment, data, threading.Lock())
    else:
        if not isinstance(data, ConversationSource):
            data = ConversationSource(data, **{"sampling": "sequential"} | selection)
        elif selection:
            raise SettingsError(f"{', '.join(selection)}: give them to the ConversationSource")
        spec = reward if isinstance(reward, RewardSpec) else read_reward(reward)
        source = data
        begin = partial(RecordedEnvironment, data, settings or Settings(), spec, threading.Lock())
    limits = limits or Limits()
    app = create_fastapi_app(
        begin,
        AttuneAction,
        AttuneObservation,
        max_concurrent_envs=limits.sessions,
        env_name="attune_env",
    )
    app.router.routes[:] = [one for one in app.router.routes if getattr(one, "path", "") != TOOLS]
    app.add_api_route(TOOLS, _no_tools, methods=["POST"])
    app.add_exception_handler(AttuneError, _bad_request)
    return Guard(app, limits, source, allowed_hosts=allowed_hosts)


async def _no_tools() -> JSONResponse:
    # OpenEnv's check of a running server expects an answer in JSON-RPC
    error = {"code": -32601, "message": "there are no tools: play over the WebSocket /ws"}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error})


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=400)


def serve(
    app: Guard,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM (then return) or until Ctrl-C (then raise KeyboardInterrupt).

    Open sessions are closed with code 1012 (the server goes away). The operating system assigns each
    connection to one of the `workers`, which are processes; they share one order of conversations, and each
    has its own limit on sessions.

    `host` is an address or name of this machine; there is no login, so an address other than loopback should
    be behind a proxy that has one. Port 0 chooses a free port. `on_ready` is called with the URL once the
    server answers.

    Raises SettingsError if the address is not available, and WorkerError when a worker ends unexpectedly.
    """
    if not 0 <= port < 2**16:
        raise SettingsError(f"cannot serve on {host} port {port}: expected 0 to 65535; 0 picks a free port")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # a name that cannot be encoded raises TypeError below
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

    def run(ready: Callable[[], object]) -> None:
        _Server(config, ready).run(sockets=[listening])

    def ready() -> None:
        if on_ready is not None:
            on_ready(url)

    with listening:
        if workers > 1:
            app.source.share_order(Positions())
            run_workers(run, workers, ready)
            return
        if threading.current_thread() is threading.main_thread():
            # uvicorn raises the signal that stopped it again at its end; SIGTERM must then have no effect
            signal.signal(signal.SIGTERM, lambda *_: None)
        run(ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
