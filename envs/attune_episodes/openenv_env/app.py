"""`attune_app`: the environment as an ASGI application, for `serve`, uvicorn or a container."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import JSONResponse
from openenv.core.env_server import create_fastapi_app

from attune_data.errors import AttuneError, SettingsError, show
from attune_data.loading import Conversations
from attune_episodes.openenv_env.environment import AttuneEnvironment, Served
from attune_episodes.openenv_env.limits import Guard, Limits
from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation
from attune_episodes.settings import Settings
from attune_episodes.source import ConversationSource
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import read_reward

NAME: Final = "attune_env"
DROPPED: Final = ("/mcp",)
"""Routes of OpenEnv that are not served: there are no tools, and a session made there would never end."""


def attune_app(
    data: str | Path | Conversations | ConversationSource = "sample",
    *,
    settings: Settings | None = None,
    reward: RewardSpec | str = "composite",
    limits: Limits | None = None,
    allowed_hosts: Iterable[str] = (),
    **selection: Any,
) -> Guard:
    """An ASGI application that serves conversations as OpenEnv episodes, one session a WebSocket.

    OpenEnv's web interface is left out, whatever ENABLE_WEB_INTERFACE says.

    Args:
        data: as `ConversationSource` takes it, or one that is made already.
        settings: how the requests are asked; the default protocol if None.
        reward: a preset, a .json or .py file with a reward (Python is executed), or a RewardSpec.
        limits: of size, sessions and time.
        allowed_hosts: names that clients may ask for, such as a proxy's, beside loopback and the address at
            which a connection comes in; other names are refused.
        selection: further arguments of `ConversationSource`: `level`, `world_seed`, `number`, `split`,
            `where`, `provenance`, `sampling` ("sequential" if not given), `weights`, `shard`, and
            `training=True`, which refuses benchmark records.

    Raises what `ConversationSource` and `read_reward` raise; all of it here, none of it while serving.
    """
    if isinstance(data, ConversationSource):
        if selection:
            raise SettingsError(f"{', '.join(selection)}: give them to the ConversationSource")
        source = data
    else:
        source = ConversationSource(data, **{"sampling": "sequential"} | selection)
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"settings are a Settings(…), got {type(settings).__name__}")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits are Limits(…), got {type(limits).__name__}")
    if isinstance(allowed_hosts, str):
        raise TypeError(f"allowed_hosts is one text, {show(allowed_hosts)}; expected a list of names")
    if not isinstance(reward, (RewardSpec, str)):
        raise TypeError(f"reward is {show(reward)}; expected a name, a file or a RewardSpec")
    spec = reward if isinstance(reward, RewardSpec) else read_reward(reward)
    limits = limits or Limits()
    served = Served(source, settings or Settings(), spec)
    app = create_fastapi_app(
        partial(AttuneEnvironment, served),
        AttuneAction,
        AttuneObservation,
        max_concurrent_envs=limits.sessions,
        env_name=NAME,
    )
    app.router.routes[:] = [one for one in app.router.routes if getattr(one, "path", "") not in DROPPED]
    app.add_exception_handler(AttuneError, _told)
    return Guard(app, limits, allowed_hosts=allowed_hosts)


async def _told(request: Request, error: Exception) -> JSONResponse:
    """An error of ours over HTTP: a client's mistake with its text, rather than an internal error."""
    return JSONResponse({"detail": str(error)}, status_code=400)
