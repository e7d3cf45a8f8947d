"""The conversations as an OpenEnv environment: a server, and a typed client. Needs the extra `openenv`.

Nothing here loads before it is used: OpenEnv takes seconds to import.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from attune_data.extras import MissingExtraError, install_line, needs_extra, warn_if_untested
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

TESTED: Final = ("0.4.1", "0.11")
"""The tests were run with OpenEnv 0.4.1 and 0.10, the ends of this range; the second is not in it."""

_load, __dir__ = lazy_names(__name__, _HOME)


def __getattr__(name: str) -> Any:
    try:
        with needs_extra("openenv", "openenv", "fastapi", "uvicorn"):
            loaded = _load(name)
    except MissingExtraError as error:
        if not _is_core():
            raise
        raise MissingExtraError(
            "openenv-core is installed, which has the import name of OpenEnv and is another version "
            f"({error.__cause__}): pip uninstall openenv-core, then {install_line('openenv')} "
            "--force-reinstall"
        ) from error
    warn_if_untested("openenv", *TESTED)
    return loaded


def _is_core() -> bool:
    try:
        version("openenv-core")
    except PackageNotFoundError:
        return False
    return True
