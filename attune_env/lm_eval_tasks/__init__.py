"""AttuneBench for lm-evaluation-harness: `lm_eval --tasks attunebench`. Needs the extra `harness`.

The folder holds the task files; `attune paths lm-eval` prints it, for `lm_eval --include_path`. Nothing here
loads before it is used, and `rollouts_from` reads logged samples without lm-eval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attune_data.extras import needs_extra
from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_env.lm_eval_tasks.logs import rollouts_from
    from attune_env.lm_eval_tasks.run import AttuneTask

_HOME = {"AttuneTask": ".run", "rollouts_from": ".logs"}
"""Name -> the module that it comes from."""

__all__ = ["AttuneTask", "rollouts_from"]

_load, __dir__ = lazy_names(__name__, _HOME)


def __getattr__(name: str) -> Any:
    with needs_extra("harness", "lm_eval"):
        return _load(name)
