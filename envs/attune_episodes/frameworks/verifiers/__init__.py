"""attune-env for verifiers (Prime Intellect): `vf-eval attune-env -m MODEL`, prime-rl, the Environments Hub.

`attune_env` exports the taskset, the harness and the environment, so that the id `attune-env` finds them.
Importing verifiers takes seconds, so everything here is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.frameworks.verifiers.config import AttuneTasksetConfig
    from attune_episodes.frameworks.verifiers.logs import rollouts_from
    from attune_episodes.frameworks.verifiers.run import AttuneEnv, AttuneHarness
    from attune_episodes.frameworks.verifiers.tasks import AttuneTaskset

__all__ = ["AttuneEnv", "AttuneHarness", "AttuneTaskset", "AttuneTasksetConfig", "rollouts_from"]

__getattr__, __dir__ = lazy_names(
    __name__, dict(zip(__all__, (".run", ".run", ".tasks", ".config", ".logs"), strict=True))
)
