"""AttuneBench for verifiers: predict what people felt and wanted, scored by their own annotations.

    vf-eval attune-env -m MODEL

`AttuneTaskset` turns each conversation into a task (or each of its requests: `granularity`),
`AttuneHarness` asks a model the requests of an episode, and `AttuneEnv` plays and rewards it. They lie in
`attune_episodes/frameworks/verifiers`. The floors below lie in this folder too: `attune_data`
(conversations), `attune_rewards` (metrics) and `attune_episodes` (requests, parsing, scoring).
"""

from attune_episodes.frameworks.verifiers import AttuneEnv, AttuneHarness, AttuneTaskset

__all__ = ["AttuneEnv", "AttuneHarness", "AttuneTaskset"]
