"""The id `attune-live` of verifiers: played people to talk with; extra `verifiers`.

verifiers finds an environment by the name of a package, so this one holds nothing but the names of what is in
`attune_episodes.frameworks.verifiers.live`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attune_data.extras import needs_extra
from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.frameworks.verifiers.live import LiveEnv, LiveHarness, LiveTaskset

__all__ = ["LiveEnv", "LiveHarness", "LiveTaskset"]

_load, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "attune_episodes.frameworks.verifiers.live"))


def __getattr__(name: str) -> Any:
    with needs_extra("verifiers", "verifiers", "openai"):
        return _load(name)
