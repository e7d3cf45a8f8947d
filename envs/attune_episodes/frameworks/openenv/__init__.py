"""OpenEnv: `attune serve`, or `attune_app(…)` behind any ASGI server; extra `openenv`.

A conversation becomes an episode, a request an observation, a reply an action, and its score the step's
reward; a client plays over a WebSocket. Prompts, parsing and scoring stay ours.

`env` is what the framework steps through, `models` the messages on the wire and the client, `app` the server.
Everything here is loaded on first use, because OpenEnv takes seconds to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from attune_data.extras import needs_extra, warn_if_untested
from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.frameworks.openenv.app import attune_app, serve
    from attune_episodes.frameworks.openenv.models import AttuneAction, AttuneClient, AttuneObservation

__all__ = ["AttuneAction", "AttuneClient", "AttuneObservation", "attune_app", "serve"]
TESTED: Final = ("0.4.1", "0.11")
"""The range of supported OpenEnv versions, the upper end excluded; tested with 0.4.1 and 0.10."""

_load, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["AttuneAction", "AttuneClient", "AttuneObservation"], ".models"),
        **dict.fromkeys(["attune_app", "serve"], ".app"),
    },
)


def __getattr__(name: str) -> Any:
    with needs_extra("openenv", "openenv", "fastapi", "uvicorn"):
        loaded = _load(name)
    warn_if_untested("openenv", *TESTED)
    return loaded
