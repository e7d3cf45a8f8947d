"""verifiers and prime-rl: `vf-eval attune-env --env.taskset.name value`; extra `verifiers`.

A conversation, or one request of it, becomes a task, a request a call of the rollout's endpoint, and the
replies the trace's rewards and metrics; `rollouts_from` turns traces back into rollouts, and `node_rewards`
says what each reply earned. Prompts, parsing and scoring stay ours.

In verifiers a task scores its own traces, so `tasks` has the scores as well, and `traces` what a trace
carries. `attune_env` exports the taskset, the harness and the environment, so that the id `attune-env` finds
them. Importing verifiers takes seconds, so everything here is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attune_data.extras import needs_extra
from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.frameworks.verifiers.arguments import AttuneTasksetConfig
    from attune_episodes.frameworks.verifiers.logs import node_rewards, rollouts_from
    from attune_episodes.frameworks.verifiers.run import AttuneEnv, AttuneHarness
    from attune_episodes.frameworks.verifiers.tasks import AttuneTaskset

__all__ = [
    "AttuneEnv",
    "AttuneHarness",
    "AttuneTaskset",
    "AttuneTasksetConfig",
    "node_rewards",
    "rollouts_from",
]

_load, __dir__ = lazy_names(
    __name__, dict(zip(__all__, (".run", ".run", ".tasks", ".arguments", ".logs", ".logs"), strict=True))
)


def __getattr__(name: str) -> Any:
    with needs_extra("verifiers", "verifiers", "openai"):
        return _load(name)
