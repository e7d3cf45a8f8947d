"""lm-eval in this process, against a server of this process, and our own numbers to compare with."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from attune_data import Conversations
from attune_env.cli.paths import PLACES
from attune_env.results import read_results, save_results, score_results
from attune_episodes import Rollout
from tests.data.builders import Json
from tests.endpoint import Server

FOLDER = PLACES["lm-eval"][0]
CLOSE = 1e-9


@cache
def _index() -> TaskManager:
    return manager()


def manager(**metadata: Any) -> TaskManager:
    """The tasks of the folder; without lm-eval's own, which take seconds to list."""
    return TaskManager(include_path=str(FOLDER), include_defaults=False, metadata=metadata)


def evaluate(server: Server, *tasks: str, metadata: Json | None = None, **options: Any) -> Json:
    """What `lm_eval` computes: results, groups, samples, configs."""
    found: Json = simple_evaluate(
        model="local-chat-completions",
        model_args={
            "model": "lab/m",
            "base_url": f"{server.url}/chat/completions",
            "num_concurrent": 8,
            "max_retries": 1,
        },
        tasks=list(tasks),
        task_manager=manager(**metadata) if metadata else _index(),
        **({"apply_chat_template": True} | options),
    )
    return found


def scored(folder: Path, conversations: Conversations) -> Json:
    """The one aggregate that `attune score` makes of a folder of result files."""
    results, problems, warnings = read_results(folder, conversations)
    assert not problems
    assert not warnings
    found: Json
    (found,) = score_results(results, conversations, ground_truth="memory")["aggregates"]
    return found


def scored_again(rollouts: list[Rollout], folder: Path, conversations: Conversations) -> Json:
    """The same of rollouts that are saved first."""
    save_results(rollouts, folder)
    return scored(folder, conversations)
