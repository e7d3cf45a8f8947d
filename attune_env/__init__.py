"""attune-env: AttuneBench as a Gym-style environment and a reward library.

Each annotated conversation is an episode, each request asks for one prediction, and the return of the
episode is the benchmark's score. Importing the package imports Gymnasium and registers the environments
`Attune/Conversation-v0` and `Attune/Live-v0`; the public names load on first use. `AttuneEnv`,
`AttuneHarness` and `AttuneTaskset` are for verifiers, which takes seconds to import; where it is installed, a
star import loads them too.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register, registry

from attune_data.lazy import lazy_names
from attune_data.version import __version__

if TYPE_CHECKING:
    from attune_data import BenchmarkTrainingError, Conversation, Conversations, load
    from attune_data.format.codebook import Codebook
    from attune_data.selection import official_subset, select, split
    from attune_env import testing
    from attune_env.results import save_results
    from attune_episodes import (
        Episode,
        Policy,
        Request,
        Rollout,
        Settings,
        Step,
        Unparsed,
        builtin_policy,
        parse,
        plan,
        render,
        rollout,
        rollout_async,
        rollout_batch,
        score,
        score_row,
    )
    from attune_episodes.frameworks.verifiers import AttuneEnv, AttuneHarness, AttuneTaskset
    from attune_episodes.training import reward_functions, row_reward, training_dataset
    from attune_rewards import RewardSpec, Score

_NAMES = {
    "attune_data": "BenchmarkTrainingError Conversation Conversations load",
    "attune_data.format.codebook": "Codebook",
    "attune_data.selection": "official_subset select split",
    "attune_env": "testing",
    "attune_env.results": "save_results",
    "attune_episodes": "Episode Policy Request Rollout Settings Step Unparsed builtin_policy parse plan"
    " render rollout rollout_async rollout_batch score score_row",
    "attune_episodes.training": "reward_functions row_reward training_dataset",
    # verifiers looks for these under the id `attune-env`: exactly one of each in `__all__`
    "attune_episodes.frameworks.verifiers": "AttuneEnv AttuneHarness AttuneTaskset",
    "attune_rewards": "RewardSpec Score",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
"""Public name -> the module that defines it."""

__all__ = [
    "AttuneEnv",
    "AttuneHarness",
    "AttuneTaskset",
    "BenchmarkTrainingError",
    "Codebook",
    "Conversation",
    "Conversations",
    "Episode",
    "Policy",
    "Request",
    "RewardSpec",
    "Rollout",
    "Score",
    "Settings",
    "Step",
    "Unparsed",
    "__version__",
    "builtin_policy",
    "load",
    "official_subset",
    "parse",
    "plan",
    "render",
    "reward_functions",
    "rollout",
    "rollout_async",
    "rollout_batch",
    "row_reward",
    "save_results",
    "score",
    "score_row",
    "select",
    "split",
    "testing",
    "training_dataset",
]


if find_spec("verifiers") is None:  # a star import asks for every name
    for _name in _NAMES["attune_episodes.frameworks.verifiers"].split():
        __all__.remove(_name)

_load, __dir__ = lazy_names(__name__, _HOME)


def __getattr__(name: str) -> Any:
    return import_module("attune_env.testing") if name == "testing" else _load(name)


for _id, _class in (("Conversation", "gymnasium:ConversationEnv"), ("Live", "gymnasium.live:LiveEnv")):
    if f"Attune/{_id}-v0" not in registry:  # importing again (importlib.reload) changes nothing
        register(f"Attune/{_id}-v0", entry_point=f"attune_episodes.frameworks.{_class}")
