"""The conversations as a task of Inspect: `inspect eval attune_env/attune`. Needs the extra `inspect`.

What Inspect registers (task, solver, scorer) stands in `attune_env.inspect_task`, because Inspect takes the
first part of a name from the package that defines it; what these do stands here. Nothing loads before it is
used: Inspect takes seconds to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.inspect_env.logs import rollouts_from

_HOME = {"rollouts_from": ".logs"}
"""Name -> the module that it comes from."""

__all__ = ["rollouts_from"]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
