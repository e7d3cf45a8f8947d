"""The conversations as an Inspect task: `inspect eval attune_env/attune`. Needs the extra `inspect`.

Task, solver and scorer are in `attune_env.inspect_task`, because Inspect takes the first part of a name from
the package that defines it. Nothing here loads Inspect before it is needed.
"""

from attune_episodes.frameworks.inspect.logs import rollouts_from

__all__ = ["rollouts_from"]
