"""Inspect: `inspect eval attune_env/attune -T name=value`; extra `inspect`.

A conversation becomes a sample, a request of its plan a call of Inspect's model, and the replies the sample's
score; `rollouts_from` turns logs back into rollouts. Prompts, parsing and scoring stay ours.

Task, solver and scorer are declared in `attune_env.inspect_task`, because Inspect takes the first part of a
name from the package that defines it. Only `run` imports Inspect when it is imported.
"""

from typing import Final

from attune_episodes.frameworks.inspect.logs import rollouts_from

__all__ = ["rollouts_from"]
TESTED: Final = ("0.3.258", "0.3.286")
"""The range of tested versions of Inspect; the upper end is excluded."""
