"""attune-env for verifiers (Prime Intellect): `vf-eval attune-env -m MODEL`, prime-rl, the Environments Hub.

`attune_env` exports the taskset, the harness and the environment, so that the id `attune-env` finds them.
Importing verifiers takes seconds; nothing here loads before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.verifiers_env.config import (
        AttuneEnvConfig,
        AttuneHarnessConfig,
        AttuneTaskConfig,
        AttuneTasksetConfig,
        DraftJudgeConfig,
    )
    from attune_episodes.verifiers_env.judge import DraftJudge
    from attune_episodes.verifiers_env.logs import rollouts_from
    from attune_episodes.verifiers_env.run import AttuneEnv, AttuneHarness, IncompleteEpisodeError
    from attune_episodes.verifiers_env.tasks import AttuneData, AttuneTask, AttuneTaskset

_NAMES = {
    ".config": ["AttuneEnvConfig", "AttuneHarnessConfig", "AttuneTaskConfig", "AttuneTasksetConfig",
                "DraftJudgeConfig"],
    ".judge": ["DraftJudge"],
    ".logs": ["rollouts_from"],
    ".run": ["AttuneEnv", "AttuneHarness", "IncompleteEpisodeError"],
    ".tasks": ["AttuneData", "AttuneTask", "AttuneTaskset"],
}  # fmt: skip
_HOME = {name: home for home, names in _NAMES.items() for name in names}
"""Name -> the module that it comes from."""

__all__ = [
    "AttuneData",
    "AttuneEnv",
    "AttuneEnvConfig",
    "AttuneHarness",
    "AttuneHarnessConfig",
    "AttuneTask",
    "AttuneTaskConfig",
    "AttuneTaskset",
    "AttuneTasksetConfig",
    "DraftJudge",
    "DraftJudgeConfig",
    "IncompleteEpisodeError",
    "rollouts_from",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
