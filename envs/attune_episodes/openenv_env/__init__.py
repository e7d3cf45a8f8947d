"""The conversations as an OpenEnv environment: a server, and a typed client. Needs the extra `openenv`.

Nothing here loads before it is used: OpenEnv takes seconds to import.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from attune_data.extras import MissingExtraError, install_line
from attune_data.lazy import lazy_names
from attune_episodes.openenv_env.limits import Limits

if TYPE_CHECKING:
    from attune_episodes.openenv_env.app import attune_app
    from attune_episodes.openenv_env.client import AttuneClient
    from attune_episodes.openenv_env.environment import AttuneEnvironment, Served
    from attune_episodes.openenv_env.models import AttuneAction, AttuneObservation, AttuneState, ChatMessage
    from attune_episodes.openenv_env.server import serve

_HOME = {
    "AttuneAction": ".models",
    "AttuneClient": ".client",
    "AttuneEnvironment": ".environment",
    "AttuneObservation": ".models",
    "AttuneState": ".models",
    "ChatMessage": ".models",
    "Served": ".environment",
    "attune_app": ".app",
    "serve": ".server",
}
"""Name -> the module that it comes from."""

__all__ = [
    "AttuneAction",
    "AttuneClient",
    "AttuneEnvironment",
    "AttuneObservation",
    "AttuneState",
    "ChatMessage",
    "Limits",
    "MissingExtraError",
    "Served",
    "attune_app",
    "serve",
]

INSTALL = install_line("openenv")

_load, __dir__ = lazy_names(__name__, _HOME)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("openenv", "fastapi", "uvicorn"):
            raise
        raise MissingExtraError(_advice(error)) from error


def _advice(error: ImportError) -> str:
    try:
        version("openenv-core")
    except PackageNotFoundError:
        return f"OpenEnv is not installed ({error}): {INSTALL}"
    return (
        f"openenv-core is installed, which has the import name of OpenEnv and is another version ({error}): "
        f"pip uninstall openenv-core, then {INSTALL} --force-reinstall"
    )
