"""attune-env: AttuneBench as a Gym-style environment and a reward library.

Each annotated conversation is an episode, each step one prediction about it, and the return of the
episode is the benchmark's score. The public names load on first use, so that importing the package costs
next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attune_data.version import __version__

if TYPE_CHECKING:
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
    from attune_rewards import RewardSpec, Score

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
    "save_results": "attune_env.results",
    "testing": "attune_env",
}
"""Public name -> the module that it comes from."""

__all__ = [
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
    "rollout",
    "rollout_async",
    "rollout_batch",
    "save_results",
    "score",
    "score_row",
    "select",
    "simulate",
    "split",
    "testing",
    "to_dataset",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "testing":
        return import_module("attune_env.testing")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
