# inspect-evals-lint: ignore-file[IECQ004] -- attune_data is part of this distribution
"""The tasks of Inspect, so that `inspect eval attune_env/attune` works where the extra `inspect` is.

They stand under `attune_env/` because Inspect takes the first part of a task's name from there, and in
`tasks.py` because the register of evals looks for them in that file; its linter wants them exported here.
"""

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_env.inspect_task.tasks import attune, attune_scores, walk_plan

__all__ = ["attune", "attune_scores", "walk_plan"]

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, ".tasks"))
