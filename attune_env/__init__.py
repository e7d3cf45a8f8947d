"""attune-env: AttuneBench as a Gym-style environment and a reward library.

Each annotated conversation is an episode, each step one prediction about it, and the return of the
episode is the benchmark's score. The public names load on first use, so that importing the package costs
next to nothing. Once Gymnasium is loaded, be it before or after this package, it knows the environments
`Attune/Conversation-v0` and `Attune/Features-v0`. `AttuneEnv`, `AttuneHarness` and `AttuneTaskset` are for
verifiers, whose import takes seconds; a star import brings them too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from attune_data.lazy import lazy_names
from attune_data.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from attune_data import BenchmarkTrainingError, Conversation, Conversations, load
    from attune_data.codebook import Codebook
    from attune_data.selection import official_subset, select, split
    from attune_data.simulate import Level, Simulation, simulate
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
        to_dataset,
    )
    from attune_episodes.trainers import reward_functions, row_reward, training_dataset
    from attune_episodes.verifiers_env import AttuneEnv, AttuneHarness, AttuneTaskset
    from attune_rewards import RewardSpec, Score

else:  # importing their module takes longer than importing this whole package
    MetaPathFinder, Loader = type("MetaPathFinder", (), {}), type("Loader", (), {})

_HOME = {
    **dict.fromkeys(["BenchmarkTrainingError", "Conversation", "Conversations", "load"], "attune_data"),
    "Codebook": "attune_data.codebook",
    **dict.fromkeys(["Level", "Simulation", "simulate"], "attune_data.simulate"),
    **dict.fromkeys(["official_subset", "select", "split"], "attune_data.selection"),
    **dict.fromkeys(["RewardSpec", "Score"], "attune_rewards"),
    **dict.fromkeys(
        [
            "Episode",
            "Policy",
            "Request",
            "Rollout",
            "Settings",
            "Step",
            "Unparsed",
            "builtin_policy",
            "parse",
            "plan",
            "render",
            "rollout",
            "rollout_async",
            "rollout_batch",
            "score",
            "score_row",
            "to_dataset",
        ],
        "attune_episodes",
    ),
    **dict.fromkeys(["reward_functions", "row_reward", "training_dataset"], "attune_episodes.trainers"),
    # what verifiers looks for under the id `attune-env`: exactly one of each in `__all__`
    **dict.fromkeys(["AttuneEnv", "AttuneHarness", "AttuneTaskset"], "attune_episodes.verifiers_env"),
    "save_results": "attune_env.results",
    "testing": "attune_env",
}
"""Public name -> the module that it comes from."""

__all__ = [
    "AttuneEnv",
    "AttuneHarness",
    "AttuneTaskset",
    "BenchmarkTrainingError",
    "Codebook",
    "Conversation",
    "Conversations",
    "Episode",
    "Level",
    "Policy",
    "Request",
    "RewardSpec",
    "Rollout",
    "Score",
    "Settings",
    "Simulation",
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
    "simulate",
    "split",
    "testing",
    "to_dataset",
    "training_dataset",
]


_load, __dir__ = lazy_names(__name__, _HOME)


def __getattr__(name: str) -> Any:
    return import_module("attune_env.testing") if name == "testing" else _load(name)


# --- Gymnasium ------------------------------------------------------------------------------------------
# `gymnasium.make("attune_env:Attune/Conversation-v0")` imports this package and expects it to register its
# environments; but importing this package must not import Gymnasium. So it registers when Gymnasium is there.


def _register_environments() -> None:
    register = import_module("attune_episodes.gymnasium_envs.registration").register_environments
    register()


class _AfterGymnasium(MetaPathFinder, Loader):
    """Finds `gymnasium` as the other finders do, and registers our environments once it is loaded."""

    _loader: Loader | None = None
    _looking = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium" or self._looking:
            return None
        from importlib.util import find_spec

        self._looking = True
        try:
            spec = find_spec(name)
        finally:
            self._looking = False
        if spec is None or spec.loader is None:
            return None
        self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        assert self._loader is not None
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        loader = self._loader
        assert loader is not None
        # the module shall not show that it was loaded through here
        module.__loader__ = loader
        if module.__spec__ is not None:
            module.__spec__.loader = loader
        loader.exec_module(module)
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        _register_environments()


if "gymnasium" in sys.modules:
    _register_environments()
elif not any(isinstance(finder, _AfterGymnasium) for finder in sys.meta_path):
    sys.meta_path.insert(0, _AfterGymnasium())
