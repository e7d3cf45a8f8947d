"""The conversations as a task of Inspect: `inspect eval attune_env/attune`. Needs the extra `inspect`.

What Inspect registers (task, solver, scorer) is in `attune_env.inspect_task`, because Inspect takes the
first part of a name from the package that defines it. Nothing here loads Inspect before it is used.
"""

from attune_episodes.inspect_env.logs import rollouts_from

__all__ = ["rollouts_from"]
